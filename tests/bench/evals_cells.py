"""E3: an experiment of 300 cells on a provider that answers at once, against a plain loop over the same runs.

The loop begins as many runs at once, each in a session of its own, and really calls their tool; it keeps nothing else.
What an experiment adds is its cells, their record and their scores. Both take turns in one process.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable
from itertools import count
from pathlib import Path

from app.domain.messages import ToolCall
from tests.engine.experiments.trials import SLUG, Trials, calling
from tests.figures import Figure

CASES, REPEATS = 50, 6
AT_ONCE = 4
ROUNDS = 5
SCORERS = ({"type": "contains", "texts": ["3"]}, {"type": "trajectory"})
ADD = ToolCall(call_id="c1", name="add", arguments={"x": 1, "y": 2})
BEAT = 0.005  # seconds


async def run(cases: int = CASES, repeats: int = REPEATS, rounds: int = ROUNDS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        trials = await Trials.opened(Path(folder))
        try:
            await trials.agent("add")
            recorded = await trials.recorded()
            copies = [recorded.model_copy(update={"id": f"{recorded.id}{number}"}) for number in range(1, cases)]
            await trials.bench.collecting.add_all(trials.dataset, copies)
            trials.models.answers = calling(ADD)
            await _plain(trials, 20)
            return await _measured(trials, cases * repeats, repeats, rounds)
        finally:
            await trials.close()


async def _measured(trials: Trials, cells: int, repeats: int, rounds: int) -> list[Figure]:
    ratios, seconds, lags, live = [], [], [], 0
    for number in range(rounds):
        before = await _timed(_plain(trials, cells), []) if number % 2 == 0 else None
        trials.called.clear()
        tried = await _timed(_tried(trials, repeats, cells), lags)
        live += len(trials.called)
        plain = before or await _timed(_plain(trials, cells), [])
        ratios.append(tried / plain)
        seconds.append((tried, plain))
    ratio, (tried, plain) = statistics.median(ratios), map(statistics.median, zip(*seconds, strict=True))
    lag = 1000 * statistics.quantiles(lags, n=100)[-1]
    words = f"{ratio:.2f} × ({1000 * tried / cells:.1f} ms a cell against {1000 * plain / cells:.1f} a run)"
    return [
        Figure(f"E3 an experiment of {cells} cells, against a plain loop", words, "<= 1.25 ×", ratio <= 1.25),
        Figure("E3 live tool calls of a hermetic experiment", f"{live} of {rounds * cells} calls", "0", live == 0),
        Figure("E3 event-loop lag in an experiment, p99", f"{lag:.0f} ms", "< 100 ms", lag < 100),
    ]


async def _timed(work: Awaitable[None], lags: list[float]) -> float:
    """The seconds that it takes, while the loop's lag is watched: that takes time too, of both alike."""
    watch = asyncio.create_task(_beats(lags))
    began = time.perf_counter()
    await work
    watch.cancel()
    return time.perf_counter() - began


async def _plain(trials: Trials, runs: int) -> None:
    """So many runs of the agent, some of them at once."""
    agent, numbers = trials.bench.agents.by_slug(SLUG), count()

    async def one_after_the_other() -> None:
        while next(numbers) < runs:
            session = await trials.bench.chat.new_session(agent.id)
            await (await trials.bench.chat.send(session.id, "What is 1 + 2?")).ended()

    await asyncio.gather(*(one_after_the_other() for _ in range(AT_ONCE)))


async def _tried(trials: Trials, repeats: int, cells: int) -> None:
    experiment = await trials.planned(repeats=repeats, scorers=SCORERS, concurrency=AT_ONCE, ceiling_usd=0)
    await trials.bench.experimenting.start(experiment.id)
    while trials.bench.experimenting.is_live(experiment.id):  # noqa: ASYNC110  nothing tells of it
        await asyncio.sleep(10 * BEAT)
    progress = await trials.bench.experimenting.progress(experiment.id)
    assert progress.passed == cells, progress


async def _beats(lags: list[float]) -> None:
    """How much later than asked for the loop comes back, in seconds."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(BEAT)
        lags.append(max(0.0, time.perf_counter() - began - BEAT))
