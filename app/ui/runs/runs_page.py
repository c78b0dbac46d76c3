"""All runs: filtered, sorted and paged by the server; what is shown stands in the address."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from time import monotonic

from nicegui import PageArguments, background_tasks, events, ui

from app.domain.errors import WorkbenchError
from app.domain.provenance import BEHIND
from app.domain.trace import UNFINISHED, Excerpt, RunPage, RunRow, SortKey
from app.domain.values import now
from app.ui.elements.addresses import LANDING, run_address
from app.ui.elements.buttons import button
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import empty_state, notify, problems_shown
from app.ui.elements.pager import Pager, address_with, pages, say_address
from app.ui.elements.undo_bar import UndoBar
from app.ui.runs.export_dialog import open_export
from app.ui.runs.import_run import ImportRun
from app.ui.runs.live_table import Cells, LiveTable
from app.ui.runs.trace_filters import RunFilters
from app.ui.runs.trace_query import PAGE_SIZE, SORT_KEYS, TYPED, RunsQuery
from app.ui.runs.trace_rows import BODY, HEADER, cells, columns, range_words, unread_words
from app.ui.runs.trace_saved import SavedFilters
from app.workbench import Workbench

REFRESH_SECONDS = 0.5
FIRST_ROWS = 18
"""That fill a window of 1,250 pixels: the others of a page that is opened come once these are seen."""
_HEADING = joined(
    tag("h1", "Runs", cls="page-title"),
    tag("p", "Every run of every agent, newest first. Open one to read it step by step.", cls="page-lead"),
)


def runs_page(workbench: Workbench, arguments: PageArguments) -> None:
    """Build `/runs`. Raises `StorageError` when the rows cannot be read."""
    page = RunsPage(workbench, arguments)
    if not page.show_at_once():
        background_tasks.create(page.load(), name="load runs", context=page.table)


class RunsPage:
    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._frame = arguments.frame
        self._query = RunsQuery.of(arguments.query_parameters)
        self._shown: list[RunRow] = []
        self._excerpts: Mapping[str, Excerpt] = {}
        self._answering = False
        self._seen = self._stamp()
        self._not_before = 0.0
        self._typing: frozenset[str] = frozenset()
        """The box that is being typed into, as far as one is."""
        self._picked: str | None = None
        """The row that was chosen last, from which a range begins."""
        ui.page_title("Runs · Agent Playground")
        with ui.element("div").classes("page page-wide runs-page"):
            ui.html(_HEADING, sanitize=False)
            self._filters = RunFilters(
                self._query,
                agents=self._agents(),
                models=workbench.rows.models(),
                variants=workbench.rows.variants,
                tags=workbench.scores.tags(),
                providers=workbench.rows.providers(),
                tools=workbench.rows.tools(),
                ask=self._ask,
            )
            self._undo = UndoBar()
            self._build_actions()
            self.table = self._build_table()
            self._nothing = ui.element("div")
            self._pager = Pager("runs", lambda page: self._ask(self._query.model_copy(update={"page": page})))
        ui.timer(REFRESH_SECONDS, self._tick)

    def _build_actions(self) -> None:
        with ui.element("div").classes("toolbar runs-actions"):
            self._count = ui.html("Loading runs…", sanitize=False).classes("muted grow")
            self._count.props("role=status data-testid=runs-count")
            self._delete = button("Delete", self._delete_selected, look="danger", icon="delete", testid="delete-runs")
            self._export = button("Export", self._export_selected, icon="download", testid="export-runs")
            self._compare = button("Compare", self._compare_selected, icon="compare_arrows", testid="compare-runs")
            self._compare.props('title="Put the two chosen runs side by side"')
            self._delete.visible = self._export.visible = self._compare.visible = False
            SavedFilters(self._workbench, query=lambda: self._query, ask=self._ask, undo=self._undo)
            ImportRun()

    def _build_table(self) -> LiveTable:
        table = LiveTable(head=HEADER, body=BODY, columns=columns(self._query), testid="runs-table")
        return table.classes("runs-table").on("sort", self._sort).on("pick", self._pick).on("pick_all", self._pick_all)

    def _agents(self) -> dict[str, str]:
        names = {agent.slug: agent.name for agent in self._workbench.agents.all()}
        return {slug: names.get(slug, slug) for slug in self._workbench.rows.agents()}

    def show_at_once(self) -> bool:
        """Put the rows into the page as it is sent first; False where some have to be looked at closer before."""
        query = self._query
        if query.text.strip():
            return False  # what was said in them is searched beside the event loop
        found = self._workbench.rows.find(
            query.filter, sort=query.sort, descending=query.descending, offset=query.offset, limit=PAGE_SIZE
        )
        unfinished = query.status in UNFINISHED or any(row.status in UNFINISHED for row in found.rows)
        if unfinished or (found.total and not found.rows):
            return False
        self._show(found, rows=FIRST_ROWS)
        ui.timer(0, self._show_rows, once=True)
        return True

    async def load(self) -> None:
        """Read the page of runs that the query names, and show it."""
        started, query = monotonic(), self._query
        self._seen = self._stamp()
        try:
            found = await self._workbench.runs.lists.page(
                query.filter, sort=query.sort, descending=query.descending, offset=query.offset, limit=PAGE_SIZE
            )
        except WorkbenchError as problem:
            self._show_nothing("error", "The runs could not be read", str(problem))
            return
        if query is not self._query:
            return  # something else was asked meanwhile
        if not found.rows and found.total:
            self._show_query(query.model_copy(update={"page": pages(found.total, PAGE_SIZE)}), in_place=True)
            return
        self._not_before = monotonic() + 10 * (monotonic() - started)
        self._show(found)

    async def _tick(self) -> None:
        if self._seen != self._stamp() and monotonic() >= self._not_before:
            await self.load()
        elif any(row.status == "running" for row in self._shown):
            self._show_rows()

    def _stamp(self) -> tuple[int, ...]:
        """Changes whenever a run of this process begins, gets on or ends, or more of them can be searched."""
        runs, search = self._workbench.runs, self._workbench.search
        found = (search.behind, search.grown) if self._query.text.strip() else ()
        shown = [live for live in runs.live_runs() if self._query.behind or live.started.purpose not in BEHIND]
        begun = runs.begun if self._query.behind else runs.begun - runs.begun_behind
        return (begun, self._workbench.scores.revision, *found, *(len(live.entries) for live in shown))

    def _sort(self, event: events.GenericEventArguments) -> None:
        key: SortKey = next((key for key in SORT_KEYS if key == event.args), "started_at")
        self._ask(self._query.sorted_by(key))

    def _pick(self, event: events.GenericEventArguments) -> None:
        """Choose a row; with Shift, also those between it and the one before."""
        run_id, with_shift = event.args
        since, self._picked = self._picked if with_shift else None, str(run_id)
        self._select(picked(self._listed(), self.table.selected, self._picked, since=since))

    def _pick_all(self, event: events.GenericEventArguments) -> None:
        self._select(self._listed() if event.args else [])

    def _listed(self) -> list[str]:
        return [row["id"] for row in self.table.rows]

    def _ask(self, query: RunsQuery) -> None:
        """Show what another query finds, and let Back lead to the one before; what is typed on is one step."""
        changed = query.changed(self._query)
        self._show_query(query, in_place=changed == self._typing)
        self._typing = changed if len(changed) == 1 and changed <= TYPED else frozenset()

    def _show_query(self, query: RunsQuery, *, in_place: bool) -> None:
        """Let page and address say that query; `in_place` of the address that was."""
        self._query = query
        self._filters.show(query)
        self.table.show_columns(columns(query))
        self._select_none()
        self.table.wait()
        say_address(self._frame, query.address, in_place=in_place)
        background_tasks.create(self.load(), name="load runs", context=self.table)

    def _export_selected(self) -> None:
        open_export(self._workbench, self.table.selected)

    def _compare_selected(self) -> None:
        """Open the two chosen runs side by side, the earlier one at the left."""
        started = {row.run_id: row.started_at for row in self._shown}
        earlier, later = sorted(self.table.selected, key=lambda run_id: started[run_id])
        ui.navigate.to(address_with(run_address(later), {"beside": earlier}))

    async def _delete_selected(self) -> None:
        chosen = self.table.selected
        ended = [run_id for run_id in chosen if self._workbench.runs.live(run_id) is None]
        if len(ended) < len(chosen):
            notify("A run that goes on cannot be deleted. Stop it first.")
        if not ended:
            return
        with problems_shown():
            await self._workbench.rows.delete(ended)
            self._select_none()
            await self.load()
            undo = partial(self._workbench.rows.restore, ended)
            self._undo.show(f"Deleted {plural(len(ended), 'run')}", undo, self.load)

    def _select_none(self) -> None:
        self._picked = None
        self._select([])

    def _select(self, run_ids: list[str]) -> None:
        self.table.select(run_ids)
        number = len(run_ids)
        self._delete.visible = self._export.visible = number > 0
        self._compare.visible = number == 2
        self._delete.text = f"Delete {plural(number, 'run')}"

    def _show(self, found: RunPage, *, rows: int | None = None) -> None:
        """Show it, or the first so many of its rows."""
        self._shown, self._excerpts = found.rows, found.excerpts
        self._show_rows(rows)
        self._show_total(found.total)
        if not self._answering and any(row.answer is None for row in found.rows):
            background_tasks.create(self._fill_answers(), name="read answers of old runs", context=self.table)

    async def _fill_answers(self) -> None:
        """Show the answers that rows of an earlier version do not tell, also of another page that is shown by then."""
        self._answering, asked = True, set[str]()
        try:
            while wanted := [row for row in self._shown if row.answer is None and row.run_id not in asked]:
                asked |= {row.run_id for row in wanted}
                answers = {row.run_id: row.answer for row in await self._workbench.runs.lists.answered(wanted)}
                if answers and not self.table.is_deleted:
                    self._shown = [
                        row.model_copy(update={"answer": answers[row.run_id]}) if row.run_id in answers else row
                        for row in self._shown
                    ]
                    self._show_rows()
        finally:
            self._answering = False

    def _show_rows(self, first: int | None = None) -> None:
        moment = now()
        self.table.show([self._cells(row, moment) for row in self._shown[:first]])
        listed = set(self._listed())
        if not listed.issuperset(self.table.selected):  # nobody deletes what is not to be seen
            self._select([run_id for run_id in self.table.selected if run_id in listed])

    def _cells(self, row: RunRow, moment: datetime) -> Cells:
        run_id = row.run_id
        marks, below = self._workbench.scores.marks(run_id), self._workbench.rows.cost_below(run_id)
        return cells(row, moment, self._excerpts.get(run_id), marks=marks, below=below)

    def _show_total(self, total: int) -> None:
        unread = self._workbench.search.behind if self._query.text.strip() else 0
        self._count.set_content(tag("span", range_words(self._query, self._shown, total), unread_words(unread)))
        self._nothing.clear()
        self.table.visible = total > 0
        if not total and self._query.filtered:
            self._show_nothing("search_off", "No run fits", "Change the filters above, or clear them to see all runs.")
        elif not total:
            words = "A run appears here as soon as an agent is asked."
            self._show_nothing("receipt_long", "No runs yet", words, tag("a", "Go to the Playground", href=LANDING))
        self._pager.show(self._query.page, pages(total, PAGE_SIZE))

    def _show_nothing(self, symbol: str, title: str, words: str, *next_step: Html) -> None:
        self._nothing.clear()
        self.table.visible = False
        with self._nothing:
            empty_state(symbol, title, words, *next_step)


def picked(rows: Sequence[str], chosen: Collection[str], clicked: str, *, since: str | None) -> list[str]:
    """The chosen rows, in the order of the list, after a click on one of them.

    `since` is where a range begins: all rows from there to the clicked one become what the clicked one becomes.
    """
    wanted = clicked not in chosen
    touched = {clicked}
    if since in rows and clicked in rows:
        first, last = sorted((rows.index(since), rows.index(clicked)))
        touched = set(rows[first : last + 1])
    return [row for row in rows if (wanted if row in touched else row in chosen)]
