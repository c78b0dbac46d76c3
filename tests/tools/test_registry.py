"""Tools found by name or kit, and called."""

import asyncio
import time
from collections.abc import Callable, Mapping

import pytest

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.errors import InvalidArguments, StorageError, ToolError, UnknownTool
from app.domain.messages import FilePart, TextPart, ToolCall
from app.domain.tool_settings import ToolSetting
from app.domain.tools import CallContext, ToolOutput
from app.engine.loop.granting import granted
from app.tools.function.arguments import InvalidTool
from app.tools.function.output import LONGEST_TEXT
from app.tools.function.tool import tool
from app.tools.mcp.hub import McpTool
from app.tools.registry import Registry
from tests.builtin_tools import builtin_registry
from tests.tools.context import Context


@tool()
def greet(name: str) -> str:
    """Greet."""
    return f"Hello {name}"


@tool()
def data_kit__sort() -> str:
    """Sort."""
    return "sorted"


@tool()
async def data_kit__count(context: CallContext) -> str:
    """Count."""
    for number in range(3):
        context.printed(f"{number}\n")
    return "counted"


class Large:
    """A source of a thousand tools of one kit."""

    title, revision = "Large", 1

    def __init__(self) -> None:
        specs = [greet.spec.model_copy(update={"name": f"large__tool_{n}", "kit": "large"}) for n in range(1000)]
        self._tools = {spec.name: McpTool(spec, None) for spec in specs}

    def tools(self) -> Mapping[str, McpTool]:
        return self._tools

    def hold(self) -> Callable[[], None]:
        return lambda: None

    async def close(self) -> None:
        """There is nothing to end."""


REGISTRY = Registry([greet, data_kit__sort, data_kit__count])


def call(name: str, malformed: str | None = None, **arguments: object) -> ToolCall:
    return ToolCall.model_validate({"call_id": "1", "name": name, "arguments": arguments, "malformed": malformed})


def names(*wanted: str) -> list[str]:
    return [spec.name for spec in REGISTRY.specs(wanted)]


def test_a_kit_stands_for_all_its_tools() -> None:
    assert names("data_kit") == ["data_kit__sort", "data_kit__count"]


def test_dashes_and_underscores_are_the_same() -> None:
    assert names("data-kit", "greet") == ["data_kit__sort", "data_kit__count", "greet"]
    assert names("data-kit__sort") == ["data_kit__sort"]


def test_a_tool_named_twice_is_there_once() -> None:
    assert names("data_kit__count", "greet", "data_kit") == ["data_kit__count", "greet", "data_kit__sort"]


def test_names_without_a_tool_are_left_out_and_told() -> None:
    assert names("greet", "nothing") == ["greet"]
    assert REGISTRY.missing(("greet", "data-kit", "nothing")) == ("nothing",)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidTool, match="greet"):
        Registry([greet, greet])


def test_settings_that_cannot_be_read_are_told_at_every_look() -> None:
    class Unreadable:
        revision = 1

        def get(self, name: str) -> ToolSetting:
            raise StorageError(f"The setting of {name} cannot be read.")

    registry = Registry([greet], settings=Unreadable())
    for _ in range(2):
        with pytest.raises(StorageError, match="greet"):
            registry.all()


def test_a_large_server_costs_a_message_next_to_nothing() -> None:
    registry = Registry([], sources=[Large()])
    behaviour = PromptBehaviour(tools=tuple(ToolChoice(name=f"large__tool_{number}") for number in range(40)))
    agent = new_agent("Equipped", behaviour, taken_slugs=())

    def seconds() -> float:
        began = time.perf_counter()
        assert len(granted(registry, agent, behaviour, ())) == 40
        return time.perf_counter() - began

    assert min(seconds() for _ in range(5)) < 0.005


async def test_a_call_finds_its_tool_by_either_spelling() -> None:
    assert await REGISTRY.call(call("data-kit__sort"), Context()) == ToolOutput.of_text("sorted")


async def test_an_unknown_tool_is_told_with_those_that_come_near() -> None:
    with pytest.raises(UnknownTool) as told:
        await REGISTRY.call(call("great"), Context())
    assert str(told.value) == (
        "There is no tool 'great'. Did you mean greet? There are: data_kit__count, data_kit__sort, greet."
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"name": "Ann",, "x": 1}', r"line 1 column 16 .* near .*Ann"),
        ('{"name": "An', "Unterminated string"),
        ("", "line 1 column 1"),
        ("[1, 2]", "have to be a JSON object, not list"),
        ("[" * 100_000, "no JSON object"),
    ],
)
async def test_arguments_that_are_no_object_are_told_with_the_place(text: str, words: str) -> None:
    with pytest.raises(InvalidArguments, match=words) as told:
        await REGISTRY.call(call("greet", malformed=text), Context())
    assert "greet" in str(told.value) and len(str(told.value)) < 300


async def test_what_a_tool_prints_is_shown_at_once_and_kept() -> None:
    context = Context()
    output = await REGISTRY.call(call("data_kit__count"), context)
    assert context.shown == ["0\n", "1\n", "2\n"]
    assert output == ToolOutput.of_text("counted", printed="0\n1\n2\n")


async def test_a_huge_result_is_cut_where_everybody_sees_it() -> None:
    file = FilePart(artifact="0" * 64, media_type="text/plain", filename="a", size=1)

    @tool()
    def flood() -> ToolOutput:
        """Flood."""
        return ToolOutput(
            parts=(TextPart(text="a" * (LONGEST_TEXT - 1)), file, TextPart(text="bcd"), TextPart(text="e"))
        )

    output = await Registry([flood]).call(call("flood"), Context())
    assert output.parts[0] == TextPart(text="a" * (LONGEST_TEXT - 1))
    assert output.parts[1] == file
    assert output.parts[2] == TextPart(text="b\n[… cut here: 2 more characters of 3 were left out]")
    assert output.parts[3] == TextPart(text="\n[… cut here: 1 more characters of 1 were left out]")


async def test_cancelling_a_call_ends_the_tool() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    @tool()
    async def wait() -> str:
        """Wait."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    task = asyncio.create_task(Registry([wait]).call(call("wait"), Context()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_an_error_of_a_tool_reaches_the_caller_with_its_print_shown() -> None:
    @tool()
    async def fail(context: CallContext) -> str:
        """Fail."""
        context.printed("so far")
        raise ToolError("no further")

    context = Context()
    with pytest.raises(ToolError, match="no further"):
        await Registry([fail]).call(call("fail"), context)
    assert context.shown == ["so far"]


async def test_the_built_in_tools_are_there() -> None:
    registry = builtin_registry()
    assert [spec.name for spec in registry.all() if not spec.kit] == [
        "calculator",
        "read_file",
        "write_file",
        "edit_file",
        "list_files",
        "workspace_state",
        "read_result",
        "find_tools",
        "pdf_text",
        "execute_python",
        "spawn_task",
        "join_task",
        "http_get",
        "web_search",
    ]
    kits = dict.fromkeys(spec.kit for spec in registry.all() if spec.kit)
    assert list(kits) == ["data_transform", "date_utils", "formula_engine", "json_utils"]
    output = await registry.call(call("calculator", operation="add", x=5, y=10), Context())
    assert output == ToolOutput.of_text("5 + 10 = 15")
    await registry.close()
