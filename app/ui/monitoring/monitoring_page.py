"""Monitoring: what runs now, how it went over an hour up to a month, and how the app itself fares."""

import asyncio
from collections.abc import Sequence
from time import monotonic

from nicegui import PageArguments, background_tasks, ui

from app.domain.errors import WorkbenchError
from app.domain.sessions import Session
from app.domain.tools import GrantedTool
from app.domain.values import now
from app.ui.charts.chart import Chart
from app.ui.charts.chart_view import ChartView
from app.ui.elements.addresses import JOBS, LANDING, MONITORING, RUNS, session_address
from app.ui.elements.choice import Choice
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import plural
from app.ui.elements.live_html import LiveHtml, rests_hidden
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.modes import developer_note
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.pager import address_with, say_address
from app.ui.elements.questions import agreed
from app.ui.monitoring.app_state import Process, now_view, processes, processes_view, slow_view, vital_charts
from app.ui.monitoring.figure_charts import NAMES, figure_charts
from app.ui.monitoring.live_runs import LiveRuns
from app.ui.monitoring.spans import SPANS, Span, seen, slot_now
from app.workbench import Workbench
from app.workbench.vitals.vitals import Facts, Sample

LIVE_SECONDS = 1.0
FIGURES_SECONDS = 10.0
"""Between two looks at the figures, while the page is open."""
USUAL: Span = "day"
_HEADING = joined(
    tag("h1", "Monitoring", cls="page-title"),
    tag("p", "What runs now, how it went lately, and how the app itself fares.", cls="page-lead"),
)
_ABOUT_FIGURES = (
    "Runs count when they began, experiments and deleted runs too. Times are told in steps of 12 %, so about. "
    "A message waited in a queue where the run before it had to end first, or somebody had to send it. "
    "Whether the event loop stands still is looked for ten times a second while this page is seen, else once."
)


class MonitoringPage:
    """`/monitoring`; the stretch of time stands in the address."""

    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench, self._frame = workbench, arguments.frame
        asked = arguments.query_parameters.get("over", "")
        self._span: Span = next((one for one in SPANS if one == asked), USUAL)
        self._live = LiveRuns()
        self._seen: tuple[Sample | None, Facts | None] = None, None
        self._waiting = 0
        self._found: list[Process] = []
        self._next_load = 0.0
        self._loaded: tuple[object, ...] | None = None
        ui.page_title("Monitoring · Agent Playground")
        with ui.element("div").classes("page page-wide monitoring-page").props("data-testid=monitoring") as page:
            ui.html(_HEADING, sanitize=False)
            developer_note()
            self._build_now()
            self._build_figures()
            self._build_app()
        self._show_now()
        self._begin_load()
        rests_hidden(page, ui.timer(LIVE_SECONDS, self._tick))

    def _build_now(self) -> None:
        _title("Now")
        self._counts = LiveHtml().props("data-testid=monitoring-counts")
        self._runs = on_click_of(LiveHtml().classes("fill"), "stop", self._stop)

    def _build_figures(self) -> None:
        with ui.element("div").classes("toolbar"):
            _title("Lately")
            names = [(one, one.capitalize()) for one in SPANS]
            self._choice = Choice(names, self._choose, label="Over which time", testid="over-{}")
            self._choice.show(self._span)
            self._told = ui.html(tag("span", "Adding up…"), sanitize=False).classes("muted").props("role=status")
        self._problem = ui.element("div").classes("fill")
        with ui.element("div").classes("chart-grid-of-two"):
            self._charts = [ChartView() for _ in NAMES]

    def _build_app(self) -> None:
        _title("The app itself")
        self._vitals = LiveHtml().classes("fill")
        with ui.element("div").classes("chart-grid-of-two"):
            self._vital_charts = [ChartView() for _ in range(2)]
        _title("Processes of tools")
        self._processes = on_click_of(LiveHtml().classes("fill"), "restart", self._restart)
        _title("What was slow")
        self._slow = LiveHtml().classes("fill")
        ui.html(tag("p", _ABOUT_FIGURES, cls="faint"), sanitize=False)

    async def _tick(self) -> None:
        self._workbench.vitals.look()
        self._waiting = len(await self._workbench.pauses.waiting())
        self._show_now()
        if monotonic() >= self._next_load and self._loaded != self._stamp():
            await self._load()
        if self._seen[0] is None or self._seen != self._newest():
            await self._show_app()

    def _show_now(self) -> None:
        live_runs = self._workbench.runs.live_runs()
        queueing, jobs = self._workbench.sessions.queueing(), self._workbench.jobs.running()
        self._counts.show(_counts(len(live_runs), self._waiting, queueing, jobs))
        self._runs.show(self._live.view(live_runs))

    def _begin_load(self) -> None:
        self._next_load = monotonic() + FIGURES_SECONDS
        background_tasks.create(self._load(), name="figures of Monitoring", context=self._told)

    async def _load(self) -> None:
        """Read the figures and draw them; the longer that took, the later again."""
        began, span, self._loaded = monotonic(), self._span, self._stamp()
        self._next_load = began + FIGURES_SECONDS
        try:
            found = await seen(self._workbench, span)
        except WorkbenchError as problem:
            self._loaded = None
            if span == self._span and not self._problem.is_deleted:
                self._show_problem(str(problem))
            return
        if span != self._span or self._told.is_deleted:
            return  # something else was asked meanwhile
        self._next_load = max(self._next_load, monotonic() + 10 * (monotonic() - began))
        something = any(figures is not None for figures in found.figures)
        for view in self._charts:
            view.visible = something
        await _draw(self._charts, figure_charts(found))
        if self._problem.is_deleted:
            return
        self._problem.clear()
        runs = sum(figures.runs for figures in found.figures if figures)
        self._told.set_content(tag("span", plural(runs, "run")))
        if not something:
            self._show_none()

    def _stamp(self) -> tuple[object, ...]:
        """Changes when a run begins or ends, and when time has moved on by a slot."""
        runs = self._workbench.runs
        return self._span, runs.begun, len(runs.live_runs()), slot_now(self._span)

    async def _show_app(self) -> None:
        samples, self._seen = list(self._workbench.vitals.samples), self._newest()
        self._found = await asyncio.to_thread(processes, self._workbench)
        if self._vitals.is_deleted:
            return
        self._vitals.show(now_view(*self._seen))
        self._processes.show(processes_view(self._found))
        self._slow.show(slow_view(list(self._workbench.vitals.slow), now()))
        await _draw(self._vital_charts, vital_charts(samples))

    def _newest(self) -> tuple[Sample | None, Facts | None]:
        vitals = self._workbench.vitals
        return next(reversed(vitals.samples), None), vitals.facts

    def _show_none(self) -> None:
        with self._problem:
            way = tag("a", "Go to the Playground", href=LANDING)
            empty_state("monitor_heart", "Nothing ran yet", "Write to an agent, and its figures appear here.", way)

    def _show_problem(self, words: str) -> None:
        self._problem.clear()
        self._told.set_content(tag("span", ""))
        with self._problem:
            empty_state("error", "The figures could not be read", f"{words} It is tried again in a moment.")

    def _choose(self, span: Span) -> None:
        self._span = span
        self._choice.show(span)
        self._told.set_content(tag("span", "Adding up…"))
        say_address(self._frame, address_with(MONITORING, {"over": "" if span == USUAL else span}))
        self._begin_load()

    async def _stop(self, run_id: str) -> None:
        with problems_shown():
            await self._workbench.pauses.stop(run_id)
        self._show_now()

    async def _restart(self, key: str) -> None:
        one = next((found for found in self._found if found.key == key), None)
        if one is None:
            return
        if users := sum(self._uses(one, live.started.tools) for live in self._workbench.runs.live_runs()):
            words = f"{plural(users, 'run')} that goes on may call its tools. A call that is on its way may fail."
            if not await agreed(f"Restart {one.name}?", words, confirm="Restart"):
                return
        with problems_shown():
            again = self._workbench.user_tools.reload if key.startswith("file:") else self._workbench.mcp.reconnect
            await again(one.name)
        await self._show_app()

    @staticmethod
    def _uses(one: Process, tools: Sequence[GrantedTool]) -> bool:
        return any(tool.spec.name in one.tools for tool in tools)


async def _draw(views: Sequence[ChartView], charts: Sequence[Chart]) -> None:
    """One after the other: each takes the event loop a few milliseconds."""
    for view, chart in zip(views, charts, strict=True):
        if not view.is_deleted:
            view.show_chart(chart)
        await asyncio.sleep(0)


def _counts(running: int, waiting: int, queueing: Sequence[Session], jobs: int) -> Html:
    parts = [tag("span", plural(running, "run"), " going on")]
    if waiting:
        link = tag("a", plural(waiting, "run"), href=f"{RUNS}?status=paused&behind=1", data_key="waiting")
        parts.append(tag("span", link, " waiting for a decision", cls="mark-warn"))
    if queued := sum(len(session.queue) for session in queueing):
        where = session_address(queueing[0].id) if len(queueing) == 1 else LANDING
        parts.append(tag("span", tag("a", plural(queued, "message"), href=where, data_key="queued"), " queued"))
    if jobs:
        parts.append(tag("a", plural(jobs, "run"), " in the background", href=JOBS, data_key="jobs"))
    return tag("p", *parts, cls="monitoring-counts")


def _title(words: str) -> None:
    ui.html(words, sanitize=False, tag="h2").classes("section-title")
