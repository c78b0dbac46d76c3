"""What P6 measures against: servers of the same agent in processes of their own, and what a run of each takes."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from tests.app_process import ROOT, free_port, plain_environment
from tests.waiting import wait_until

AGENTS = Path(__file__).parent / "adk_agents"
ADK = ROOT / "build" / "adk"
PINS = ("google-adk==2.12.0", *(f"{name}=={version(name)}" for name in ("litellm", "mcp")))
"""LiteLLM in the version that we have; it imports `mcp` when it is asked with tools, and ADK does not bring it."""
QUESTION = "Count to ten."
ANSWER = "Done after 10 sums."
START_SECONDS = 60


class AdkNotHere(Exception):
    """ADK cannot be installed; the message says why, in a few words."""


@contextmanager
def bare_loop(model: str, environment: Mapping[str, str]) -> Iterator[httpx.Client]:
    """A client of LiteLLM behind FastAPI, in the versions that we have."""
    port = free_port()
    with _serving([sys.executable, "-m", "tests.bench.bare_loop", str(port), model], port, environment) as client:
        yield client


@contextmanager
def adk_server(agents: Path, model: str, environment: Mapping[str, str]) -> Iterator[httpx.Client]:
    """A client of ADK's API server as it comes; it keeps its sessions in the folder of its agents."""
    port = free_port()
    command = [str(ADK / "bin" / "adk"), "api_server", "--port", str(port), str(agents)]
    with _serving(command, port, {**environment, "BENCH_MODEL": model}) as client:
        yield client


def install_adk() -> None:
    """ADK and LiteLLM in an environment of their own, the first time. Raises `AdkNotHere`."""
    installed = ADK / "installed.txt"
    if installed.exists() and installed.read_text() == "\n".join(PINS):
        return
    python = ADK / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(ADK)],
        [str(python), "-m", "pip", "install", "--quiet", "--no-input", "--only-binary", ":all:", *PINS],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AdkNotHere(f"{PINS[0]} cannot be installed: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    installed.write_text("\n".join(PINS))


def ours(client: httpx.Client) -> float:
    """Milliseconds of a run, from the POST to its JSON; the same of the others."""
    began = time.perf_counter()
    run = client.post("/api/v1/agents/sums/run", json={"input": QUESTION}).json()["data"]
    taken = time.perf_counter() - began
    assert (run["output_text"], len(run["steps"])) == (ANSWER, 10), run
    return taken * 1000


def bare_streaming(client: httpx.Client) -> float:
    return _bare(client, "/run")


def bare_whole(client: httpx.Client) -> float:
    return _bare(client, "/run_whole")


def adk(client: httpx.Client) -> float:
    """The session is there before, since ADK wants it to be."""
    session = client.post("/apps/sums/users/bench/sessions", json={}).json()["id"]
    message = {"role": "user", "parts": [{"text": QUESTION}]}
    asked = {"appName": "sums", "userId": "bench", "sessionId": session, "newMessage": message}
    began = time.perf_counter()
    events: list[dict[str, Any]] = client.post("/run", json=asked).json()
    taken = time.perf_counter() - began
    parts = [part for event in events for part in event["content"]["parts"]]
    assert (parts[-1]["text"], sum("functionResponse" in part for part in parts)) == (ANSWER, 10), events[-1]
    return taken * 1000


def _bare(client: httpx.Client, path: str) -> float:
    began = time.perf_counter()
    run = client.post(path, json={"input": QUESTION}).json()
    taken = time.perf_counter() - began
    assert run == {"output_text": ANSWER, "steps": 10}
    return taken * 1000


@contextmanager
def _serving(command: list[str], port: int, environment: Mapping[str, str]) -> Iterator[httpx.Client]:
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=plain_environment() | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: process.poll() is not None or _answers(address), seconds=START_SECONDS)
        assert process.poll() is None, f"{command} ended with {process.returncode}"
        with httpx.Client(base_url=address, timeout=60) as client:
            yield client
    finally:
        process.terminate()
        process.wait(10)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
