"""What P6 measures against: servers of the same agent in processes of their own, and what a run of each takes."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from tests.app_process import ROOT, free_port, plain_environment
from tests.waiting import wait_until

AGENTS = Path(__file__).parent / "adk_agents"
QUESTION = "Count to ten."
ANSWER = "Done after 10 sums."
START_SECONDS = 60


class NotInstalled(Exception):
    """An environment cannot be made; the message says why, in a few words."""


@dataclass(frozen=True)
class Environment:
    """A Python environment below `build` with these packages alone."""

    name: str
    pins: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return ROOT / "build" / self.name

    def install(self) -> None:
        """Make it, the first time. Raises `NotInstalled`."""
        installed = self.folder / "installed.txt"
        if installed.exists() and installed.read_text() == "\n".join(self.pins):
            return
        install = ["-m", "pip", "install", "--quiet", "--no-input", "--only-binary", ":all:", *self.pins]
        for command in ([sys.executable, "-m", "venv", "--clear", str(self.folder)], [str(self.python), *install]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                last_words = (done.stderr.strip().splitlines() or ["?"])[-1]
                raise NotInstalled(f"{self.pins[0]} cannot be installed: {last_words}")
        installed.write_text("\n".join(self.pins))

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"


def _ours(*names: str) -> tuple[str, ...]:
    """These packages in the versions that we have; `package[extra]` may be named."""
    return tuple(f"{name}=={version(name.partition('[')[0])}" for name in names)


_SERVER = _ours("fastapi", "uvicorn[standard]")
ADK = Environment("adk", ("google-adk==2.12.0", *_ours("litellm", "mcp")))
BARE_LOOP = Environment("bare_loop", (*_ours("litellm", "mcp"), *_SERVER))
"""LiteLLM imports `mcp` when it is asked with tools, and neither ADK nor LiteLLM brings it."""

_OPENAI = "openai==3.54.0"
FRAMEWORKS = {
    "autogen": Environment("autogen", ("autogen-agentchat==0.7.5", "autogen-ext[openai]==0.7.5", _OPENAI, *_SERVER)),
    "langgraph": Environment(
        "langgraph", ("langgraph==1.2.22", "langchain==1.4.7", "langchain-openai==1.7.3", _OPENAI, *_SERVER)
    ),
    "openai_agents": Environment("openai_agents", ("openai-agents==0.24.0", _OPENAI, *_SERVER)),
    "pydantic_ai": Environment("pydantic_ai", ("pydantic-ai-slim[openai]==2.68.0", _OPENAI, *_SERVER)),
}
"""Those that `tests.bench.rival_agents.server` can run; all versions were at least a week old when they were chosen."""
SILENT = {"LANGSMITH_TRACING": "false", "OPENAI_AGENTS_DISABLE_TRACING": "1", "HTTPS_PROXY": "http://127.0.0.1:9"}
"""Nobody may be told of the runs: what a framework would send elsewhere ends where nothing listens."""


@contextmanager
def bare_loop(python: Path, model: str, environment: Mapping[str, str]) -> Iterator[httpx.Client]:
    """A client of LiteLLM behind FastAPI, in the versions that we have, run by this Python."""
    port = free_port()
    with _serving([str(python), "-m", "tests.bench.bare_loop", str(port), model], port, environment) as client:
        yield client


@contextmanager
def framework(name: str, model: str, environment: Mapping[str, str]) -> Iterator[httpx.Client]:
    """A client of one of `FRAMEWORKS` behind FastAPI, as it comes."""
    port = free_port()
    command = [str(FRAMEWORKS[name].python), "-m", f"{__package__}.rival_agents.server", name, str(port), model]
    with _serving(command, port, {**environment, **SILENT}) as client:
        yield client


@contextmanager
def adk_server(agents: Path, model: str, environment: Mapping[str, str]) -> Iterator[httpx.Client]:
    """A client of ADK's API server as it comes; it keeps its sessions in the folder of its agents."""
    port = free_port()
    command = [str(ADK.folder / "bin" / "adk"), "api_server", "--port", str(port), str(agents)]
    with _serving(command, port, {**environment, "BENCH_MODEL": model}) as client:
        yield client


def ours(client: httpx.Client) -> float:
    """Milliseconds of a run, from the POST to its JSON; the same of the others."""
    began = time.perf_counter()
    run = client.post("/api/v1/agents/sums/run", json={"input": QUESTION}).json()["data"]
    taken = time.perf_counter() - began
    assert (run["output_text"], len(run["steps"])) == (ANSWER, 10), run
    return taken * 1000


def streaming(client: httpx.Client) -> float:
    """A run of the loop, or of a framework."""
    return _timed(client, "/run")


def whole(client: httpx.Client) -> float:
    return _timed(client, "/run_whole")


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


def _timed(client: httpx.Client, path: str) -> float:
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
