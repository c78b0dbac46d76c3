"""R2: a fake provider acts in every way that real ones do, and each run ends in the outcome that the table names.

The whole engine is at work, with LiteLLM over HTTP, real traces and real tools. Only waiting for a retry takes no time
here; how long it would have been is part of the outcome.
"""

import tempfile
import time
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.domain.agents import Limits, PromptBehaviour, ToolChoice, new_agent
from app.domain.events import MessageAdded, ModelCalled, ToolCalled, ToolReturned
from app.domain.provenance import Trigger
from app.domain.trace import error_of
from app.engine.loop.asking import JITTER
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.llm.directory import ModelDirectory
from app.llm.litellm.direct import SWITCH
from app.llm.litellm.litellm_model import ensure_litellm
from app.llm.providers.catalog import Catalog
from app.store.folder.folder import DataFolder
from app.tools.function.tool import AnyTool, tool
from app.tools.registry import Registry
from tests.app_process import free_port
from tests.engine.conftest import QuickClock
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai import SECRET, FakeOpenAI
from tests.fakes.server import FakeServer
from tests.faults.ways import WAYS, Outcome, Way
from tests.figures import Figure

SPARE = 1.0
"""Seconds that a run may take beyond its idle timeouts, or what its way takes."""
LOADING = 60.0
"""Seconds that the first call of each route may take: it loads what it needs."""
PLAIN_WAITS = (1, 2, 30, 60, 120)
"""Seconds before a retry where the provider says nothing of it."""
COMPARED = 1000
"""Characters of a text that are compared; of a longer one its length is."""


BY_LITELLM_ALONE = ("gemini/",)
"""What has no other route; it is measured once."""


async def run(*, brief: bool = False) -> list[Figure]:
    """On each route to models."""
    ways = [way for way in WAYS if way.brief or not brief]
    both = [way for way in ways if not way.model.startswith(BY_LITELLM_ALONE)]
    await ensure_litellm()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(SWITCH, "direct")
        figures = await _figures(ways, f"{len(ways)} ways of a provider")
        environment.setenv(SWITCH, "litellm")
        return figures + await _figures(both, f"{len(both)} of them on LiteLLM's route")


async def _figures(ways: Collection[Way], what: str) -> list[Figure]:
    wrong, late = [], []
    with tempfile.TemporaryDirectory() as temporary:
        async with bench(Path(temporary) / "data") as workplace:
            for model in ("openai/ok", "gemini/ok"):  # one by each route
                await workplace.take(Way("warms up", model, WAYS[0].outcome, silence=LOADING))
            for way in ways:
                outcome, seconds = await workplace.take(way)
                if outcome != way.outcome:
                    wrong.append(f"{way.model}: {outcome}")
                if seconds > max(way.seconds, way.silence) + SPARE:
                    late.append(f"{way.model}: {seconds:.1f} s")
    return [
        _figure(f"R2 outcomes as in the table, {what}", wrong, len(ways)),
        _figure(f"R2 ends within its limit + {SPARE:g} s, {what}", late, len(ways)),
    ]


def _figure(name: str, failed: Collection[str], number: int) -> Figure:
    value = "; ".join([f"{number - len(failed)} of {number}", *failed])
    return Figure(name, value, "all", not failed)


@dataclass
class Bench:
    chat: Chat
    data: DataFolder
    clock: QuickClock
    fakes: list[FakeServer]

    async def take(self, way: Way) -> tuple[Outcome, float]:
        """How a run with that way ended, and the seconds it took."""
        self.clock.waits.clear()
        requests = self._requests()
        began = time.perf_counter()
        live = await self._run(way.model, way.silence)
        await live.ended()
        seconds = time.perf_counter() - began
        calls = [entry.event for entry in live.entries if isinstance(entry.event, ModelCalled)]
        sent = self._requests() - requests
        assert sent == len(calls) or way.model == "llamacpp/gone", f"{sent} requests, {len(calls)} in the trace"
        assert not any(SECRET in entry.model_dump_json() for entry in live.entries), "the key is in the trace"
        return _outcome(live, [_plain(wait) for wait in self.clock.waits]), seconds

    async def _run(self, model: str, silence: float) -> Run:
        behaviour = PromptBehaviour(
            system_prompt="Be short.",
            model=model,
            tools=(ToolChoice(name="f"), ToolChoice(name="g")),
            limits=Limits(idle_timeout=silence),
        )
        agents = self.data.agents
        agent = await agents.create(new_agent("Tester", behaviour, taken_slugs=agents.slugs()))
        session = await self.chat.new_session(agent.id)
        return await self.chat.send(session.id, "hi", trigger=Trigger(kind="terminal"))

    def _requests(self) -> int:
        return sum(
            number for fake in self.fakes for model, number in fake.seen.hits.items() if not model.startswith("/")
        )


def _plain(wait: float) -> int:
    """The seconds without the jitter."""
    return next((plain for plain in PLAIN_WAITS if plain <= wait <= plain * (1 + JITTER)), round(wait))


def _outcome(live: Run, waits: list[int]) -> Outcome:
    events = [entry.event for entry in live.entries]
    status = live.status
    assert status not in ("running", "paused", "interrupted")
    error = error_of(live.entries)
    said = [event.message.text for event in events if isinstance(event, MessageAdded) and event.origin == "model"]
    text = said[-1] if said else ""
    begun = {event.call_id for event in events if isinstance(event, ToolCalled)}
    return Outcome(
        status=status,
        failure=error.failure if error else None,
        text=text if len(text) <= COMPARED else f"{len(text)} characters",
        ran=tuple(
            f"{event.result.name} {event.result.status}"
            for event in events
            if isinstance(event, ToolReturned) and (event.call_id in begun or event.result.status != "cancelled")
        ),
        attempts=max(event.attempt for event in events if isinstance(event, ModelCalled)),
        waits=tuple(waits),
    )


@asynccontextmanager
async def bench(folder: Path) -> AsyncIterator[Bench]:
    """An engine whose providers are the fakes."""
    data = DataFolder.open(folder)
    clock, registry = QuickClock(), Registry(tools())
    async with AsyncExitStack() as stack:
        openai, anthropic, gemini, ollama = [
            await stack.enter_async_context(fake)
            for fake in (FakeOpenAI(), FakeAnthropic(), FakeGemini(), FakeOllama())
        ]
        keys = {
            "OPENAI_API_KEY": SECRET,
            "OPENAI_BASE_URL": f"{openai.url}/v1",
            "ANTHROPIC_API_KEY": SECRET,
            "ANTHROPIC_BASE_URL": anthropic.url,
            "GEMINI_API_KEY": SECRET,
            "GEMINI_BASE_URL": gemini.url,
            "OLLAMA_HOST": ollama.url,
            "LLAMACPP_URL": f"http://127.0.0.1:{free_port()}",
        }
        models = ModelDirectory(Catalog(), data.artifacts.get, keys=lambda name: keys.get(name, ""))
        runs = Runs(data.traces, data.rows, models, registry, data.artifacts, clock)
        fakes: list[FakeServer] = [openai, anthropic, gemini, ollama]
        yield Bench(Chat(data.agents, data.sessions, runs, registry), data, clock, fakes)
        await runs.close()
        await registry.close()
        await data.close()


def tools() -> list[AnyTool]:
    async def f(x: int = 0, y: int = 0) -> str:
        """Does one thing."""
        return f"f of {x} and {y}"

    async def g(x: int = 0, y: int = 0) -> str:
        """Does another thing."""
        return f"g of {x} and {y}"

    return [tool()(f), tool()(g)]
