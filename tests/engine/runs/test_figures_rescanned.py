"""Daily figures after runs, kills, deletions, imports and forks: they equal those told anew from every trace."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as some

from app.domain.events import Forked, MessageAdded, ModelReturned, RunStarted, ToolReturned
from app.domain.forks.forks import ForkPlan
from app.domain.provenance import Trigger
from app.domain.trace.fork_points import fork_points
from app.domain.trace.tallies import UNCOUNTED
from app.domain.usage.figures import Cell, Figures, UsageKey
from app.domain.usage.query import UsageQuery
from app.engine.run.run import Run
from tests.api.over import opened
from tests.waiting import until

PAGE = Trigger(kind="page")
ALL = UsageQuery()
SUM, STORY, TASK = "What is 5 + 10, then multiply by 3?", "Tell me a long story", "Spawn a task that calculates 5 + 10"
HAPPENINGS = ("run", "task", "queue", "stop", "fork", "delete", "restore", "import", "kill", "resume", "close")
EACH = [("run", 0), ("queue", 0), ("fork", 0), ("queue", 1), ("fork", 1), ("import", 1), ("kill", 0), ("task", 0),
        ("delete", 1), ("resume", 0), ("fork", 2), ("kill", 0), ("stop", 0), ("restore", 0), ("close", 0),
        ("kill", 1)]  # fmt: skip


class App:
    """An app whose runs a person starts, forks, imports and deletes, and that is killed now and then."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._starts = folder, 0
        self._imported: set[str] = set()

    async def begin(self, before: Path | None = None) -> None:
        """Start it, on what a kill has left of `before`."""
        self._starts += before is not None
        place = self._folder / str(self._starts)
        if before is not None:
            # What is looked up in the cache is no figure, and its files come and go while they are copied.
            shutil.copytree(before, place / "data", ignore=shutil.ignore_patterns("lock", "cache"))
        self.workbench = opened(place)
        await self.workbench.start()
        await self.workbench.warm()

    async def meet(self, happening: str, chosen: int) -> None:
        rows, runs = self.workbench.rows, self.listed()
        match happening:
            case "run" | "task":
                slug, text = ("coordinator", TASK) if happening == "task" else ("assistant", SUM)
                await self.ended(await self.sent(slug, text))
            case "queue":
                await self.queue(breaks_in=chosen % 2 == 1)
            case "stop":
                live = await self.writing()
                await self.workbench.pauses.stop(live.run_id)
                await self.ended(live)
            case "kill":
                live = await (self.between_two_answers() if chosen % 2 else self.writing())
                await live.recorder.flush()
                left, killed = self.workbench, self.workbench.data.path
                await self.begin(killed)
                await left.close()
            case "close":
                await self.workbench.close()
                await self.begin()
            case "restore":
                await rows.restore(await self.known())
            case _ if not runs:
                return
            case "delete":
                await rows.delete([runs[chosen % len(runs)]])
            case "import":
                bundle = await self.workbench.exports.export(runs[chosen % len(runs)], "bundle")
                self._imported.add(await self.workbench.exports.import_bundle(bundle.content))
            case "fork":
                await self.fork(runs[chosen % len(runs)], chosen)
            case "resume":
                for row in (await self.workbench.runs.left())[:1]:
                    await self.ended(await self.workbench.chat.resume(row.run_id))

    async def fork(self, run_id: str, chosen: int) -> None:
        entries = (await self.workbench.runs.trace(run_id)).entries
        if run_id not in self._imported and (points := [place - 1 for place in fork_points(entries)]):
            plan = ForkPlan(seq=points[chosen % len(points)])
            await self.ended(await self.workbench.forks.start(run_id, plan, trigger=PAGE))

    async def queue(self, *, breaks_in: bool) -> None:
        """Let a message wait for the end of a run, or until somebody sends it in the middle of it."""
        live, queue = await self.writing(), self.workbench.queue
        message = await queue.add(live.started.session_id, SUM)
        if breaks_in:
            await queue.send_now(live.started.session_id, message.id)
        await self.ended(live)
        await until(lambda: not self.workbench.sessions.get(live.started.session_id).queue)
        await until(lambda: not self.workbench.runs.live_runs())

    async def sent(self, slug: str, text: str) -> Run:
        session = await self.workbench.chat.new_session(self.workbench.agents.by_slug(slug).id)
        return await self.workbench.chat.send(session.id, text, trigger=PAGE)

    async def writing(self) -> Run:
        """A run in the middle of its answer."""
        live = await self.sent("assistant", STORY)
        await until(lambda: live.draft)
        return live

    async def between_two_answers(self) -> Run:
        """A run that has an answer, and is about to ask again, or to end."""
        live = await self.sent("assistant", SUM)
        await until(lambda: any(isinstance(entry.event, ModelReturned) for entry in live.entries))
        return live

    async def ended(self, live: Run) -> None:
        await live.ended()
        await until(lambda: not self.workbench.runs.live_runs())

    def listed(self) -> list[str]:
        """Those that are not deleted."""
        return [run_id for run_id, _ in self.workbench.rows.stamps()]

    async def known(self) -> list[str]:
        return await self.workbench.data.traces.ids()

    async def cells(self) -> dict[UsageKey, Figures]:
        await self.workbench.usage.ready()
        found: list[Cell] = await self.workbench.usage.ever()
        return dict(found)

    async def told_by_traces(self) -> tuple[int, int, int, int, int]:
        """Runs, answers of models, tokens, tool calls and messages that had waited, of all that ran here.

        From the events alone.
        """
        runs = answers = tokens = calls = waited = 0
        for run_id in await self.known():
            events = [entry.event for entry in (await self.workbench.data.traces.read(run_id)).entries]
            if isinstance(events[0], RunStarted) and events[0].imported is not None:
                continue
            runs += 1
            own = max((place for place, one in enumerate(events) if isinstance(one, Forked)), default=0)
            for event in events[own:]:
                if isinstance(event, ModelReturned):
                    answers, tokens = answers + 1, tokens + event.usage.total_tokens
                calls += isinstance(event, ToolReturned) and event.result.status not in UNCOUNTED
                waited += isinstance(event, MessageAdded) and bool(event.waited_ms)
        return runs, answers, tokens, calls, waited


async def go_through(happened: list[tuple[str, int]], folder: Path) -> None:
    app = App(folder)
    await app.begin()
    try:
        for happening, chosen in happened:
            await app.meet(happening, chosen)
        kept = await app.cells()
        whole = await app.workbench.usage.totals(ALL)
        told = whole.runs, sum(whole.times.values()), whole.tokens, whole.tool_calls, whole.queued
        assert sum(whole.waits.values()) == whole.queued
        assert told == await app.told_by_traces()
        await app.workbench.told_again.all()
        assert kept == await app.cells(), "they are not those told anew from all traces"
    finally:
        await app.workbench.close()


@settings(max_examples=4, deadline=None)
@example(EACH)
@given(some.lists(some.tuples(some.sampled_from(HAPPENINGS), some.integers(0, 9)), max_size=10))
def test_figures_equal_those_told_anew_from_every_trace(happened: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(go_through(happened, Path(folder)))
