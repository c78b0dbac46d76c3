"""The doctor names the first step that fails."""

from pathlib import Path

import pytest

from app.domain.tool_settings import McpServer, StdioTransport
from app.tools.mcp.hub import McpHub
from app.tools.mcp.states import Patience
from tests.tools.mcp.hubs import hostile, hub_of, reached

IMPATIENT = Patience(handshake=0.5, retries=(1000,))


async def steps(hub: McpHub) -> list[tuple[str, bool]]:
    return [(finding.step, finding.ok) async for finding in hub.doctor("bad")]


async def test_a_healthy_server(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        findings = [finding async for finding in hub.doctor("bad")]
        assert [finding.ok for finding in findings] == [True] * 5
        assert findings[2].text == "It speaks MCP: hostile 0.1, protocol 2025-11-25."
        assert findings[4].text == "peaceful returned: calm"


@pytest.mark.parametrize(
    ("habit", "failing", "told"),
    [
        ("crash", "starts", "exit code 3. Its last words:\nTraceback: no configuration found"),
        ("silent", "handshake", "It did not answer within 0.5 seconds."),
        ("nonsense", "handshake", "It does not speak MCP as it should"),
    ],
)
async def test_a_step_that_fails(tmp_path: Path, habit: str, failing: str, told: str):
    async with hub_of(tmp_path, hostile(habit), patience=IMPATIENT) as hub:
        findings = [finding async for finding in hub.doctor("bad")]
        assert (findings[-1].step, findings[-1].ok) == (failing, False)
        assert told in findings[-1].text


async def test_a_missing_command_comes_with_the_place_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    server = McpServer(name="bad", transport=StdioTransport(command="npx", args=("-y", "some-server")))
    async with hub_of(tmp_path, server) as hub:
        [finding] = [finding async for finding in hub.doctor("bad")]
        assert finding.text == "The command npx was not found on the PATH. It comes with Node.js (nodejs.org)."


async def test_nothing_is_started_before_consent(tmp_path: Path):
    async with hub_of(tmp_path) as hub:
        await hub.add(hostile())
        assert await steps(hub) == [("command found", True), ("starts", False)]
