"""The doctor names the first step that fails."""

from pathlib import Path

import pytest

from app.domain.tool_settings import McpServer, StdioTransport
from app.tools.mcp import opening, pipes
from app.tools.mcp.hub import McpHub
from app.tools.mcp.states import Patience
from tests.tools.mcp.hubs import hostile, hub_of, reached

SURE_OF_ITS_START = 3
"""Seconds, for a server that never answers; with both cores busy half of one is not enough to start it."""


@pytest.fixture(params=[pipes.pipes, pipes.windows_pipes])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How it is spoken with, here and on Windows; the library's way goes here too."""
    monkeypatch.setattr(opening, "pipes", request.param)


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
    ("way", "told"),
    [
        (pipes.pipes, "It ended by itself, with exit code 3. Its last words:\nTraceback: no configuration found"),
        (pipes.windows_pipes, "It closed its output. Its last words:\nTraceback: no configuration found"),
    ],
    indirect=["way"],
)
@pytest.mark.usefixtures("way")
async def test_a_server_that_ends_at_its_start(tmp_path: Path, told: str):
    async with hub_of(tmp_path, hostile("crash")) as hub:
        findings = [finding async for finding in hub.doctor("bad")]
        assert (findings[-1].step, findings[-1].ok) == ("starts", False)
        assert told in findings[-1].text


@pytest.mark.parametrize("habits", [["nonsense"], ["nonsense", "twice"]])
@pytest.mark.usefixtures("way")
async def test_a_server_that_speaks_no_mcp(tmp_path: Path, habits: list[str]):
    async with hub_of(tmp_path, hostile(*habits)) as hub:
        findings = [finding async for finding in hub.doctor("bad")]
        assert (findings[-1].step, findings[-1].ok) == ("handshake", False)
        assert findings[-1].text == (
            "It does not speak MCP as it should: InitializeResult: capabilities: Field required; "
            "protocolVersion: Input should be a valid string; serverInfo: Field required."
        )


@pytest.mark.usefixtures("way")
async def test_a_server_that_never_answers(tmp_path: Path):
    patience = Patience(handshake=SURE_OF_ITS_START, retries=(1000,))
    async with hub_of(tmp_path, hostile("silent"), patience=patience) as hub:
        findings = [finding async for finding in hub.doctor("bad")]
        assert (findings[-1].step, findings[-1].ok) == ("handshake", False)
        assert f"It did not answer within {SURE_OF_ITS_START} seconds." in findings[-1].text


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
