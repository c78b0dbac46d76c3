"""Runs in the background: those that go on, with their progress, and those that ended."""

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Literal, Self, get_args

from nicegui import PageArguments, background_tasks, events, ui

from app.domain.errors import WorkbenchError
from app.domain.events import ModelCalled, NodeStarted
from app.domain.trace import RunPage, RunRow
from app.domain.values import Value, now
from app.engine.run.run import Run
from app.ui.conversation.phase import Phase
from app.ui.elements.addresses import JOBS, LANDING
from app.ui.elements.choice import Choice
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.modes import developer_note
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.pager import Pager, address_with, counted, pages, say_address
from app.ui.runs.job_rows import BODY, COLUMNS, HEADER, cells
from app.ui.runs.live_table import LiveTable
from app.ui.runs.run_actions import act_on_run
from app.workbench import Workbench

Shown = Literal["all", "running", "finished"]
SHOWN: tuple[Shown, ...] = get_args(Shown)
PAGE_SIZE = 25


class JobsQuery(Value):
    """A choice and a page. What an address says wrongly is left out, never refused."""

    show: Shown = "all"
    page: int = 1
    """Counts from 1."""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """The query of an address."""
        show: Shown = next((one for one in SHOWN if one == parameters.get("show")), "all")
        return cls(show=show, page=counted(parameters.get("page", "")) or 1)

    @property
    def address(self) -> str:
        """The address that says this; what is as usual is not mentioned."""
        said = {"show": "" if self.show == "all" else self.show, "page": "" if self.page == 1 else str(self.page)}
        return address_with(JOBS, said)

    @property
    def live(self) -> bool | None:
        """True for runs that go on, False for those that ended, `None` for all."""
        return None if self.show == "all" else self.show == "running"

    @property
    def offset(self) -> int:
        return (self.page - 1) * PAGE_SIZE


REFRESH_SECONDS = 0.5
_HEADING = joined(
    tag("h1", "Jobs", cls="page-title"),
    tag(
        "p",
        "Runs in the background. They go on while you do something else, and tell you when they end.",
        cls="page-lead",
    ),
)


class JobsPage:
    """`/jobs`; what is shown stands in the address."""

    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._frame = arguments.frame
        self._query = JobsQuery.of(arguments.query_parameters)
        self._rows: list[RunRow] = []
        self._progress = JobsProgress()
        self._seen = self._stamp()
        self._not_before = 0.0
        ui.page_title("Jobs · Agent Playground")
        with ui.element("div").classes("page page-wide jobs-page"):
            ui.html(_HEADING, sanitize=False)
            developer_note()
            self._build_choice()
            self._table = self._build_table()
            self._nothing = ui.element("div")
            self._pager = Pager("jobs", lambda page: self._ask(self._query.model_copy(update={"page": page})))
        background_tasks.create(self._load(), name="load jobs", context=self._table)
        ui.timer(REFRESH_SECONDS, self._tick)

    def _build_choice(self) -> None:
        with ui.element("div").classes("toolbar"):
            names = [(one, one.capitalize()) for one in SHOWN]
            self._choice = Choice(names, self._choose, label="Which runs are shown", testid="jobs-{}")
            self._choice.show(self._query.show)
            self._count = ui.html(tag("span", "Loading jobs…"), sanitize=False).classes("muted")
            self._count.props("role=status data-testid=jobs-count")

    def _build_table(self) -> LiveTable:
        table = LiveTable(head=HEADER, body=BODY, columns=COLUMNS, testid="jobs-table")
        return table.classes("jobs-table").on("act", self._act)

    async def _load(self) -> None:
        """Read the page of jobs that the query names, and show it."""
        began, query = monotonic(), self._query
        self._seen = self._stamp()
        try:
            found = await self._workbench.jobs.page(offset=query.offset, limit=PAGE_SIZE, live=query.live)
        except WorkbenchError as problem:
            self._show_nothing("error", "The jobs could not be read", str(problem))
            return
        if query is not self._query:
            return  # something else was asked meanwhile
        if not found.rows and found.total:
            self._ask(query.model_copy(update={"page": pages(found.total, PAGE_SIZE)}))
            return
        self._not_before = monotonic() + 10 * (monotonic() - began)
        self._show(found)

    async def _tick(self) -> None:
        if self._seen != self._stamp() and monotonic() >= self._not_before:
            await self._load()
        elif any(self._workbench.runs.live(row.run_id) for row in self._rows):
            self._show_rows()

    def _stamp(self) -> tuple[int, ...]:
        """Changes whenever a background run begins, gets on or ends."""
        runs = self._workbench.runs
        grown = (len(live.entries) for live in runs.live_runs() if live.started.background)
        return runs.begun, self._workbench.jobs.ended_count, *grown

    async def _act(self, event: events.GenericEventArguments) -> None:
        action, run_id = (str(one) for one in event.args)
        with problems_shown():
            if action == "opened":
                await self._workbench.jobs.opened(run_id)
                return
            await act_on_run(self._workbench, run_id, action)
        await self._load()

    def _choose(self, show: Shown) -> None:
        self._ask(JobsQuery(show=show))

    def _ask(self, query: JobsQuery) -> None:
        """Show what another query finds, and let the address say it."""
        self._query = query
        self._choice.show(query.show)
        self._table.wait()
        say_address(self._frame, query.address)
        background_tasks.create(self._load(), name="load jobs", context=self._table)

    def _show(self, found: RunPage) -> None:
        self._rows = found.rows
        self._nothing.clear()
        self._table.visible = found.total > 0
        self._show_rows()
        self._count.set_content(tag("span", plural(found.total, "run")))
        if not found.total:
            self._show_none()
        self._pager.show(self._query.page, pages(found.total, PAGE_SIZE))

    def _show_rows(self) -> None:
        runs, moment = self._workbench.runs, now()
        going_on = [runs.live(row.run_id) for row in self._rows if row.status in ("running", "paused")]
        doing = self._progress.words([live for live in going_on if live is not None])
        self._table.show(
            [cells(row, moment, doing=doing.get(row.run_id, ""), alive=row.run_id in doing) for row in self._rows]
        )

    def _show_none(self) -> None:
        match self._query.show:
            case "running":
                self._show_nothing(
                    "pending_actions", "Nothing is running", "What you start in the background shows up here."
                )
            case "finished":
                self._show_nothing(
                    "task_alt", "Nothing has finished yet", "A run in the background is listed here once it ended."
                )
            case "all":
                words = (
                    "Write a message in the Playground and choose “Run in background” beside the Send button, or press "
                    "Ctrl-Shift-Enter. Agents and API keys can start background runs as well."
                )
                way = tag("a", "Go to the Playground", href=LANDING)
                self._show_nothing("pending_actions", "No background runs yet", words, way)

    def _show_nothing(self, symbol: str, title: str, words: str, *next_step: Html) -> None:
        self._nothing.clear()
        self._table.visible = False
        with self._nothing:
            empty_state(symbol, title, words, *next_step)


class JobWords:
    """Follows one run; each look costs only what is new of it."""

    def __init__(self, live: Run) -> None:
        self._live = live
        self._seen = 0
        self._step = 0
        titles = {tool.spec.name: tool.spec.title for tool in live.started.tools}
        self._phase = Phase(live.entries[0].at, titles)

    def words(self) -> str:
        """`Step 2: Calling Calculator…`."""
        for entry in self._live.since(self._seen):
            self._seen = entry.seq + 1
            self._phase.take(entry)
            if isinstance(entry.event, ModelCalled | NodeStarted) and entry.event.attempt == 1:
                self._step += 1
        doing = self._phase.words(self._live.draft, steered=self._live.control.steered)
        return f"Step {self._step}: {doing}" if self._step else doing


class JobsProgress:
    """That of all runs of a list."""

    def __init__(self) -> None:
        self._followed: dict[str, JobWords] = {}

    def words(self, live_runs: Sequence[Run]) -> dict[str, str]:
        """By run id."""
        before, self._followed = self._followed, {}
        for live in live_runs:
            self._followed[live.run_id] = before.get(live.run_id) or JobWords(live)
        return {run_id: words.words() for run_id, words in self._followed.items()}
