"""The cases of a dataset: searched, paged, added, changed, deleted and brought back."""

import asyncio
from collections.abc import Callable
from functools import partial

from nicegui import background_tasks, ui

from app.domain.evals.cases import Case, Dataset
from app.domain.values import alphabetical
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import head, plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import tag
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.pager import Pager, pages
from app.ui.elements.undo_bar import UndoBar
from app.ui.evals.case_dialog import CaseDialog
from app.ui.evals.case_rows import cases_table, told_in
from app.ui.evals.queries import DatasetQuery
from app.workbench import Workbench

PAGE_SIZE = 50
AT_ONCE = 200
"""Cases that are read while the page waits; more are read beside it."""
ALL_TAGS = "All tags"


class CasesPanel(ui.element):
    def __init__(
        self, workbench: Workbench, dataset: Dataset, query: DatasetQuery, ask: Callable[[DatasetQuery], object]
    ) -> None:
        """`ask` is told of every other query, and lets the address say it."""
        super().__init__("div")
        self.classes("stack")
        self._workbench = workbench
        self._dataset = dataset
        self._query = query
        self._ask = ask
        self._cases: list[tuple[Case, str]] = []
        """Each with what a search looks through."""
        with self:
            self._build_toolbar()
            self._table = LiveHtml().props("data-testid=case-list")
            on_click_of(self._table, "action", self._act, along=("case",))
            self._nothing = ui.element("div")
            self._pager = Pager("cases", self._turn)
            self._undo = UndoBar()
        self.load(dataset)

    def _build_toolbar(self) -> None:
        with ui.element("div").classes("toolbar"):
            self._search = ui.input(placeholder="Search cases", value=self._query.text, on_change=self._searched)
            self._search.props('outlined dense clearable debounce=150 aria-label="Search cases"')
            self._search.classes("search").props("data-testid=case-search")
            self._tags = ui.select([ALL_TAGS], value=ALL_TAGS, on_change=self._tagged).classes("tag-box")
            self._tags.props('outlined dense options-dense aria-label="Tag" data-testid=case-tag')
            self._count = ui.html(tag("span", "Loading cases…"), sanitize=False).classes("muted grow")
            self._count.props("role=status data-testid=cases-count")
            button("Add case", self._add, icon="add", testid="new-case-button")

    def load(self, dataset: Dataset) -> None:
        """Read the cases as they are by now, and show them."""
        self._dataset = dataset
        if self._workbench.cases.count(dataset.id) <= AT_ONCE:
            self._take(self._found_all())
        else:
            background_tasks.create(self._read(), name="read cases", context=self)

    async def _read(self) -> None:
        found = await asyncio.to_thread(self._found_all)
        if not self.is_deleted:
            self._take(found)

    def _found_all(self) -> list[tuple[Case, str]]:
        return [(case, told_in(case)) for case in self._workbench.cases.of(self._dataset.id)]

    def _take(self, cases: list[tuple[Case, str]]) -> None:
        self._cases = cases
        wanted = {self._query.tag} - {""}  # no case may have it: then it can be taken away again
        tags = sorted({one for case, _ in cases for one in case.tags} | wanted, key=alphabetical)
        self._tags.set_options([ALL_TAGS, *tags], value=self._query.tag or ALL_TAGS)
        self._tags.visible = bool(tags)
        self._show()

    def open(self, case_id: str) -> None:
        """Open that case to be changed, where it is there."""
        if (case := self._found(case_id)) is not None:
            background_tasks.create(self._change(case), name="change a case", context=self)

    def _found(self, case_id: str) -> Case | None:
        return next((case for case, _ in self._cases if case.id == case_id), None)

    def _show(self) -> None:
        words, wanted = self._query.text.casefold().split(), self._query.tag
        tagged = (one for one in self._cases if not wanted or wanted in one[0].tags)
        fitting = [case for case, told in tagged if all(word in told for word in words)]
        last = pages(len(fitting), PAGE_SIZE)
        page = min(self._query.page, last)
        self._table.visible = bool(fitting)
        shown = fitting[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
        self._table.show(cases_table(shown, self._has_run))
        self._pager.show(page, last)
        all_of_them = plural(len(self._cases), "case")
        self._count.set_content(
            tag("span", all_of_them if len(fitting) == len(self._cases) else f"{len(fitting):,} of {all_of_them}")
        )
        self._show_nothing(found=bool(fitting))

    def _has_run(self, run_id: str) -> bool:
        return self._workbench.rows.get(run_id) is not None

    def _show_nothing(self, *, found: bool) -> None:
        self._nothing.clear()
        if found:
            return
        with self._nothing:
            if self._cases:
                words = "Change the search or the tag above, or clear them to see all cases."
                empty_state("search_off", "No case fits", words)
            else:
                words = "Open a run or a conversation and choose “Save as case”, import a file, or write one by hand."
                empty_state("checklist", "No cases yet", words)

    def _searched(self) -> None:
        self._look(self._query.model_copy(update={"text": str(self._search.value or ""), "page": 1}))

    def _tagged(self) -> None:
        wanted = "" if self._tags.value == ALL_TAGS else str(self._tags.value)
        if wanted != self._query.tag:
            self._look(self._query.model_copy(update={"tag": wanted, "page": 1}))

    def _turn(self, page: int) -> None:
        self._look(self._query.model_copy(update={"page": page}))

    def _look(self, query: DatasetQuery) -> None:
        self._query = query
        self._show()
        self._ask(query)

    async def _add(self) -> None:
        if await CaseDialog(self._workbench, self._dataset.id).done():
            self.load(self._dataset)

    async def _act(self, action: str, case_id: str) -> None:
        case = self._found(case_id)
        if case is not None and action == "edit":
            await self._change(case)
        elif case is not None and action == "delete":
            with problems_shown():
                await self._workbench.collecting.delete_case(case.id)
                undo = partial(self._workbench.collecting.restore_case, case.id)
                self._undo.show(f"Deleted “{head(case.headline, 40)}”", undo, partial(self.load, self._dataset))
            self.load(self._dataset)

    async def _change(self, case: Case) -> None:
        if await CaseDialog(self._workbench, self._dataset.id, case).done():
            self.load(self._dataset)
