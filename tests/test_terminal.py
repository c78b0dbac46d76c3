"""The app in a terminal, as a process of its own."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import httpx
import pytest

from app.domain.agents import WorkflowBehaviour, new_agent
from app.domain.workflows.document import AgentNode, Edge, InputNode, OutputNode, Template, Workflow
from app.start.already_running import running_app
from app.terminal.terminal import run_here
from app.workbench import Workbench
from tests.api.mcp.serving import ASKS, agent_with
from tests.app_process import ROOT, AppProcess, free_port, plain_environment
from tests.waiting import PATIENCE, wait_until

SUM = "What is 5 + 10, then multiply by 3?"
SOON = 15
"""Seconds."""
CLOSED = ("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh")
"""Starts what follows without any of its three streams."""


def command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "app", "--data", str(folder / "data")]


def app(*arguments: str, data: Path | None = None) -> subprocess.CompletedProcess[str]:
    chosen = ["--data", str(data)] if data else []
    return subprocess.run(
        [sys.executable, "-m", "app", *chosen, *arguments],
        cwd=ROOT,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def serving(tmp_path):
    process = AppProcess(tmp_path / "data")
    process.start()
    yield process
    process.stop()


async def test_what_the_agents_of_a_workflow_used_is_told_with_its_own(tmp_path):
    workbench = Workbench.open(tmp_path / "data")
    await workbench.start()
    asks = AgentNode(id="ask", agent="assistant", message=Template(text="{{question.text}}"))
    edges = (Edge(source="question", target="ask"), Edge(source="ask", target="answer"))
    nodes = (InputNode(id="question"), asks, OutputNode(id="answer", value=Template(text="{{ask}}")))
    behaviour = WorkflowBehaviour(workflow=Workflow(nodes=nodes, edges=edges))
    await workbench.agents.create(new_agent("Asking", behaviour, taken_slugs=()))
    await workbench.close()
    reply = await run_here(tmp_path / "data", "asking", SUM)
    assert reply.status == "completed" and reply.metrics.tokens_input > 0


@pytest.fixture
def asking(tmp_path):
    """A folder with an agent that may call its tool only with leave, and a workflow that asks that agent."""

    async def seed() -> None:
        workbench = Workbench.open(tmp_path / "data")
        await workbench.start()
        await agent_with(workbench, "Careful", tools=ASKS)
        asks = AgentNode(id="ask", agent="careful", message=Template(text="{{question.text}}"))
        edges = (Edge(source="question", target="ask"), Edge(source="ask", target="answer"))
        nodes = (InputNode(id="question"), asks, OutputNode(id="answer", value=Template(text="{{ask}}")))
        behaviour = WorkflowBehaviour(workflow=Workflow(nodes=nodes, edges=edges))
        await workbench.agents.create(new_agent("Asking", behaviour, taken_slugs=()))
        await workbench.close()

    asyncio.run(seed())
    return tmp_path / "data"


@pytest.mark.parametrize("agent", ["careful", "asking"])
def test_a_run_that_waits_for_leave_says_so_and_goes_on_in_the_app(asking, agent):
    waits = app("run", agent, SUM, "--json", data=asking)
    reply = json.loads(waits.stdout)
    assert (waits.returncode, reply["status"]) == (1, "paused")
    assert "waits for a person: leave to call calculator" in waits.stderr and reply["run_id"] in waits.stderr
    (pause, *_) = reply["pauses"]
    process = AppProcess(asking)
    process.start()
    try:
        headers = {"X-API-Key": process.token}
        with httpx.Client(base_url=f"{process.url}/api/v1", headers=headers, timeout=PATIENCE) as api:
            (left,) = [run for run in api.get("/runs").json()["data"] if run["status"] == "paused"]
            decided = api.post(f"/runs/{left['id']}/pauses/{pause['pause_id']}", json={"decision": "always"})
            assert decided.status_code == 200, decided.text
            wait_until(lambda: api.get(f"/runs/{left['id']}").json()["data"]["status"] == "completed")
    finally:
        process.stop()


def test_a_run_that_waits_in_the_app_that_is_up_ends_with_the_same_words_and_code(asking):
    process = AppProcess(asking)
    process.start()
    try:
        waits = app("run", "careful", SUM, data=asking)
    finally:
        process.stop()
    assert waits.returncode == 1 and "waits for a person: leave to call calculator" in waits.stderr


def test_check_prints_ok():
    checked = app("--check")
    assert (checked.stdout, checked.returncode) == ("ok\n", 0)


def test_an_agent_runs_without_any_page(tmp_path):
    answered = app("run", "assistant", SUM, data=tmp_path / "data")
    assert "45" in answered.stdout and answered.returncode == 0 and answered.stderr == ""


def test_a_run_can_be_read_as_json(tmp_path):
    reply = json.loads(app("run", "assistant", SUM, "--json", data=tmp_path / "data").stdout)
    assert reply["status"] == "completed" and reply["metrics"]["total_steps"] == 2
    assert [(step["tool"], step["action"], step["output"]) for step in reply["steps"]] == [
        ("calculator", "invoke", "5 + 10 = 15"),
        ("calculator", "invoke", "15 * 3 = 45"),
    ]


@pytest.mark.skipif(os.name != "posix", reason="pipes that break say so on POSIX")
def test_a_reader_that_goes_away_ends_it_without_a_word(tmp_path):
    with subprocess.Popen(
        [*command(tmp_path), "run", "assistant", SUM],
        cwd=ROOT,
        env=plain_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()
        said = running.stderr.read()
    assert (running.returncode, said) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that takes nothing is a part of Linux")
def test_where_what_it_prints_cannot_be_written_it_says_so(tmp_path):
    for arguments in (["run", "assistant", SUM], ["export", "none", "--output", "-"], ["key", "create", "full"]):
        with Path("/dev/full").open("w") as full:
            ended = subprocess.run(
                [*command(tmp_path), *arguments],
                cwd=ROOT,
                env=plain_environment(),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert ended.returncode == 1 and "Traceback" not in ended.stderr


@pytest.mark.skipif(os.name != "posix", reason="a shell closes streams on POSIX")
def test_streams_that_were_closed_are_no_trouble_for_a_run(tmp_path):
    ended = subprocess.run(
        [*CLOSED, *command(tmp_path), "run", "assistant", SUM], cwd=ROOT, env=plain_environment(), check=False
    )
    assert ended.returncode == 0


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Linux tells what a number stands for")
def test_no_file_of_the_app_takes_the_place_of_a_stream_that_was_closed(tmp_path):
    options = ("--no-browser", "--port", str(free_port()))
    with subprocess.Popen([*CLOSED, *command(tmp_path), *options], cwd=ROOT, env=plain_environment()) as process:
        wait_until(lambda: running_app(tmp_path / "data"))
        streams = [str(Path(f"/proc/{process.pid}/fd/{number}").readlink()) for number in range(3)]
        process.terminate()
    assert streams == [os.devnull] * 3


@pytest.mark.skipif(os.name != "posix", reason="elsewhere every path is text")
@pytest.mark.parametrize("arguments", [("run", "assistant", "hi"), ("--no-browser",)])
def test_a_data_folder_whose_path_is_no_text_is_refused_by_name(tmp_path, arguments):
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/\xff"))
    refused = app(*arguments, data=folder)
    assert refused.returncode == 1 and "\\udcff" in refused.stderr and "Traceback" not in refused.stderr
    assert not folder.exists()


def test_an_unknown_agent_is_named_with_those_there_are(tmp_path):
    refused = app("run", "nobody", "hi", data=tmp_path / "data")
    assert refused.returncode == 1 and "nobody" in refused.stderr and "assistant" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_empty_message_is_refused_in_words(tmp_path):
    refused = app("run", "assistant", "  ", data=tmp_path / "data")
    assert refused.returncode == 1 and "empty" in refused.stderr and "Traceback" not in refused.stderr


def test_with_the_app_up_a_run_goes_through_it(serving):
    answered = app("run", "assistant", SUM, data=serving.data)
    assert "45" in answered.stdout and answered.returncode == 0
    failed = app("run", "assistant", "Fail with invalid key", "--json", data=serving.data)
    assert failed.returncode == 1 and "ended as failed" in failed.stderr
    assert json.loads(failed.stdout)["failure"] == "invalid_key"
    unknown = app("run", "mein café", SUM, data=serving.data)
    assert unknown.returncode == 1 and "There is no agent 'mein café'. Agents: " in unknown.stderr


def test_a_second_start_names_the_first_and_ends_well(serving):
    second = app("--no-browser", data=serving.data)
    assert second.returncode == 0 and serving.address in second.stdout


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_the_process_ends_cleanly_and_soon_when_told(serving, told):
    page = urllib.request.Request(serving.url, headers={"Authorization": f"Bearer {serving.token}"})
    with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(page, timeout=5):
        pass
    began = time.monotonic()
    os.kill(serving.pid, told)
    assert serving.ended() == 0 and time.monotonic() - began < SOON
    assert "Traceback" not in serving.log
    serving.start()


def test_a_port_in_use_is_named(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = app("--no-browser", "--port", str(port), data=tmp_path / "data")
    assert refused.returncode == 1 and f"Port {port} is in use" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_data_folder_that_is_a_file_is_named(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    refused = app("--no-browser", data=path)
    assert refused.returncode == 1 and str(path) in refused.stderr and "Traceback" not in refused.stderr


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes to read-only folders too")
def test_a_read_only_data_folder_is_named(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o500)
    refused = app("--no-browser", data=folder)
    assert refused.returncode == 1 and str(folder) in refused.stderr and "Traceback" not in refused.stderr


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_only_the_owner_may_read_the_token(serving):
    holding = [
        path for path in serving.data.rglob("*") if path.is_file() and serving.token in path.read_text("latin-1")
    ]
    assert holding == [serving.data / "lock"] and stat.S_IMODE(holding[0].stat().st_mode) == 0o600


def test_the_token_is_another_one_at_each_start(serving):
    (serving.data / "token").write_text(before := serving.token)
    serving.restart()
    listed = urllib.request.Request(f"{serving.url}/api/v1/runs", headers={"X-API-Key": before})
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(listed, timeout=5)
    assert not (serving.data / "token").exists(), "an earlier version kept it there"


def test_the_version_is_printed():
    assert app("--version").stdout.startswith("Agent Playground ")
