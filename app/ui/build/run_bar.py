"""A run on the canvas: the one that goes on, as it goes on, or one of the last, at any of its moments."""

import asyncio
from collections.abc import Callable, Sequence

from nicegui import events, ui

from app.domain.errors import WorkbenchError
from app.domain.events import Entry, NodeEnded, NodeStarted, RunStarted
from app.domain.trace import NodeRuns, RunFilter, RunRow, nodes
from app.domain.values import now
from app.engine.run.run import Run
from app.ui.conversation.open_pauses import OpenPauses
from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import icon_button
from app.ui.elements.focus import refocus
from app.ui.elements.format import duration, head, short_moment
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import notify
from app.ui.elements.status_pill import status_pill
from app.ui.elements.visible import visible
from app.ui.graph.node_words import STATES
from app.ui.graph.run_states import RunStates, Show
from app.ui.schema_form.simple import select_box
from app.workbench import Workbench

LOOK_SECONDS = 0.05
PAUSES_SECONDS = 0.5
LAST_RUNS = 12
THREAD_ENTRIES = 1000
"""Entries from which on to fold them takes longer than the event loop should wait."""


class RunBar(ui.element):
    """`show` gets what differs on the canvas, `on_run` is told whenever there is something new of the shown run."""

    def __init__(self, workbench: Workbench, agent_id: str, show: Show, *, on_run: Callable[[], None]) -> None:
        super().__init__("section")
        self._workbench, self._agent_id, self._on_run = workbench, agent_id, on_run
        self._states = RunStates(show)
        self._entries: Sequence[Entry] = ()
        self._offered: list[RunRow] = []
        self._followed = self._noticed = ""
        self._asked = 0
        """Counts what is asked to be shown: what comes late of an earlier wish is not shown any more."""
        self._at_end = True
        """Whether it goes on with the run; not while one is folded for an earlier moment, or for the first time."""
        self.classes("run-bar").props('aria-label="The run on the canvas" data-testid=run-bar')
        self.visible = False
        with self:
            self._picks = ui.element("div").classes("run-bar-picks")
            self._words = ui.html(sanitize=False).classes("run-bar-words grow").props("role=status")
            self._slider = ui.element("input").classes("run-bar-slider")
            self._slider.props('type=range min=0 max=1 data-testid=run-slider aria-label="Moment of the run"')
            self._slider.on("input", self._moved, throttle=0.1, js_handler="(event) => emit(+event.target.value)")
            icon_button("close", "Show no run", self._close, testid="run-bar-close")
            self._pauses = OpenPauses(workbench, self._look_for_pauses, testid="run-pause").classes("run-bar-pauses")
        ui.timer(LOOK_SECONDS, self._look)
        ui.timer(PAUSES_SECONDS, self._look_for_pauses)

    @property
    def runs(self) -> NodeRuns:
        """The nodes of the run that is shown, as they stood then."""
        return self._states.runs

    @property
    def run_id(self) -> str:
        """The run that is shown, else the newest there is; empty for none."""
        return self._states.run_id or next((row.run_id for row in self._last(1)), "")

    def follow(self, live: Run) -> None:
        """Show that run, from its beginning on."""
        self._asked += 1
        self._noticed = self._followed = live.run_id
        self._entries, self._at_end = live.entries, True
        self.visible = True
        self._picks.clear()
        self._show_new()

    async def open(self) -> None:
        """Offer the last runs, and show the newest where none is shown."""
        self._offered = self._last(LAST_RUNS)
        self.visible = True
        self._show_picks()
        if self._offered and not self._states.run_id:
            await self._pick(self._offered[0].run_id)
        elif not self._offered:
            self._words.set_content(tag("span", "This workflow has not run yet. Run it, or talk to it.", cls="faint"))

    def _look(self) -> None:
        """Follow the try that goes on, from when it begins; a moment that somebody looks at stays."""
        live = next((one for one in reversed(self._workbench.runs.live_runs()) if self._is_own(one.started)), None)
        if live is not None and live.run_id != self._noticed:
            self.follow(live)
        else:
            self._show_new()

    async def _look_for_pauses(self) -> None:
        """Show what the run on the canvas, or one that a node of it started, waits for; a chat shows that by itself."""
        asks = {self._followed, *(child for run in self.runs.by_call.values() for child in run.children)}
        followed = self._at_end and bool(self._followed)
        found = [one for one in await self._workbench.attending.pauses() if one.run_id in asks] if followed else []
        if found and (tried := self._workbench.sessions.tried(self._agent_id)) is not None:
            found = [one for one in found if one.session_id != tried.id]
        if not self.is_deleted and self._pauses.show(found):
            refocus(self, "button:not([disabled])")

    def _is_own(self, started: RunStarted) -> bool:
        return started.agent.id == self._agent_id and started.purpose == "try" and started.parent is None

    def _show_new(self) -> None:
        if not self._at_end or not self._followed:
            return
        recent = self._workbench.runs.recent(self._followed)
        if recent is not None:
            self._entries = recent.entries
        if self._states.follow(self._followed, self._entries):
            self._say(self._states.taken)
            self._on_run()

    def _last(self, most: int) -> list[RunRow]:
        agent = self._workbench.agents.get(self._agent_id)
        return self._workbench.rows.find(RunFilter(agent=agent.slug, behind=True), limit=most).rows

    async def _pick(self, run_id: str) -> None:
        self._asked += 1
        asked = self._asked
        try:
            trace = await self._workbench.runs.trace(run_id)
        except WorkbenchError as problem:
            notify(str(problem))
            self._show_picks()  # the box names that run
            return
        if asked == self._asked:
            await self._show_at(run_id, trace.entries, len(trace.entries))

    async def _moved(self, event: events.GenericEventArguments) -> None:
        place = max(0, min(int(event.args), len(self._entries)))
        await self._show_at(self._followed, self._entries, place, move=False)

    async def _show_at(self, run_id: str, entries: Sequence[Entry], place: int, *, move: bool = True) -> None:
        self._asked += 1
        asked, at_end, until = self._asked, place == len(entries), entries[:place]
        self._at_end = False
        runs = nodes(until) if place < THREAD_ENTRIES else await asyncio.to_thread(nodes, until)
        if asked != self._asked:
            return
        self._followed, self._entries, self._at_end = run_id, entries, at_end
        self._states.show(run_id, runs, place)
        self._say(place, move=move)
        self._on_run()

    def _say(self, place: int, *, move: bool = True) -> None:
        """What the last of these entries tells, and how far it is into the run."""
        number = len(self._entries)
        if move:  # by the browser: for a page that is followed this is said ten times a second
            put = f"Object.assign(getHtmlElement({self._slider.id}) ?? {{}}, {{max: {number}, value: {place}}})"
            self.client.run_javascript(put)
        last = self._entries[place - 1] if place else None
        status = status_pill(self._workbench.runs.status(self._followed, self._entries))
        link = tag("a", "Open the run", href=run_address(self._followed), cls="link-button", data_testid="run-bar-open")
        self._words.set_content(joined(status, " ", self._moment(last, place, number), " ", link))

    def _moment(self, last: Entry | None, place: int, number: int) -> Html:
        if last is None:
            return tag("span", "Before it began")
        after = duration((last.at - self._entries[0].at).total_seconds() * 1000)
        told = ""
        if isinstance(last.event, NodeStarted | NodeEnded) and (run := self.runs.by_call.get(last.event.call_id)):
            told = f": {visible(head(run.label, 60))}, {STATES[run.state].lower()}"
        return tag("span", f"{place} of {number} entries, {after} after its beginning{told}", data_testid="run-moment")

    def _show_picks(self) -> None:
        self._picks.clear()
        if not any(row.run_id == self._followed for row in self._offered):
            shown = self._workbench.rows.get(self._followed)
            self._offered = [*([shown] if shown else []), *self._offered]
        names = [f"{short_moment(row.started_at, now())} · {head(row.request, 40)}" for row in self._offered]
        chosen = next((i for i, row in enumerate(self._offered) if row.run_id == self._followed), 0)
        if names:
            with self._picks:
                select_box("Run to show", names, chosen, self._picked).props("data-testid=run-pick")

    async def _picked(self, event: events.GenericEventArguments) -> None:
        await self._pick(self._offered[int(event.args)].run_id)

    def _close(self) -> None:
        self.visible = False
        self._asked += 1
        self._followed, self._at_end = "", False
        self._pauses.show([])
        self._states.clear()
        self._on_run()
