"""P8: the event loop while 50 runs stream at 10 chunks a second, and while one streams at full speed."""

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

from app.domain.agents import Parameters, PromptBehaviour, new_agent
from app.engine.run.run import Run
from app.workbench import Workbench
from tests.bench.provider import provider
from tests.figures import Figure

RUNS = 50
SECONDS = 15


async def run(runs: int = RUNS, seconds: int = SECONDS) -> list[Figure]:
    with provider() as address, tempfile.TemporaryDirectory() as temporary:
        os.environ |= {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-bench"}
        workbench = Workbench.open(Path(temporary) / "data")
        await finish([await start(workbench, "openai/stream-40-0")])  # LiteLLM is imported by now
        many = await lag_during(workbench, [f"openai/stream-{seconds * 40}-10"] * runs)
        one = await lag_during(workbench, [f"openai/stream-{seconds * 13_000}-0"])
        await workbench.close()
    return [
        Figure(
            f"P8 loop lag p99, {RUNS} runs at 10 chunks a second", f"{p99(many):.0f} ms", "< 100 ms", p99(many) < 100
        ),
        Figure("P8 loop lag p99, one stream at full speed", f"{p99(one):.0f} ms", "< 50 ms", p99(one) < 50),
    ]


async def lag_during(workbench: Workbench, models: list[str]) -> list[float]:
    """Milliseconds that a wait of 5 ms took too long, again and again until all those runs have ended."""
    lags: list[float] = []
    probe = asyncio.create_task(probe_lag(lags))
    await finish([await start(workbench, model) for model in models])
    probe.cancel()
    return lags


async def probe_lag(lags: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.005)
        lags.append((time.perf_counter() - began - 0.005) * 1000)


async def start(workbench: Workbench, model: str) -> Run:
    behaviour = PromptBehaviour(model=model, parameters=Parameters(max_tokens=100_000))
    agent = await workbench.agents.create(new_agent("Bench", behaviour, taken_slugs=workbench.agents.slugs()))
    session = await workbench.chat.new_session(agent.id)
    return await workbench.chat.send(session.id, "go")


async def finish(live: list[Run]) -> None:
    for run in live:
        await run.ended()
        assert run.status == "completed", run.entries[-1]


def p99(lags: list[float]) -> float:
    return statistics.quantiles(lags, n=100)[-1]
