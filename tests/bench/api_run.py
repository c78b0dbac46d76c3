"""P6: a run with 10 tool calls on a provider that answers at once, POST in, JSON out, against what others make of it.

Our run is durable in all its steps; the loop and the frameworks keep nothing, ADK its sessions in SQLite, as it comes.
What is compared with the bar is a loop that streams the answers, as the frameworks do and our runs: so they can be
watched and stopped. The loop that asks for each answer in one piece, at about half the cost to LiteLLM, is named beside
it. ADK asks for whole answers. Every rival has an environment of its own, made below `build` the first time.
"""

import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from operator import truediv
from pathlib import Path

import httpx

from tests.app_process import AppProcess
from tests.bench import rivals
from tests.bench.provider import provider
from tests.figures import Figure

ROUNDS = 40
WARM_UP = 5
MODEL = "openai/sums-10-0"
NAME = "P6 run with 10 tool calls over the API"

Taken = dict[str, list[float]]
"""Milliseconds of each round, by who ran it."""


def run(rounds: int = ROUNDS, *, warm_up: int = WARM_UP, with_rivals: bool = True) -> list[Figure]:
    """The runs of all take turns; a ratio is the median of those within each round."""
    environments = {**rivals.FRAMEWORKS, "adk": rivals.ADK}
    why_not = {name: _why_not(one) if with_rivals else "not asked for" for name, one in environments.items()}
    own = with_rivals and not _why_not(rivals.BARE_LOOP)
    python = rivals.BARE_LOOP.python if own else Path(sys.executable)
    with ExitStack() as stack:
        address, folder = stack.enter_context(provider()), Path(stack.enter_context(tempfile.TemporaryDirectory()))
        local = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # or LiteLLM asks the network for prices at its start
        environment = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-bench", **local}
        bare = stack.enter_context(rivals.bare_loop(python, MODEL, environment))
        runners = {
            "ours": partial(rivals.ours, _app(stack, folder, environment)),
            "bare": partial(rivals.streaming, bare),
            "whole": partial(rivals.whole, bare),
        }
        there = [name for name, why in why_not.items() if not why]
        runners |= {name: _rival(stack, name, folder, environment) for name in there}
        taken = _taken(runners, rounds, warm_up)
    where = "an environment of its own" if own else "our environment"
    against = (_against(taken, name, environments[name].pins[0], why) for name, why in why_not.items())
    return [_against_bare(taken, where), *against]


def _why_not(environment: rivals.Environment) -> str:
    try:
        environment.install()
    except rivals.NotInstalled as reason:
        return str(reason)
    return ""


def _rival(stack: ExitStack, name: str, folder: Path, environment: Mapping[str, str]) -> Callable[[], float]:
    """What runs the agent once in this framework."""
    if name == "adk":
        agents = shutil.copytree(rivals.AGENTS, folder / "adk_agents")
        return partial(rivals.adk, stack.enter_context(rivals.adk_server(agents, MODEL, environment)))
    model = MODEL.partition("/")[2]
    return partial(rivals.streaming, stack.enter_context(rivals.framework(name, model, environment)))


def _app(stack: ExitStack, folder: Path, environment: Mapping[str, str]) -> httpx.Client:
    """A client of the app, which has an agent for the runs."""
    app = AppProcess(folder / "data", environment=dict(environment))
    app.start()
    stack.callback(app.stop)
    headers = {"Authorization": f"Bearer {app.token}"}
    client = stack.enter_context(httpx.Client(base_url=app.url, headers=headers, timeout=60))
    provider_name, model = MODEL.split("/")
    agent = {"name": "Sums", "provider": provider_name, "model": model, "tools": ["calculator"]}
    client.post("/api/v1/agents", json={**agent, "config": {"max_steps": 20}}).raise_for_status()
    return client


def _taken(runners: Mapping[str, Callable[[], float]], rounds: int, warm_up: int) -> Taken:
    names = list(runners)
    taken: Taken = {name: [] for name in names}
    for number in range(-warm_up, rounds):
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            milliseconds = runners[name]()
            if number >= 0:
                taken[name].append(milliseconds)
    return taken


def _against_bare(taken: Taken, where: str) -> Figure:
    ratio = _ratio(taken, "bare")
    streaming, whole = _medians(taken, "bare"), f"{_ratio(taken, 'whole'):.2f}"
    value = f"{ratio:.2f} × ({streaming}, in {where}; {whole} × one that does not stream)"
    return Figure(f"{NAME}, against a bare LiteLLM loop", value, "<= 0.4 ×", ratio <= 0.4)


def _against(taken: Taken, rival: str, package: str, why_not: str) -> Figure:
    name = f"{NAME}, against {package.replace('==', ' ')}"
    if why_not:
        return Figure(name, why_not, "< 1 ×", None)
    ratio, bare = _ratio(taken, rival), statistics.median(map(truediv, taken[rival], taken["bare"]))
    value = f"{ratio:.2f} × ({_medians(taken, rival)}, which is {bare:.2f} × the bare loop)"
    return Figure(name, value, "< 1 ×", ratio < 1)


def _ratio(taken: Taken, other: str) -> float:
    return statistics.median(our / their for our, their in zip(taken["ours"], taken[other], strict=True))


def _medians(taken: Taken, other: str) -> str:
    return f"{statistics.median(taken['ours']):.0f} ms against {statistics.median(taken[other]):.0f}"
