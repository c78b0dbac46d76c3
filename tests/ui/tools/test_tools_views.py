"""The list of tools, a tool's facts, results of calls and code to copy, as pure functions."""

import json
import subprocess

import pytest
from pydantic import JsonValue

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.tool_settings import ToolSetting
from app.domain.tools import ToolSpec
from app.domain.trace import ToolStats
from app.tools.function.tool import Tool
from app.tools.registry import ListedTool
from app.ui.elements.hand_call_copy import as_curl, as_python
from app.ui.elements.json_tree import json_tree
from app.ui.tools.hand_call_result import as_rows, json_table, shown_of
from app.ui.tools.tool_detail import schema_text, users
from app.ui.tools.tools_list import failing, fitting, groups, tools_list

HOSTILE = "<script>hurt()</script>\"'><img src=x onerror=hurt()>"


def listed(name: str, source: str = "Built in", **changes: object) -> ListedTool:
    def function() -> str:
        """Do it."""
        return ""

    function.__name__ = name
    tool = Tool(function, title=str(changes.pop("title", "")), side_effects=bool(changes.pop("side_effects", False)))
    return ListedTool(source, tool, ToolSetting.model_validate(changes))


def test_tools_are_grouped_by_source_and_kit():
    tools = [listed("data__sort"), listed("sum"), listed("mine", "Your tools"), listed("data__join")]
    found = [(group.source, group.kit, [one.spec.name for one in group.tools]) for group in groups(tools)]
    assert found == [
        ("Built in", "", ["sum"]),
        ("Built in", "data", ["data__sort", "data__join"]),
        ("Your tools", "", ["mine"]),
    ]


def test_every_word_has_to_be_in_a_tool_that_is_found():
    tools = [listed("data__sort"), listed("sum", "Your tools")]
    assert [one.spec.name for one in fitting(tools, "do YOUR")] == ["sum"]
    assert fitting(tools, "sort your") == []
    assert fitting(tools, "") == tools


def test_the_list_shows_what_is_particular_about_a_tool():
    tools = [
        listed("off", enabled=False),
        listed("described", description="Other words"),
        listed("bold", side_effects=True),
    ]
    drawn = tools_list(tools, "bold", {"off": ToolStats(calls=6, failures=3)})
    assert drawn.count('data-testid="tool-row"') == 3
    assert drawn.count(" checked") == 2
    for words in ("Fails often", "Its description was changed", "Has side effects"):
        assert drawn.count(f'title="{words}"') == 1
    assert drawn.count('aria-current="page"') == 1


def test_a_tool_fails_often_when_half_of_its_calls_did_of_five_at_least():
    assert failing(ToolStats(calls=5, failures=3))
    assert not failing(ToolStats(calls=5, failures=2))
    assert not failing(ToolStats(calls=4, failures=4))
    assert not failing(ToolStats())
    assert not failing(None)


def test_hostile_names_and_values_stay_text():
    tool = listed("hostile", HOSTILE, title=HOSTILE, description=HOSTILE)
    value: JsonValue = {HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]}
    for drawn in (tools_list([tool], "", {}), json_tree(value), json_table([{HOSTILE: HOSTILE}])):
        assert "<script" not in drawn
        assert "<img" not in drawn


def test_an_agent_uses_a_tool_by_name_or_kit_unless_it_is_off():
    spec = ToolSpec(name="data__sort", kit="data", description="", parameters={})
    choices = (
        ToolChoice(name="data-sort"),
        ToolChoice(name="data__sort"),
        ToolChoice(name="data", policy="ask"),
        ToolChoice(name="data", policy="off"),
        ToolChoice(name="other"),
    )
    agents = [new_agent(str(place), PromptBehaviour(tools=(one,)), taken_slugs=()) for place, one in enumerate(choices)]
    assert [agent.name for agent in users(agents, spec)] == ["1", "2"]


def test_the_schema_is_what_models_are_sent():
    spec = listed("sum", description="Other words").spec
    assert json.loads(schema_text(spec)) == {
        "name": "sum",
        "description": "Other words",
        "parameters": spec.parameters,
    }


@pytest.mark.parametrize(
    ("text", "views"),
    [
        ("5 + 10 = 15", ("text",)),
        ("12", ("text",)),
        ('{"a": 1}', ("text", "tree")),
        ("[1, 2]", ("text", "tree")),
        ('[{"a": 1}, {"b": 2}]', ("text", "tree", "table")),
        ("[broken", ("text",)),
        ("", ("text",)),
    ],
)
def test_a_result_has_the_views_that_suit_it(text: str, views: tuple[str, ...]):
    assert shown_of(text).views == views


def test_large_json_is_cut_and_what_is_left_out_is_counted():
    tree = json_tree([[place] for place in range(5_000)])
    assert tree.count("<details") < 1_600
    assert "more not shown" in tree
    rows: list[JsonValue] = [{"a": place} for place in range(500)]
    assert "The first 200 of 500 rows." in json_table(as_rows(rows))


def test_a_table_has_a_column_for_each_name():
    table = json_table([{"a": 1}, {"b": {"c": 2}}])
    assert table.count("<th") == 3  # one is <thead>
    assert "{&quot;c&quot;: 2}" in table


def test_json_as_deep_as_it_gets_is_shown():
    deep: JsonValue = 1
    for _ in range(400):
        deep = [deep]
    assert "…" in json_tree(deep)


ARGUMENTS: dict[str, JsonValue] = {"text": 'it\'s "quoted" $HOME `id`\n', "flag": True, "nothing": None, "é": [1.5]}


def test_the_curl_command_says_the_arguments_to_a_shell():
    words = (
        subprocess.run(
            ["sh", "-c", as_curl("http://127.0.0.1:1", "kit__tool", ARGUMENTS).replace("curl", "printf '%s\\0'", 1)],
            env={"AGENT_PLAYGROUND_KEY": "the-key"},
            capture_output=True,
            check=True,
        )
        .stdout.decode()
        .split("\0")
    )
    assert words[1] == "http://127.0.0.1:1/api/v1/tools/kit__tool/call"
    assert "Authorization: Bearer the-key" in words
    assert json.loads(words[words.index("--data-raw") + 1]) == {"arguments": ARGUMENTS}


def test_the_python_program_says_the_arguments_too():
    program = as_python("http://127.0.0.1:1", "kit__tool", ARGUMENTS)
    names: dict[str, object] = {}
    exec(program[program.index("arguments =") : program.index("request =")], names)
    assert names["arguments"] == ARGUMENTS
    compile(program, "copied", "exec")
