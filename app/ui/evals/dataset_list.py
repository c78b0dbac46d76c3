"""Datasets as a list: searched, deleted and brought back, each with what came of its last experiment."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from nicegui import ui

from app.domain.evals.cases import Dataset
from app.domain.values import now
from app.ui.elements.addresses import dataset_address
from app.ui.elements.buttons import icon_action
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import ago, head, moment_text, plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.pager import Pager, pages
from app.ui.elements.undo_bar import UndoBar
from app.ui.evals.outcomes import Outcomes
from app.ui.evals.queries import EvalsQuery
from app.workbench import Workbench

PAGE_SIZE = 25
_WAY_IN = "Create one, import a file, or open a run and choose “Save as case”. Then open it and choose “Try it”."


class DatasetList(ui.element):
    def __init__(
        self, workbench: Workbench, outcomes: Outcomes, query: EvalsQuery, ask: Callable[[EvalsQuery], object]
    ) -> None:
        """`ask` is told of every other query, and lets the address say it."""
        super().__init__("div")
        self.classes("stack")
        self._workbench = workbench
        self._outcomes = outcomes
        self._query = query
        self._ask = ask
        self._seen: object = None
        self._counts: dict[tuple[str, datetime], tuple[int, int]] = {}
        with self:
            with ui.element("div").classes("toolbar"):
                self._search = ui.input(placeholder="Search datasets", value=query.text, on_change=self._searched)
                self._search.props('outlined dense clearable debounce=150 aria-label="Search datasets"')
                self._search.classes("search").props("data-testid=dataset-search")
                self._count = ui.html(sanitize=False).classes("muted grow").props("role=status")
            self._list = LiveHtml().props("data-testid=dataset-list")
            on_click_of(self._list, "action", self._delete, along=("dataset",))
            self._nothing = ui.element("div")
            self._pager = Pager("datasets", self._turn)
            self._undo = UndoBar()

    async def look(self) -> None:
        """Show them anew where something changed."""
        experiments = self._outcomes.stamps(self._workbench.experiments.recent(limit=PAGE_SIZE))
        seen = [*((one.id, one.updated_at) for one in self._workbench.datasets.all()), *experiments]
        if seen != self._seen or await self._outcomes.read():
            self._seen = seen
            self.show()

    def show(self) -> None:
        """Show them as they are now."""
        datasets, words = self._workbench.datasets.all(), self._query.text.casefold().split()
        fitting = [one for one in datasets if all(word in f"{one.name} {one.description}".casefold() for word in words)]
        last = pages(len(fitting), PAGE_SIZE)
        page = min(self._query.page, last)
        shown = fitting[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
        self._list.visible = bool(shown)
        self._list.show(tag("ul", *map(self._row, shown), cls="session-list"))
        self._count.set_content(tag("span", plural(len(fitting), "dataset")))
        self._pager.show(page, last)
        self._nothing.clear()
        with self._nothing:
            if not datasets:
                empty_state("dataset", "No datasets yet", _WAY_IN)
            elif not fitting:
                empty_state("search_off", "No dataset fits", "Try fewer words.")

    def _row(self, dataset: Dataset) -> Html:
        changed, (cases, must) = dataset.updated_at, self._counted(dataset)
        latest = self._workbench.experiments.recent(dataset_id=dataset.id, limit=1)
        outcome = self._outcomes.words(latest[0]) if latest else "Not tried yet"
        link = tag(
            "a",
            icon("dataset", "faint"),
            tag("span", tag("strong", dataset.name), tag("small", dataset.description), cls="eval-name grow"),
            tag("span", plural(cases, "case"), cls="session-meta"),
            tag("span", f"{must} must pass" if must else "", cls="session-meta optional"),
            tag("span", outcome, cls="session-meta eval-outcome", data_testid="dataset-outcome"),
            tag("time", ago(changed, now()), cls="session-meta optional", title=moment_text(changed)),
            href=dataset_address(dataset.slug),
            data_key=dataset.id,
        )
        delete = icon_action("delete", "delete_outline", f"Delete {dataset.name}", title="Delete", of=dataset.id)
        return tag("li", link, delete, cls="session-row", data_dataset=dataset.id, data_testid="dataset-row")

    def _counted(self, dataset: Dataset) -> tuple[int, int]:
        """Its cases, and how many of them must pass; counted anew when the dataset has changed."""
        known, count = (dataset.id, dataset.updated_at), self._workbench.cases.count
        if known not in self._counts:
            self._counts[known] = count(dataset.id), count(dataset.id, must_pass=True)
        return self._counts[known]

    def _searched(self) -> None:
        self._look_for(self._query.model_copy(update={"text": str(self._search.value or ""), "page": 1}))

    def _turn(self, page: int) -> None:
        self._look_for(self._query.model_copy(update={"page": page}))

    def _look_for(self, query: EvalsQuery) -> None:
        self._query = query
        self.show()
        self._ask(query)

    async def _delete(self, _: str, dataset_id: str) -> None:
        with problems_shown():
            gone = await self._workbench.collecting.delete(dataset_id)
            undo = partial(self._workbench.collecting.restore, dataset_id)
            self._undo.show(f"Deleted “{head(gone.name, 40)}”", undo, self.show)
            self.show()
