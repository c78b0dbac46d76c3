"""`/evals/{slug}`: a dataset with its cases, its scorers and what was tried on it."""

from functools import partial

from nicegui import PageArguments, ui

from app.domain.evals.cases import Dataset, DatasetChanges
from app.ui.elements.addresses import EVALS
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.choice import Choice
from app.ui.elements.format import head, plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.pager import say_address
from app.ui.elements.questions import asked_for_text
from app.ui.elements.undo_bar import DeletedNotice
from app.ui.evals.cases_panel import CasesPanel
from app.ui.evals.dataset_files import ExportDataset, ImportDataset
from app.ui.evals.experiment_list import ExperimentList
from app.ui.evals.outcomes import Outcomes
from app.ui.evals.queries import DatasetQuery, Part
from app.ui.evals.scorers_panel import ScorersPanel
from app.ui.evals.try_dialog import open_try
from app.workbench import Workbench

REFRESH_SECONDS = 1.0
PARTS: tuple[tuple[Part, str], ...] = (("cases", "Cases"), ("scorers", "Scorers"), ("experiments", "Experiments"))


def dataset_page(workbench: Workbench, slug: str, arguments: PageArguments) -> None:
    """Build the page; raises `NotFound`."""
    DatasetPage(workbench, workbench.datasets.by_slug(slug), arguments)


class DatasetPage:
    def __init__(self, workbench: Workbench, dataset: Dataset, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._dataset = dataset
        self._frame = arguments.frame
        self._query = DatasetQuery.of(dataset.slug, arguments.query_parameters)
        self._outcomes = Outcomes(workbench)
        self._part: CasesPanel | ScorersPanel | ExperimentList
        ui.page_title(f"{dataset.name} · Agent Playground")
        with ui.element("div").classes("page page-wide dataset-page"):
            self._build_head()
            restore = partial(workbench.collecting.restore, dataset.id)
            self._deleted = DeletedNotice("This dataset is deleted.", restore, testid="dataset-deleted")
            self._choice = Choice(PARTS, self._turn, label="What is shown", testid="dataset-{}")
            self._place = ui.element("div")
        self._show()
        self._show_part()
        ui.timer(REFRESH_SECONDS, self._tick)
        if isinstance(self._part, CasesPanel) and (case_id := arguments.query_parameters.get("case", "")):
            self._part.open(case_id)

    def _build_head(self) -> None:
        with ui.element("div").classes("toolbar evals-head"):
            self._heading = LiveHtml().classes("grow")
            ImportDataset(self._workbench, self._dataset)
            ExportDataset(self._workbench, self._dataset.id)
            button("Try it", self._try, look="primary", icon="play_arrow", testid="try-dataset-button")
            with icon_button("more_vert", "More", testid="dataset-more"), ui.menu():
                ui.menu_item("Rename…", partial(self._change, "name", "Name"))
                ui.menu_item("Describe…", partial(self._change, "description", "Description"))

    def _show(self) -> None:
        self._heading.show(_heading(self._dataset, self._workbench))
        self._choice.show(self._query.show)

    def _show_part(self) -> None:
        self._place.clear()
        with self._place:
            match self._query.show:
                case "cases":
                    self._part = CasesPanel(self._workbench, self._dataset, self._query, self._ask)
                case "scorers":
                    self._part = ScorersPanel(self._workbench, self._dataset)
                case "experiments":
                    self._part = ExperimentList(self._workbench, self._outcomes, self._dataset.id)
                    self._part.show()

    async def _tick(self) -> None:
        """Show what changed since, here or elsewhere."""
        newest = self._workbench.datasets.get(self._dataset.id)
        self._deleted.show(deleted=newest.deleted_at is not None)
        if newest != self._dataset:
            changed, self._dataset = newest.version != self._dataset.version, newest
            if changed and isinstance(self._part, CasesPanel | ScorersPanel):
                self._part.load(newest)
            self._show()
        if isinstance(self._part, ExperimentList):
            await self._part.look()

    def _turn(self, show: Part) -> None:
        self._ask(DatasetQuery(slug=self._dataset.slug, show=show))
        self._show()
        self._show_part()

    def _ask(self, query: DatasetQuery) -> None:
        self._query = query
        say_address(self._frame, query.address)

    async def _change(self, field: str, title: str) -> None:
        before = str(getattr(self._dataset, field))
        said = await asked_for_text(f"{title} of the dataset", before, label=title)
        if said is not None and said != before:
            with problems_shown():
                changes = DatasetChanges.model_validate({field: said})
                await self._workbench.collecting.change_dataset(self._dataset.id, changes)
                await self._tick()  # which shows the cases too that came meanwhile

    async def _try(self) -> None:
        await open_try(self._workbench, self._dataset)


def _heading(dataset: Dataset, workbench: Workbench) -> Html:
    must = workbench.cases.count(dataset.id, must_pass=True)
    facts = (
        plural(workbench.cases.count(dataset.id), "case"),
        f"{must} must pass" if must else "",
        plural(len(dataset.scorers), "scorer"),
        f"version {dataset.version}",
    )
    return joined(
        tag("a", icon("arrow_back"), "Evals", href=EVALS, cls="back-link"),
        tag("h1", head(dataset.name, 80), cls="page-title"),
        tag("p", dataset.description, cls="page-lead") if dataset.description else "",
        tag("p", " · ".join(filter(None, facts)), cls="faint", data_testid="dataset-facts"),
    )
