"""The matrix of an experiment: its cases by its columns, regressions first; filters and pins stand in the address."""

from functools import partial
from time import monotonic

from nicegui import PageArguments, background_tasks, ui

from app.domain.errors import WorkbenchError
from app.domain.evals.experiments import Experiment
from app.domain.evals.matrix import MatrixRow, shown
from app.domain.values import now
from app.engine.experiments.matrices import Looked, Stamp
from app.ui.elements.addresses import EVALS, MATRIX, experiment_address, matrix_address, review_address
from app.ui.elements.buttons import button, loading
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import ago, plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import empty_state, notify, problems_shown
from app.ui.elements.pager import Pager, pages, say_address
from app.ui.elements.status_pill import experiment_pill
from app.ui.elements.visible import visible
from app.ui.matrix.matrix_filters import ALL, MatrixFilters
from app.ui.matrix.matrix_query import PAGE_SIZE, MatrixQuery
from app.ui.matrix.matrix_table import matrix_table, verdict_view
from app.ui.matrix.matrix_words import time_note
from app.ui.matrix.pair_dialog import PairDialog
from app.workbench import Workbench

REFRESH_SECONDS = 1.0
NEWEST = 50
"""Experiments to choose from."""
LEAD = "Cases by columns. What got worse stands first; Enter on a cell shows both runs side by side."


def matrix_page(workbench: Workbench, experiment_id: str, arguments: PageArguments) -> None:
    """Build `/matrix/{experiment}`, or `/matrix`, where one is chosen. Raises `NotFound`."""
    if experiment_id:
        MatrixPage(workbench, experiment_id, arguments)
    else:
        MatricesPage(workbench)


class MatricesPage:
    """Which experiment."""

    def __init__(self, workbench: Workbench) -> None:
        ui.page_title("Matrix · Agent Playground")
        with ui.element("div").classes("page"):
            ui.html(joined(tag("h1", "Matrix", cls="page-title"), tag("p", LEAD, cls="page-lead")), sanitize=False)
            if found := workbench.experiments.recent(limit=NEWEST):
                ui.html(tag("ul", *map(_experiment, found), cls="session-list"), sanitize=False).classes("fill")
            else:
                link = tag("a", "Go to Evals", href=EVALS)
                empty_state("grid_on", "No experiment yet", "Try an agent on a dataset; its matrix appears here.", link)


class MatrixPage:
    """One experiment."""

    def __init__(self, workbench: Workbench, experiment_id: str, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._id = experiment_id
        self._frame = arguments.frame
        self._query = MatrixQuery.of(arguments.query_parameters)
        self._looked: Looked | None = None
        self._rows: list[MatrixRow] = []
        self._seen: Stamp | None = None
        self._not_before = 0.0
        self._filters: MatrixFilters | None = None
        self._pair: PairDialog | None = None
        experiment = workbench.experimenting.get(experiment_id)
        ui.page_title(f"{experiment.title or 'Matrix'} · Agent Playground")
        with ui.element("div").classes("page page-wide matrix-page"):
            self._heading = LiveHtml()
            self._build_actions(experiment)
            self._place = ui.element("div").classes("stack fill")
            self._table = LiveHtml().classes("matrix-scroll").props('role=group tabindex=-1 aria-label="Matrix"')
            on_click_of(on_click_of(self._table, "cell", self._open), "pin", self._pin)
            self._nothing = ui.element("div").classes("fill")
            self._pager = Pager("cases", lambda page: self._ask(self._query.model_copy(update={"page": page})))
            self._notes = LiveHtml().classes("muted matrix-notes")
        self._heading.show(heading(experiment))
        self._begin()
        ui.timer(REFRESH_SECONDS, self._tick)

    def _build_actions(self, experiment: Experiment) -> None:
        with ui.element("div").classes("toolbar matrix-actions"):
            self._cheaper = button("Is the cheaper model no worse?", self._ask_cheaper, icon="savings")
            self._cheaper.props(
                'data-testid=matrix-cheaper title="Cheapest column against the baseline, 10 points allowed"'
            )
            self._cheaper.visible = len(experiment.plan.columns) > 1
            self._answer = ui.html(sanitize=False).props("role=status").classes("grow")

    def _begin(self) -> None:
        """Put the table into the page as it is sent first, where it is at hand."""
        if (known := self._workbench.matrices.known(self._id, self._query.scorer)) is not None:
            self._show(known)
            return
        self._table.show(tag("p", "Reading the cells…", cls="muted"))
        background_tasks.create(self._load(), name="read a matrix", context=self._table)

    async def _load(self) -> None:
        began, query = monotonic(), self._query
        try:
            looked = await self._workbench.matrices.look(self._id, query.scorer)
        except WorkbenchError as problem:
            self._fail(problem)
            return
        self._not_before = monotonic() + 10 * (monotonic() - began)
        if not self._table.is_deleted and query is self._query:
            self._show(looked)

    async def _tick(self) -> None:
        if self._seen is None or monotonic() < self._not_before:
            return
        try:
            is_other = self._seen != self._workbench.matrices.stamp(self._id)
        except WorkbenchError as problem:  # deleted meanwhile
            self._fail(problem)
            return
        if is_other:
            await self._load()

    def _fail(self, problem: WorkbenchError) -> None:
        """Say it once; what is shown stays, as it was."""
        self._seen = None
        self._say_nothing("error", "The matrix could not be read", str(problem))

    def _show(self, looked: Looked) -> None:
        self._seen, self._looked = looked.stamp, looked
        if self._query.tag not in looked.matrix.tags:
            self._query = self._query.model_copy(update={"tag": ALL})
        self._heading.show(heading(looked.experiment))
        if self._filters is None:
            with self._place:
                self._filters = MatrixFilters(looked, self._query, self._ask)
        self._filters.show(looked.matrix, self._query)
        self._show_rows(looked)

    def _show_rows(self, looked: Looked) -> None:
        query, columns = self._query, len(looked.experiment.plan.columns)
        self._rows = shown(looked.matrix, query.filter(columns=columns))
        page = min(query.page, pages(len(self._rows), PAGE_SIZE))
        listed = self._rows[(page - 1) * PAGE_SIZE :][:PAGE_SIZE]
        column = min(query.column, columns - 1)
        self._table.show(matrix_table(looked, listed, pins=query.pins, column=column))
        self._pager.show(page, pages(len(self._rows), PAGE_SIZE))
        self._notes.show(notes(looked, len(self._rows)))
        self._nothing.clear()
        if not self._rows:
            equal = query == MatrixQuery(column=query.column, scorer=query.scorer)
            words = (
                "check_circle",
                "Nothing differs",
                "All cases are equal in all columns. Switch “Only different” off.",
            )
            self._say_nothing(*(words if equal else ("search_off", "No case fits", "Change what is searched above.")))

    def _say_nothing(self, symbol: str, title: str, words: str) -> None:
        self._nothing.clear()
        if self._looked is None:
            self._table.show(Html(""))
        with self._nothing:
            empty_state(symbol, title, words)

    def _ask(self, query: MatrixQuery) -> None:
        """Show what another query finds, and let the address say so."""
        other_scorer, self._query = query.scorer != self._query.scorer, query
        say_address(self._frame, query.address(self._id))
        if other_scorer or self._looked is None:
            background_tasks.create(self._load(), name="read a matrix", context=self._table)
        else:
            self._show(self._looked)

    def _pin(self, number: str) -> None:
        self._ask(self._query.pinned(int(number)))

    def _open(self, cell: str) -> None:
        number, _, column = cell.partition(".")
        row = self._looked.matrix.row(int(number)) if self._looked else None
        if self._looked is not None and row is not None:
            self._show_pair(self._looked, row, int(column))

    def _show_pair(self, looked: Looked, row: MatrixRow, column: int) -> None:
        if self._pair is not None and not self._pair.dialog.is_deleted:
            self._pair.dialog.delete()
        with self._nothing.parent_slot or self._nothing:
            turn = partial(self._turn, row=row, column=column)
            self._pair = PairDialog(self._workbench, looked, row, column, turn)

    def _turn(self, step: int, *, row: MatrixRow, column: int) -> None:
        """Open the next cell that differs from the baseline's, in the order of the rows, or the one before."""
        differing = [
            (one, place)
            for one in self._rows
            for place, cell in enumerate(one.cells)
            if place and cell.beside(one.cells[0]) in ("better", "worse")
        ]
        order = {one.number: at for at, one in enumerate(self._rows)}
        here = (order.get(row.number, -1), column)
        ahead = [one for one in differing if step * _compared((order[one[0].number], one[1]), here) > 0]
        if not ahead or self._looked is None:
            notify("This is the last difference." if step > 0 else "This is the first difference.")
            return
        self._show_pair(self._looked, *ahead[0 if step > 0 else -1])

    async def _ask_cheaper(self) -> None:
        if self._looked is None:
            return
        with problems_shown(), loading(self._cheaper):
            found = await self._workbench.matrices.cheaper(self._looked)
            words = tag("span", "No column cost less for a try than the baseline.", cls="muted")
            if found is not None:
                name = self._looked.experiment.plan.columns[found[0]].words
                words = joined(tag("strong", visible(name)), verdict_view(found[1], testid="matrix-no-worse"))
            self._answer.set_content(words)


def heading(experiment: Experiment) -> Html:
    """What was tried on what, and how it stands."""
    plan = experiment.plan
    live = f", {', '.join(plan.live)} for real" if plan.live else ""
    facts = (
        f"{plural(len(plan.case_ids), 'case')} of {plan.dataset_slug}, version {plan.dataset_version}",
        plural(plan.repeats, "try").replace("trys", "tries") + " a case",
        f"tools from the record{live}" if plan.tools == "recorded" else "tools called for real",
    )
    links = (
        tag("a", icon("arrow_back"), "All matrices", href=MATRIX, cls="back-link"),
        tag("a", "Plan and progress", href=experiment_address(experiment.id)),
        tag("a", "Review its failures", href=review_address("failures", experiment.id)),
    )
    return joined(
        links[0],
        tag("h1", visible(experiment.title) or "Matrix", cls="page-title"),
        tag("p", experiment_pill(experiment.status), " ", " · ".join(facts), cls="page-lead"),
        tag("p", links[1], " · ", links[2]),
    )


def notes(looked: Looked, found: int) -> Html:
    """How many cases are shown, how much changes by itself, and how times were measured."""
    told = f"{found:,} of {plural(len(looked.matrix.rows), 'case')} shown."
    scorer, plan = looked.matrix.scorer, looked.experiment.plan
    look = (
        f"Cells show the score of “{scorer}”, for a look; “{plan.deciding}” decides." if scorer != plan.deciding else ""
    )
    noise = tag("p", looked.results.noise, data_testid="matrix-noise") if looked.results.noise else ""
    return joined(
        tag("p", told, role="status"),
        tag("p", visible(look)) if look else "",
        noise,
        tag("p", time_note(looked.experiment)),
    )


def _experiment(experiment: Experiment) -> Html:
    plan = experiment.plan
    facts = f"{plural(len(plan.case_ids), 'case')} · {plural(len(plan.columns), 'column')}"
    words = tag("span", tag("span", visible(experiment.title) or "Experiment", cls="session-title truncate"),
                tag("span", facts, cls="muted"), cls="session-words grow")  # fmt: skip
    when = tag("span", ago(experiment.created_at, now()), cls="session-meta")
    stands = tag("span", experiment_pill(experiment.status), cls="session-meta")
    link = tag(
        "a", icon("grid_on"), words, stands, when, href=matrix_address(experiment.id), data_testid="matrix-row-link"
    )
    return tag("li", link, cls="session-row")


def _compared(one: tuple[int, int], other: tuple[int, int]) -> int:
    return (one > other) - (one < other)
