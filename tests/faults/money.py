"""Limits that hold: runs side by side under one money ceiling, and what is still called after any limit.

The provider is a fake over HTTP with a price of its own; one that keeps to the longest answer it was allowed, and one
that sends a bill for two fifths more.
"""

import asyncio
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.domain.agents import Limits, Parameters, PromptBehaviour, ToolChoice, new_agent
from app.domain.events import Entry, LimitReached, ModelCalled, ToolCalled
from app.engine.run.run import Run
from app.engine.run.stopwatch import SystemClock
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.llm.directory import ModelDirectory
from app.llm.providers.catalog import Catalog
from app.store.folder.folder import DataFolder
from tests.builtin_tools import builtin_registry
from tests.fakes.openai import USAGE, FakeOpenAI
from tests.figures import Figure

RUNS = 10
CALLS = 5
"""Model calls that each run would make."""
MODEL = f"calls-{CALLS - 1}"
PRICE = 0.01
"""US dollars for a token of an answer; a prompt costs nothing, so that a bill is known to the cent."""
TOKENS = USAGE["completion_tokens"]
BILLED = TOKENS * PRICE
CEILING = 1.0


@dataclass
class Playground:
    """The parts that run agents, with one provider."""

    data: DataFolder
    chat: Chat
    runs: Runs

    async def close(self) -> None:
        await self.runs.close()
        await self.data.close()


def opened(folder: Path, base: str) -> Playground:
    folder.mkdir()
    prices = folder / "prices.json"
    record = {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 0, "output_cost_per_token": PRICE}
    prices.write_text(json.dumps({MODEL: record}))
    data, registry = DataFolder.open(folder / "data"), builtin_registry()
    keys = {"OPENAI_API_KEY": "sk-none", "OPENAI_BASE_URL": base}
    models = ModelDirectory(Catalog(prices), data.artifacts.get, keys=lambda name: keys.get(name, ""))
    runs = Runs(data.traces, data.rows, models, registry, data.artifacts, SystemClock())
    return Playground(data, Chat(data.agents, data.sessions, runs, registry), runs)


async def run() -> list[Figure]:
    async with FakeOpenAI() as fake:
        with tempfile.TemporaryDirectory() as temporary:
            return [
                await side_by_side(Path(temporary) / "honest", fake, TOKENS, "a provider that bills as allowed"),
                await side_by_side(Path(temporary) / "greedy", fake, TOKENS - 2, "one that bills 40 % more"),
                await after_limits(Path(temporary) / "limits", fake),
            ]


async def side_by_side(folder: Path, fake: FakeOpenAI, max_tokens: int, name: str) -> Figure:
    """Ten runs at once under a ceiling for the day that holds a third of what they would cost."""
    playground = opened(folder, fake.base)
    limits = Limits(day_cost=CEILING, run_cost=CEILING, repeats=0)
    lives = await started(playground, limits, RUNS, max_tokens)
    in_flight = await most_in_flight(playground, lives)
    asked = sum(total(live.entries, ModelCalled) for live in lives)
    spent = playground.runs.ledger.day_cost()
    over = max(0.0, spent - CEILING)
    bar = BILLED if max_tokens * PRICE >= BILLED else in_flight * BILLED
    limited = sum(live.status == "limited" for live in lives)
    value = f"${over:.2f} over ${CEILING:.2f} by {RUNS} runs, {asked} of {RUNS * CALLS} calls made, {in_flight} at once"
    await playground.close()
    return Figure(f"overshoot of a money ceiling, {name}", value, f"<= ${bar:.2f}", over <= bar + 1e-9 and limited > 0)


async def started(playground: Playground, limits: Limits, number: int, max_tokens: int) -> list[Run]:
    behaviour = PromptBehaviour(
        model=f"openai/{MODEL}",
        tools=(ToolChoice(name="calculator"),),
        limits=limits,
        parameters=Parameters(max_tokens=max_tokens),
    )
    slugs = playground.data.agents.slugs()
    agent = await playground.data.agents.create(new_agent("Spender", behaviour, taken_slugs=slugs))
    sessions = [await playground.chat.new_session(agent.id) for _ in range(number)]
    return await asyncio.gather(*(playground.chat.send(session.id, "count") for session in sessions))


async def most_in_flight(playground: Playground, lives: list[Run]) -> int:
    """Wait for the end of all; how many calls were being made at once, at most."""
    ended = asyncio.gather(*(live.ended() for live in lives))
    most = 0
    while not ended.done():
        most = max(most, sum(live.budget.account.reserved > 0 for live in lives))
        await asyncio.sleep(0.001)
    return most


async def after_limits(folder: Path, fake: FakeOpenAI) -> Figure:
    """One run into each limit: what it calls once the limit is reached."""
    playground = opened(folder, fake.base)
    ways = {
        "steps": Limits(max_steps=2, repeats=0),
        "run_tokens": Limits(run_tokens=40, repeats=0),
        "run_cost": Limits(run_cost=0.2, repeats=0),
        "session_cost": Limits(session_cost=0.2, repeats=0),
        "day_cost": Limits(day_cost=0.2, repeats=0),
        "result_size": Limits(result_size=3, repeats=0),
        "time": Limits(total_time=0.001),
    }
    late, wrong = 0, []
    for name, limits in ways.items():
        before = fake.seen.hits[MODEL]
        [live] = await started(playground, limits, 1, TOKENS)
        await live.ended()
        reached = [entry for entry in live.entries if isinstance(entry.event, LimitReached)]
        if [entry.event.limit for entry in reached] != [name] or live.status != "limited":
            wrong.append(name)
            continue
        late += total(live.entries[reached[0].seq :], ModelCalled, ToolCalled)
        late += max(0, fake.seen.hits[MODEL] - before - total(live.entries, ModelCalled))
    await playground.close()
    value = f"{late} after {len(ways)} limits" + (f"; not reached: {', '.join(wrong)}" if wrong else "")
    return Figure("calls after a limit", value, "0", late == 0 and not wrong)


def total(entries: list[Entry], *kinds: type) -> int:
    return sum(isinstance(entry.event, kinds) for entry in entries)
