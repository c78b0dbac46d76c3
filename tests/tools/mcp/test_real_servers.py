"""Servers that people really use, out of the registries, started as their instructions say."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.domain.errors import ToolError
from app.domain.messages import FilePart, ImagePart
from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport
from app.domain.tools import Answer
from app.tools.mcp.states import Patience
from tests.app_process import free_port
from tests.mcp_servers import npm_server
from tests.tools.context import Context
from tests.tools.mcp.hubs import called, hub_of, reached, text_of
from tests.waiting import until

PATIENCE = Patience(listing=0, retries=(0.2,))


def python_server(name: str, *args: str) -> McpServer:
    transport = StdioTransport(command=sys.executable, args=("-m", f"mcp_server_{name}", *args))
    return McpServer(name=name, transport=transport)


@pytest.fixture
def repository(tmp_path: Path) -> str:
    """With one commit."""
    git = ["git", "-C", str(tmp_path / "repository"), "-c", "user.name=A", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(tmp_path / "repository")], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "First words"], check=True)
    return str(tmp_path / "repository")


async def test_time_and_git_tell_the_time_and_the_log(tmp_path: Path, repository: str):
    servers = (python_server("time"), python_server("git", "--repository", repository))
    async with hub_of(tmp_path, *servers, patience=PATIENCE) as hub:
        await reached(hub, "ready", name="time")
        await reached(hub, "ready", name="git")
        there = {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        assert "Asia/Tokyo" in text_of(await called(hub, "time__convert_time", **there))
        assert "First words" in text_of(await called(hub, "git__git_log", repo_path=repository))
        with pytest.raises(ToolError, match="Nowhere"):
            await called(hub, "time__get_current_time", timezone="Nowhere/Land")


@pytest.mark.long
async def test_filesystem_and_memory_keep_things_where_they_may(tmp_path: Path):
    folder, memory = tmp_path / "folder", tmp_path / "memory.jsonl"
    folder.mkdir()
    files = StdioTransport(command=npm_server("filesystem"), args=(str(folder),))
    graph = StdioTransport(command=npm_server("memory"), env={"MEMORY_FILE_PATH": str(memory)})
    servers = (McpServer(name="files", transport=files), McpServer(name="graph", transport=graph))
    async with hub_of(tmp_path, *servers, patience=PATIENCE) as hub:
        await reached(hub, "ready", name="files")
        await reached(hub, "ready", name="graph")
        await called(hub, "files__write_file", path=str(folder / "note.txt"), content="hello")
        assert (folder / "note.txt").read_text() == "hello"
        with pytest.raises(ToolError, match="Access denied"):
            await called(hub, "files__read_text_file", path="/etc/passwd")
        ada = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
        await called(hub, "graph__create_entities", entities=[ada])
        assert "Ada" in memory.read_text()
        findings = [finding async for finding in hub.doctor("files")]
        assert [finding.step for finding in findings if finding.ok] == [
            "command found",
            "starts",
            "handshake",
            "tools listed",
            "first call",
        ]
        assert str(folder) in findings[-1].text


async def test_everything_over_stdio(tmp_path: Path):
    transport = StdioTransport(command=npm_server("everything"), args=("stdio",))
    async with hub_of(tmp_path, McpServer(name="all", transport=transport), patience=PATIENCE) as hub:
        await reached(hub, "ready", name="all")
        await until(lambda: "all__trigger_sampling_request" in hub.tools())
        context = Context()
        [_, image, _] = (await called(hub, "all__get_tiny_image", context)).parts
        assert isinstance(image, ImagePart)
        assert context.kept[image.artifact].startswith(b"\x89PNG")
        linked = (await called(hub, "all__get_resource_links", context, count=2)).parts
        assert sum(isinstance(part, FilePart) for part in linked) == 2
        await called(hub, "all__trigger_long_running_operation", context, duration=0.2, steps=4)
        assert [one.done for one in context.progress] == [1, 2, 3, 4]
        writer = Context(answer=Answer(decision="accept", values={"answer": "a poem of mine"}))
        assert "a poem of mine" in text_of(await called(hub, "all__trigger_sampling_request", writer, prompt="Write!"))
        assert "Write!" in writer.asked[0].text
        assert "decline" in text_of(await called(hub, "all__trigger_elicitation_request", Context()))


@asynccontextmanager
async def everything_over_http() -> AsyncIterator[str]:
    """The address of a server that is ready to be asked."""
    port = free_port()
    server = await asyncio.create_subprocess_exec(
        npm_server("everything"),
        "streamableHttp",
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert server.stderr
    try:
        async with asyncio.timeout(30):
            while b"listening on port" not in await server.stderr.readline():
                pass
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.kill()
        await server.wait()


async def test_everything_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_KEY", "k3y")
    async with everything_over_http() as address:
        transport = HttpTransport(url=address, headers={"Authorization": "Bearer $SOME_KEY"})
        async with hub_of(tmp_path, McpServer(name="all", transport=transport), patience=PATIENCE) as hub:
            state = await reached(hub, "ready", name="all")
            assert "protocol 2025-11-25" in state.about
            context = Context()
            assert text_of(await called(hub, "all__echo", message="hello")) == "Echo: hello"
            await called(hub, "all__trigger_long_running_operation", context, duration=0.2, steps=2)
            assert [one.done for one in context.progress] == [1, 2]
            endless = asyncio.create_task(
                called(hub, "all__trigger_long_running_operation", context, duration=100, steps=1000)
            )
            await until(lambda: len(context.progress) > 2)
            endless.cancel()
            await asyncio.wait({endless})
            assert text_of(await called(hub, "all__echo", message="still here")) == "Echo: still here"
