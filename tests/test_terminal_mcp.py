"""The bridge over stdio, started as clients start it: beside the app, without it, and by the app itself."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from app.start.already_running import running_app
from tests.api.mcp.serving import ASKS, SUM, agent_with
from tests.api.over import opened
from tests.app_process import ROOT, AppProcess, plain_environment
from tests.waiting import PATIENCE, wait_until


@asynccontextmanager
async def bridge(data: Path, mode: str, **more: object) -> AsyncIterator[Client]:
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "app", "mcp", "--data", str(data)], env=plain_environment(), cwd=ROOT
    )
    async with Client(stdio_client(started), mode=mode, **more) as client:
        yield client


async def test_agents_answer_without_the_app_which_can_be_started_beside_it(tmp_path):
    app = AppProcess(tmp_path / "data")
    async with bridge(tmp_path / "data", "auto") as client:
        assert "run_assistant" in [tool.name for tool in (await client.list_tools()).tools]
        answer = await client.call_tool("run_assistant", {"input": SUM})
        assert answer.structured_content["output"] == "5 + 10 = **15**."
        app.start()
        try:
            again = await client.call_tool("run_assistant", {"input": SUM})
            told = await client.call_tool("get_run", {"run_id": again.structured_content["run_id"]})
            assert told.structured_content["status"] == "completed"
        finally:
            app.stop()
        third = await client.call_tool("get_run", {"run_id": answer.structured_content["run_id"]})
        assert third.structured_content["output"] == "5 + 10 = **15**."


@pytest.mark.parametrize("mode", [pytest.param("legacy", marks=pytest.mark.long), "auto"])
async def test_it_goes_through_the_app_and_has_no_right_to_approve(tmp_path, mode):
    workbench = opened(tmp_path)
    await workbench.start()
    await agent_with(workbench, "Careful", tools=ASKS)
    await workbench.close()
    app = AppProcess(tmp_path / "data")
    app.start()
    steps: list[str] = []

    async def told(done: float, total: float | None, message: str | None) -> None:
        steps.append(message or "")

    async def person(context, params):
        raise AssertionError("Nobody is to be asked")

    try:
        async with bridge(tmp_path / "data", mode, elicitation_callback=person) as client:
            answer = await client.call_tool("run_assistant", {"input": SUM}, progress_callback=told)
            assert (answer.structured_content["status"], bool(steps)) == ("completed", True)
            waits = await client.call_tool("run_careful", {"input": SUM})
            assert waits.structured_content["status"] == "paused"
    finally:
        app.stop()


def approve(app: AppProcess, run_id: str) -> None:
    """As a person in the app does; returns when the run has ended."""
    with httpx.Client(base_url=f"{app.url}/api/v1", headers={"X-API-Key": app.token}, timeout=PATIENCE) as api:
        (pause,) = api.get(f"/runs/{run_id}").json()["data"]["pauses"]
        decided = api.post(f"/runs/{run_id}/pauses/{pause['pause_id']}", json={"decision": "approve"})
        assert decided.status_code == 200, decided.text
        wait_until(lambda: api.get(f"/runs/{run_id}").json()["data"]["status"] == "completed")


async def test_the_app_can_be_started_beside_it_to_decide_what_a_run_waits_for(tmp_path):
    workbench = opened(tmp_path)
    await workbench.start()
    await agent_with(workbench, "Careful", tools=ASKS)
    await workbench.close()
    app = AppProcess(tmp_path / "data")
    async with bridge(tmp_path / "data", "legacy") as client:
        waits = (await client.call_tool("run_careful", {"input": SUM})).structured_content
        assert waits["status"] == "paused"
        app.start()
        try:
            await asyncio.to_thread(approve, app, waits["run_id"])
            told = await client.call_tool("get_run", {"run_id": waits["run_id"]})
            assert "15" in told.structured_content["output"]
        finally:
            app.stop()


async def test_a_folder_that_somebody_else_holds_is_told_in_words(tmp_path):
    workbench = opened(tmp_path)
    try:
        async with bridge(tmp_path / "data", "legacy") as client:
            answer = await client.call_tool("run_assistant", {"input": SUM})
            assert answer.is_error and "is held by another Agent Playground" in answer.content[0].text
    finally:
        await workbench.close()


def test_it_ends_with_its_input_and_prints_nothing_else(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "app", "mcp", "--data", str(tmp_path / "data")],
        cwd=ROOT, env=plain_environment(), input=b"", capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    assert (ended.stdout, ended.stderr) == (b"", b"")


def test_the_app_does_not_use_its_own_bridge(tmp_path):
    app = AppProcess(tmp_path / "data")
    app.start()
    try:
        wait_until(lambda: running_app(tmp_path / "data"))
        started = plain_environment() | {"AGENT_PLAYGROUND_WITHIN": str(app.pid)}
        refused = subprocess.run(
            [sys.executable, "-m", "app", "mcp", "--data", str(tmp_path / "data")],
            cwd=ROOT, env=started, input=b"", capture_output=True, timeout=60, check=False,
        )  # fmt: skip
    finally:
        app.stop()
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"cannot use its own agents" in refused.stderr
