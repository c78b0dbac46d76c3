"""Views that a server's tools bring along: found, read, kept, and asked for what their owner may allow."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.apps import Domains
from app.domain.errors import ToolError
from app.domain.messages import AppPart
from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport
from app.store.folder.folder import DataFolder
from app.tools.mcp.hub import McpHub
from app.tools.mcp.states import Patience
from tests.tools.context import Context
from tests.tools.mcp.hubs import called, hub_of, reached, text_of
from tests.tools.vault import no_secrets
from tests.waiting import until

WITH_APPS = Path(__file__).parent / "servers" / "with_apps.py"
PATIENT = Patience(handshake=30, retries=(0.05, 0.1), settled=60, settling=0, call=5, listing=0)


def with_apps(counted: Path) -> McpServer:
    transport = StdioTransport(command=sys.executable, args=(str(WITH_APPS), str(counted)))
    return McpServer(name="apps", transport=transport)


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[McpHub]:
    async with hub_of(tmp_path, with_apps(tmp_path / "counted"), patience=PATIENT) as hub:
        await reached(hub, "ready", name="apps", seconds=30)
        yield hub


async def brought(hub: McpHub, tool: str, context: Context | None = None) -> AppPart:
    output = await called(hub, f"apps__{tool}", context, title="Hello")
    assert text_of(output) == "Shown: Hello"  # the model's part of it comes whatever becomes of the view
    [view] = [part for part in output.parts if isinstance(part, AppPart)]
    return view


async def test_a_view_is_kept_with_all_that_its_call_returned(hub: McpHub):
    context = Context()
    view = await brought(hub, "show", context)
    assert (view.uri, view.server, view.problem) == ("ui://show", "apps", "")
    assert context.kept[view.artifact].startswith(b"<!doctype html>")
    given = json.loads(context.kept[view.given])
    assert given["result"]["structuredContent"] == {"title": "Hello"}
    assert given["result"]["_meta"] == {"seen": "by the view"}
    assert given["tool"]["name"] == "show"


async def test_a_call_that_fails_has_its_view_with_all_that_it_returned(hub: McpHub):
    context = Context()
    with pytest.raises(ToolError, match="No paper left"):
        await called(hub, "apps__fail", context)
    assert context.view is not None and context.view.artifact
    result = json.loads(context.kept[context.view.given])["result"]
    assert result["isError"] is True and result["structuredContent"] == {"left": 0}


async def test_a_call_that_is_stopped_has_its_view_without_a_result(hub: McpHub):
    context = Context()
    call = asyncio.create_task(called(hub, "apps__linger", context))
    await until(lambda: context.view)
    call.cancel()
    await asyncio.wait([call])
    assert context.view is not None and (context.view.uri, context.view.given) == ("ui://silent", "")


@pytest.mark.parametrize(
    ("tool", "why"), [("wrong", "is text/html, not"), ("missing", "did not give"), ("huge", "up to 8 MiB")]
)
async def test_a_view_that_cannot_be_taken_says_why(hub: McpHub, tool: str, why: str):
    view = await brought(hub, tool)
    assert view.artifact == "" and why in view.problem


async def test_models_are_not_told_of_tools_for_views_nor_views_of_those_for_models(hub: McpHub):
    assert "apps__poll" not in hub.tools() and "apps__secret" in hub.tools()
    server = hub.app_server("apps")
    assert server is not None
    assert server.for_apps("secret") is None and server.for_apps("apps__poll") is None
    poll = server.for_apps("poll")
    assert poll is not None and poll.callers == ("app",)
    told = await server.asked("tools/list", {})
    assert {"show", "poll"} <= {tool["name"] for tool in told["tools"]}
    assert "secret" not in {tool["name"] for tool in told["tools"]}


async def test_what_a_view_asks_for_is_remembered_and_nothing_of_it_allowed(hub: McpHub):
    await brought(hub, "show")
    [state] = hub.states()
    assert state.server.apps.asked.names == ("https://api.example.com",)
    assert state.server.apps.allowed == ()
    await hub.allow_apps("apps", ["https://api.example.com", "https://never.example"])
    [state] = hub.states()
    assert state.server.apps.allowed == ("https://api.example.com",) and state.status == "ready"
    await hub.change(state.server.model_copy(update={"transport": HttpTransport(url="http://127.0.0.1:9/mcp")}))
    assert hub.states()[0].server.apps.allowed == ()  # another server was not what was agreed to


async def test_what_views_report_is_kept_to_an_end_and_apart_from_their_server(hub: McpHub):
    server = hub.app_server("apps")
    assert server is not None
    before = hub.states()[0].log
    server.reported("Show", ["info: one", "error: two\n· 00:00:00 forged"], more=7)
    [state] = hub.states()
    assert [line.split(" ", 2)[2] for line in state.view_log] == [
        "Show: info: one", "Show: error: two · 00:00:00 forged", "Show: 7 more were left out",
    ]  # fmt: skip
    for _ in range(9):
        server.reported("Show", ["info: again"] * 50)
    [state] = hub.states()
    assert len(state.view_log) == 200 and state.log == before


async def test_views_read_from_their_server_and_ask_nothing_it_has_no_name_for(hub: McpHub):
    server = hub.app_server("apps")
    assert server is not None
    read = await server.asked("resources/read", {"uri": "ui://silent"})
    assert read["contents"][0]["text"] == "<p>nothing is said"
    with pytest.raises(ToolError, match="cannot ask for sampling/createMessage"):
        await server.asked("sampling/createMessage", {})


async def test_what_two_views_ask_for_at_once_is_all_remembered(tmp_path: Path):
    data = DataFolder.open(tmp_path)  # which writes beside the event loop
    hub = McpHub(data.mcp_servers, version="1.0", patience=PATIENT, refs=no_secrets, origin=str)
    await hub.start()
    await hub.add(with_apps(tmp_path / "counted"))
    views = hub.app_server("apps")
    assert views is not None
    asked = [
        AppPart(uri="ui://a", server="apps", artifact="", domains=Domains(connect=(f"https://{name}.example",)))
        for name in ("a", "b")
    ]
    await asyncio.gather(*map(views.note_asked, asked))
    found = (data.mcp_servers.get("apps").apps, next(one for one in hub.states()).server.apps)
    assert [set(apps.asked.connect) for apps in found] == [{"https://a.example", "https://b.example"}] * 2
    await hub.close()
    await data.close()
