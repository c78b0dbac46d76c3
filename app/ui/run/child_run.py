"""The runs below one: their steps where they were started, and their spans among its own."""

import asyncio
from collections.abc import Sequence
from functools import partial

from nicegui import events, ui

from app.domain.errors import WorkbenchError
from app.domain.events import Entry, NodeStarted, ToolCalled
from app.domain.trace import began_at, inner_call
from app.domain.trace.children import children
from app.domain.trace.parts import SpanPart
from app.domain.trace.waterfall import Span, waterfall
from app.ui.apps.showing import views_of
from app.ui.conversation.task_line import task_state
from app.ui.elements.addresses import run_address
from app.ui.elements.format import dollars, head
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.status_pill import status_pill
from app.ui.run.card_context import CardContext
from app.ui.run.timeline import Timeline
from app.ui.run.trace_growth import RunSoFar
from app.workbench import Workbench

LOOK_SECONDS = 0.5
SHORT = 20
"""Cards of a child run up to which all are shown."""
MOST_PARTS = 50
"""Runs below one whose spans are shown among its own."""
MOST_ENTRIES = 20_000
"""Entries of all of those together."""
DEEPEST = 8


class ChildRun(ui.element):
    """A line that says how a child run stands, and opens into its steps; they are read when it is first opened."""

    def __init__(self, workbench: Workbench, above: str, run_id: str) -> None:
        super().__init__("details")
        self._workbench = workbench
        self._above = above
        self._run = RunSoFar(run_id)
        self._timeline: Timeline | None = None
        self._open = False
        self._is_due = True
        """Whether its steps may be others than those that are shown."""
        self.classes("child-run").props("data-testid=child-steps")
        with self:
            with ui.element("summary"):
                self._line = LiveHtml()
            self._place = ui.element("div").classes("child-run-steps stack")
            self._timer = ui.timer(LOOK_SECONDS, self._look, immediate=False)
        self._show_line()
        self.on("toggle", self._turned, js_handler="(event) => emit(event.target.open)")

    async def _turned(self, event: events.GenericEventArguments) -> None:
        self._open = bool(event.args)
        await self._look()

    async def _look(self) -> None:
        alive = self._show_line()
        self._is_due = self._is_due or alive
        if self._open and self._is_due:
            self._is_due = alive or not await self._show_steps(alive=alive)
        self._timer.active = alive

    def _show_line(self) -> bool:
        """Say how it stands; whether it goes on."""
        state = task_state(self._workbench, self._run.run_id)
        if state is None:
            begins = self._workbench.runs.live(self._above) is not None  # its row is on its way
            self._line.show(
                tag("span", "Its run begins." if begins else "Its run is not stored any more.", cls="faint")
            )
            return begins
        cost = dollars(state.cost, unpriced=state.unpriced)
        words = tag("span", head(state.request, 120), cls="truncate grow")
        self._line.show(
            joined(
                icon("account_tree"),
                tag("strong", "Child run"),
                words,
                status_pill(state.status),
                tag("span", cost, cls="faint"),
            )
        )
        return state.status in ("running", "paused")

    async def _show_steps(self, *, alive: bool) -> bool:
        """Whether they could be read."""
        try:
            entries = (await self._workbench.runs.trace(self._run.run_id)).entries
        except WorkbenchError as problem:
            self._line.show(tag("span", str(problem), cls="is-bad"))
            return False
        self._run.take(entries[len(self._run.entries) :])
        if self._timeline is None:
            with self._place:
                ui.link("Open its run", run_address(self._run.run_id)).classes("session-link")
                context = card_context(self._workbench, self._run, nested=True)
                self._timeline = Timeline(self._run, context, wanted=None, on_choose=lambda _: None, short=SHORT)
        self._timeline.show(alive=alive)
        return True


def card_context(workbench: Workbench, run: RunSoFar, *, nested: bool = False) -> CardContext:
    """For cards of that run; `nested` ones stand within those of another one: they lead to its own page, where more can
    be done.
    """
    state, child = partial(task_state, workbench), partial(ChildRun, workbench, run.run_id)
    apps_of = partial(workbench.views.runs_of, run.run_id)
    show_view = None if nested else views_of(workbench, None, run.run_id, live=False)
    return CardContext(run, workbench.contents, state, child, apps_of, nested, show_view)


class Parts:
    """The runs below one as parts of its waterfall, read again where they have got on."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._left = MOST_PARTS, MOST_ENTRIES
        self.left_out = 0
        """Runs whose spans are not shown, as they are too many."""

    def stamp(self, run_id: str) -> tuple[object, ...]:
        """Changes whenever one of them begins, gets on or ends."""
        rows = self._workbench.runs.lists.below(run_id)
        return tuple((row.run_id, row.status, row.model_calls, row.tool_calls) for row in rows)

    async def whole(self, run_id: str, entries: Sequence[Entry]) -> SpanPart:
        """The run with the parts below it."""
        self._left, self.left_out = (MOST_PARTS, MOST_ENTRIES), 0
        return await self._part(run_id, entries, depth=0)

    async def _part(self, run_id: str, entries: Sequence[Entry], *, depth: int) -> SpanPart:
        spans, started = await asyncio.to_thread(_spans, entries)
        below: dict[int, list[SpanPart]] = {}
        for child, seq in started:
            if (part := await self._child(child, depth + 1)) is not None:
                below.setdefault(seq, []).append(part)
        return SpanPart(run_id, began_at(entries), spans, below)

    async def _child(self, run_id: str, depth: int) -> SpanPart | None:
        parts, room = self._left
        try:
            entries = tuple((await self._workbench.runs.trace(run_id)).entries) if parts and depth <= DEEPEST else ()
        except WorkbenchError:
            return None
        if not entries or len(entries) > room:
            self.left_out += 1
            return None
        self._left = parts - 1, room - len(entries)
        return await self._part(run_id, entries, depth=depth)


def _spans(entries: Sequence[Entry]) -> tuple[list[Span], list[tuple[str, int]]]:
    """The spans of a run, and the runs that it started, each with the entry of the call or node that did."""
    called = {
        inner_call(entry.event.call_id, entry.event.attempt)
        if isinstance(entry.event, NodeStarted)
        else entry.event.call_id: entry.seq
        for entry in entries
        if isinstance(entry.event, ToolCalled | NodeStarted)
    }
    return waterfall(entries), [(one.run_id, called[one.call_id]) for one in children(entries) if one.call_id in called]
