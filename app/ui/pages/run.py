"""One run, step by step, while it goes on and ever after."""

import asyncio
from typing import Literal
from urllib.parse import urlencode

from nicegui import PageArguments, events, ui

from app.domain.events import Entry
from app.domain.streaming import Draft
from app.domain.trace import RunStatus, Step, StoredTrace
from app.domain.values import now
from app.engine.runs import LiveRun
from app.ui.addresses import run_address
from app.ui.components.format import head
from app.ui.components.timeline import Timeline
from app.ui.components.timeline_cards import CardContext, show_text
from app.ui.components.trace_growth import RunSoFar
from app.ui.components.trace_header import loading_heading, run_heading
from app.ui.components.trace_notices import cut_off_head, live_text, run_notices
from app.ui.components.trajectory import Trajectory
from app.workbench import Workbench

REFRESH_SECONDS = 0.5
PIECE = 1000
"""Entries whose projections take about as long as the event loop may wait, 5 ms."""
View = Literal["timeline", "trajectory"]


async def run_page(workbench: Workbench, run: str, arguments: PageArguments) -> None:
    """Build `/runs/{run}`; `?step=` opens that entry's step, `?view=trajectory` the other tab. Raises `NotFound`."""
    await RunPage(workbench, run, arguments).build()


class RunPage:
    def __init__(self, workbench: Workbench, run_id: str, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._run = RunSoFar(run_id)
        self._damaged: tuple[str, ...] = ()
        self._seen: tuple[object, ...] = ()
        self._step = _number(arguments.query_parameters.get("step", ""))
        self._view: View = "trajectory" if arguments.query_parameters.get("view") == "trajectory" else "timeline"
        self._timeline: Timeline | None = None
        self._trajectory: Trajectory | None = None
        ui.page_title("Run · Agent Playground")
        with ui.element("div").classes("page page-wide run-page"):
            self._heading = ui.html(loading_heading(), sanitize=False, tag="header").classes("run-heading")
            self._notices = ui.html(sanitize=False).classes("stack")
            self._body = ui.element("div").classes("stack")
            with ui.element("section").classes("live-draft").props("data-testid=run-draft") as self._draft:
                self._draft_words = ui.html(sanitize=False)
                self._draft_text = ui.element("div")
            self._draft.visible = False

    async def build(self) -> None:
        """Read the trace and show it; a live run is followed from then on."""
        trace = await self._workbench.runs.trace(self._run.run_id, opening=self._show_opening)
        self._damaged = trace.damaged
        await self._take(list(trace.entries))
        if self._timeline is None:
            self._build_tabs()
        await self._show(trace)
        ui.page_title(f"{head(self._run.request, 60) or 'Run'} · Agent Playground")
        ui.timer(REFRESH_SECONDS, self._tick)

    def _show_opening(self, entries: list[Entry]) -> None:
        """Show the first entries of a long trace while the others are still read."""
        if self._step is not None or self._view != "timeline" or self._body.is_deleted:
            return
        self._run.take(entries)
        self._build_tabs()
        if self._timeline is not None:
            self._timeline.show(alive=False, reading=True)

    async def _take(self, entries: list[Entry]) -> None:
        """Take what was not taken yet, in pieces that leave the event loop its turns."""
        for start in range(len(self._run.entries), len(entries), PIECE):
            self._run.take(entries[start : start + PIECE])
            await asyncio.sleep(0)

    def _build_tabs(self) -> None:
        began = self._run.began or now()
        context = CardContext(self._run.run_id, began, self._run.specs, self._workbench.artifacts)
        wanted = self._run.place(self._step) if self._step is not None else None
        with self._body:
            with ui.tabs().props("dense align=left no-caps inline-label").classes("run-tabs") as tabs:
                timeline = ui.tab("timeline", "Timeline", "view_timeline").props("data-testid=tab-timeline")
                trajectory = ui.tab("trajectory", "Trajectory", "alt_route").props("data-testid=tab-trajectory")
            chosen = timeline if self._view == "timeline" else trajectory
            with ui.tab_panels(tabs, animated=False, value=chosen).classes("run-panels"):
                with ui.tab_panel(timeline):
                    self._timeline = Timeline(self._run, context, wanted=wanted, on_choose=self._say_step)
                with ui.tab_panel(trajectory):
                    self._trajectory = Trajectory(self._run, context)
        tabs.on_value_change(self._turn)

    async def _tick(self) -> None:
        live = self._workbench.runs.recent(self._run.run_id)
        if live is None:
            return
        seen = (len(live.entries), live.alive, live.unsaved, *_length(live.draft))
        if seen == self._seen:
            self._show_heading()
            await self._show_trajectory()
            return
        self._seen = seen
        await self._take(live.entries)
        await self._show(StoredTrace(live.entries, live.draft), live)

    async def _show(self, trace: StoredTrace, live: LiveRun | None = None) -> None:
        status = self._show_heading()
        started = self._run.started
        notices = run_notices(
            self._run.entries,
            status,
            attempts=self._run.attempts,
            session_id=started.session_id if started else "",
            agent_slug=started.agent.slug if started else "",
            damaged=self._damaged,
            unsaved=live.unsaved if live else None,
        )
        self._notices.set_content(notices)
        self._show_draft(trace.draft, status)
        if self._timeline is not None:
            self._timeline.show(alive=status in ("running", "paused"))
        await self._show_trajectory()

    def _show_heading(self) -> RunStatus:
        status = self._workbench.runs.status(self._run.run_id, self._run.entries)
        row = self._run.row(status)
        if row is None or not row.request:  # damaged where it begins; the list of runs still knows
            row = self._workbench.rows.get(self._run.run_id) or row
        self._heading.set_content(run_heading(row, now()))
        return status

    def _show_draft(self, draft: Draft, status: RunStatus) -> None:
        self._draft.visible = not draft.empty
        self._draft_text.clear()
        if draft.empty:
            return
        if status == "running":
            self._draft_words.set_content(live_text(draft))
            return
        self._draft_words.set_content(cut_off_head(draft))
        with self._draft_text:
            show_text("\n\n".join(text for text in (draft.reasoning, draft.text) if text))

    async def _show_trajectory(self) -> None:
        if self._view == "trajectory" and self._trajectory is not None:
            await self._trajectory.show()

    async def _turn(self, event: events.ValueChangeEventArguments[str | ui.tab | ui.tab_panel | None]) -> None:
        self._view = "trajectory" if event.value == "trajectory" else "timeline"
        self._say_address()
        await self._show_trajectory()

    def _say_step(self, step: Step) -> None:
        self._step = step.seq
        self._say_address()

    def _say_address(self) -> None:
        said = {
            "step": "" if self._step is None else str(self._step),
            "view": "" if self._view == "timeline" else self._view,
        }
        query = urlencode({name: value for name, value in said.items() if value})
        ui.navigate.history.replace(run_address(self._run.run_id) + (f"?{query}" if query else ""))


def _length(draft: Draft) -> tuple[int, ...]:
    """Grows with the draft."""
    calls = sum(len(call.arguments) for call in draft.calls.values())
    return len(draft.text), len(draft.reasoning), len(draft.calls), calls


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None
