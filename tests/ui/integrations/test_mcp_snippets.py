"""What clients of MCP are told, read as they read it, and tried with the library's own client."""

import asyncio
import json
import shlex
import sys
import tomllib
from dataclasses import replace

import pytest
from nicegui import Client, core, events
from nicegui.page import page

from app import paths
from app.ui.integrations.api_snippet_panel import MCP_ANSWER, Answer, ApiSnippetPanel, answer_view
from app.ui.integrations.api_snippets import AgentCall, Snippet
from app.ui.integrations.mcp_snippets import (
    MCP_SNIPPETS,
    claude_code,
    claude_desktop,
    codex,
    cursor,
    snippet_named,
    vs_code,
)
from app.ui.integrations.mcp_trial import tried
from tests.api.mcp.serving import SUM, TOKEN, mcp_at_a_port
from tests.api.over import opened
from tests.waiting import until

COMMAND = ("/opt/Agent Playground/agent-playground", "mcp", "--data", '/home/ada/"my" data')
CALL = AgentCall("http://127.0.0.1:8765", "a", "A", "Hi", tool="run_a", command=COMMAND, environment={"X": "é"})
KEYED = replace(CALL, key="ap_secret")
MCP = "http://127.0.0.1:8765/mcp"


def test_each_is_read_by_its_client_as_it_is_meant():
    desktop = json.loads(claude_desktop(CALL))["mcpServers"]["agent-playground"]
    assert ([desktop["command"], *desktop["args"]], desktop["env"]) == (list(COMMAND), {"X": "é"})
    code = shlex.split(claude_code(KEYED).replace("\\\n", ""))
    assert code[-3:] == [MCP, "--header", "Authorization: Bearer ap_secret"]
    for write, servers in ((vs_code, "servers"), (cursor, "mcpServers")):
        told = json.loads(write(KEYED))[servers]["agent-playground"]
        assert (told["url"], told["headers"]) == (MCP, {"Authorization": "Bearer ap_secret"})
    table = tomllib.loads(codex(KEYED))["mcp_servers"]["agent-playground"]
    assert table == {"url": MCP, "http_headers": {"Authorization": "Bearer ap_secret"}}


def test_without_a_key_each_names_where_it_comes_from():
    assert '"Authorization: Bearer $AGENT_PLAYGROUND_KEY"' in claude_code(CALL)
    asked = json.loads(vs_code(CALL))
    assert asked["inputs"][0]["id"] in asked["servers"]["agent-playground"]["headers"]["Authorization"]
    assert "${env:AGENT_PLAYGROUND_KEY}" in cursor(CALL)
    assert (
        tomllib.loads(codex(CALL))["mcp_servers"]["agent-playground"]["bearer_token_env_var"] == "AGENT_PLAYGROUND_KEY"
    )
    assert all("ap_" not in snippet.write(CALL) for snippet in MCP_SNIPPETS)


async def test_they_are_tried_as_their_clients_would(tmp_path):
    workbench = opened(tmp_path)
    await workbench.start()
    async with mcp_at_a_port(workbench) as base:
        call = replace(CALL, base=base, message=SUM, tool="run_assistant")
        answer = await tried(snippet_named("cursor"), call, 3, token=TOKEN)
        assert (answer.number, answer.status) == (3, MCP_ANSWER)
        assert workbench.rows.get(answer.run).status == "completed"
        shown = answer_view(answer, snippet_named("cursor").request(call), "assistant")
        assert "Answered over MCP" in shown and "15" in shown
        refused = await tried(snippet_named("cursor"), replace(call, key="ap_wrong"), 4, token=TOKEN)
        assert (refused.status, refused.run) == (0, "") and refused.text
        unknown = await tried(snippet_named("cursor"), replace(call, tool="run_nobody"), 5, token=TOKEN)
        assert "There is no tool 'run_nobody'" in unknown.text
    await workbench.close()


async def test_the_command_is_tried_by_starting_it(tmp_path):
    command = (*paths.own_command(), "mcp", "--data", str(tmp_path / "data"))
    assert command[0] == sys.executable
    call = replace(CALL, command=command, environment=paths.own_environment(), message=SUM, tool="run_assistant")
    answer = await tried(snippet_named("claude-desktop"), call, 1, token="")
    assert answer.status == MCP_ANSWER, answer.text
    assert "15" in answer.text and answer.run
    gone = await tried(snippet_named("claude-desktop"), replace(call, command=("/no/such/program",)), 1, token="")
    assert (gone.status, "/no/such/program" in gone.text) == (0, True)


async def test_a_snippet_that_is_tried_twice_runs_its_agent_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
    let_go, asked = asyncio.Event(), list[int]()

    async def on_try(snippet: Snippet, call: AgentCall, number: int) -> Answer:
        asked.append(number)
        await let_go.wait()
        return Answer(number=number, status=MCP_ANSWER, ms=1, size=1, text="3")

    with Client(page("")) as client:
        panel = ApiSnippetPanel("cursor", lambda _: None, on_try)
        panel.show(CALL)
        pressed = events.GenericEventArguments(sender=panel, client=client, args=["trial"])
        for _ in range(2):
            panel._act(pressed)
            await until(lambda: asked == [1])
        let_go.set()
        await until(lambda: panel._tried is None)
        panel._act(pressed)
        await until(lambda: asked == [1, 1])
    client.delete()
