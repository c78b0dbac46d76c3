"""The agents of the executable as tools of MCP, at its address and as its command.

Playwright's own event loop may run in the thread of the tests, so they ask in another one.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mcp import Client, StdioServerParameters, stdio_client

from tests.api.mcp.serving import client_of
from tests.app_process import AppProcess, plain_environment
from tests.packaged.built import NOTHING_ELSE

SUM = "What is 5 + 10?"


def beside(asking: Coroutine[None, None, None]) -> None:
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, asking).result()


def test_an_agent_answers_over_http_and_over_stdio(app_process: AppProcess, executable: Path) -> None:
    beside(_over_both(app_process, executable))


async def _over_both(app_process: AppProcess, executable: Path) -> None:
    command = StdioServerParameters(
        command=str(executable),
        args=["mcp", "--data", str(app_process.data)],
        env=plain_environment() | NOTHING_ELSE | {"HOME": str(app_process.data.parent)},
    )
    async with client_of(app_process.url, app_process.token) as client:
        answer = await client.call_tool("run_assistant", {"input": SUM})
        assert "15" in answer.structured_content["output"]
    async with Client(stdio_client(command), mode="legacy") as client:
        again = await client.call_tool("run_assistant", {"input": SUM})
        assert "15" in again.structured_content["output"]


def test_it_answers_over_stdio_without_the_app(executable: Path, tmp_path: Path) -> None:
    beside(_over_stdio(executable, tmp_path))


async def _over_stdio(executable: Path, tmp_path: Path) -> None:
    command = StdioServerParameters(
        command=str(executable),
        args=["mcp", "--data", str(tmp_path / "data")],
        env=plain_environment() | NOTHING_ELSE | {"HOME": str(tmp_path)},
    )
    async with Client(stdio_client(command), mode="auto") as client:
        answer = await client.call_tool("run_assistant", {"input": SUM})
        assert "15" in answer.structured_content["output"]
