"""Texts that took the app seconds: what they are made of comes from a model, a server, a file or a pasted text.

`make faults ARGS=slow_patterns` looks for more of them.
"""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest

from app.domain.errors import UnknownTool, WorkbenchError
from app.domain.messages import ToolCall
from app.domain.tool_settings import HttpTransport
from app.llm.failures import classify
from app.tools.builtin.formula_engine.aggregates import fits
from app.tools.function.docstring import read_docstring
from app.tools.http.secret_scan import SecretScan
from app.tools.mcp.reading import read_json, read_servers
from tests.builtin_tools import builtin_registry
from tests.processor import at_work
from tests.tools.context import Context

LENGTH = 200_000


class Refused(Exception):
    status_code = 400


def refused(said: str) -> None:
    classify(Refused(said), provider="P")


def spotted(address: str) -> None:
    SecretScan(()).transport(HttpTransport(url=address))


def server(command: str) -> str:
    return json.dumps({"mcpServers": {"": {"command": "npx", "args": [command], "env": {"A": command}}}})


def servers(count: int) -> str:
    return json.dumps({f"s{number}": {"command": str(number)} for number in range(count)})


READERS: list[tuple[Callable[[str], object], str]] = [
    (refused, '"error":"' * (LENGTH // 9)),
    (refused, "<" * LENGTH),
    (refused, "a" + " " * LENGTH + "b"),
    (spotted, "https://example.com/" + "?" * (LENGTH // 10)),
    (lambda text: fits(text)("b"), "=a" + " " * LENGTH + "b"),
    (lambda text: read_docstring(text, ["a"]), "\n" * LENGTH + "x"),
    (read_json, "{" + ",".join(f'"{number}":1' for number in range(LENGTH // 10)) + "}"),
    (read_servers, server("s" + "-mcp" * (LENGTH // 4) + "x")),
    (read_servers, server("${" * (LENGTH // 2))),
    (read_servers, servers(LENGTH // 24)),
]


@pytest.mark.parametrize(("read", "text"), READERS, ids=[f"{text[:12]!r}-{len(text)}" for _, text in READERS])
def test_no_text_is_read_for_long(read: Callable[[str], object], text: str) -> None:
    assert seconds(read, text) < 0.15


async def test_no_name_of_a_tool_is_looked_up_for_long() -> None:
    tools = builtin_registry()
    with pytest.raises(UnknownTool):  # the first look-up makes the tools
        await tools.call(ToolCall(call_id="0", name="a", arguments={}), Context())
    call = ToolCall(call_id="1", name="a" * 10 * LENGTH, arguments={})
    with at_work() as work, pytest.raises(UnknownTool, match="aaa"):
        await tools.call(call, Context())
    assert work.seconds < 0.15


def seconds(read: Callable[[str], object], text: str) -> float:
    """Processor time of the quickest of three: a busy machine only adds to it."""
    return min(_once(read, text) for _ in range(3))


def _once(read: Callable[[str], object], text: str) -> float:
    with at_work() as work, suppress(WorkbenchError):
        read(text)
    return work.seconds
