"""`/evals`: the datasets, or the experiments on them."""

from nicegui import PageArguments, ui

from app.ui.elements.addresses import dataset_address
from app.ui.elements.buttons import button
from app.ui.elements.choice import Choice
from app.ui.elements.markup import joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.pager import say_address, stand_at
from app.ui.elements.questions import asked_for_text
from app.ui.evals.dataset_files import ImportDataset
from app.ui.evals.dataset_list import DatasetList
from app.ui.evals.experiment_list import ExperimentList
from app.ui.evals.outcomes import Outcomes
from app.ui.evals.queries import EvalsQuery, Listed
from app.workbench import Workbench

REFRESH_SECONDS = 1.0
_HEADING = joined(
    tag("h1", "Evals", cls="page-title"),
    tag("p", "Cases that agents are tried on, and whether another variant or model does better.", cls="page-lead"),
)
_CHOICES: tuple[tuple[Listed, str], ...] = (("datasets", "Datasets"), ("experiments", "Experiments"))


class EvalsPage:
    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._frame = arguments.frame
        self._query = EvalsQuery.of(arguments.query_parameters)
        self._outcomes = Outcomes(workbench)
        ui.page_title("Evals · Agent Playground")
        with ui.element("div").classes("page evals-page"):
            with ui.element("div").classes("toolbar evals-head"):
                ui.html(_HEADING, sanitize=False).classes("grow")
                ImportDataset(workbench)
                button("New dataset", self._create, look="primary", icon="add", testid="new-dataset-button")
            self._choice = Choice(_CHOICES, self._turn, label="What is shown", testid="evals-{}")
            self._place = ui.element("div")
        self._show()
        ui.timer(REFRESH_SECONDS, self._look)
        if arguments.query_parameters.get("new") == "1":
            stand_at(self._frame, self._query.address)
            ui.timer(0, self._create, once=True)

    def _show(self) -> None:
        self._choice.show(self._query.show)
        self._place.clear()
        self._list: DatasetList | ExperimentList
        with self._place:
            if self._query.show == "datasets":
                self._list = DatasetList(self._workbench, self._outcomes, self._query, self._ask)
            else:
                self._list = ExperimentList(self._workbench, self._outcomes)
            self._list.show()

    async def _look(self) -> None:
        await self._list.look()

    def _turn(self, show: Listed) -> None:
        self._ask(EvalsQuery(show=show))
        self._show()

    def _ask(self, query: EvalsQuery) -> None:
        """Let the address say that query."""
        self._query = query
        say_address(self._frame, query.address)

    async def _create(self) -> None:
        name = await asked_for_text("New dataset", "", label="Name", confirm="Create dataset")
        if name is not None:
            with problems_shown():
                ui.navigate.to(dataset_address((await self._workbench.collecting.new_dataset(name)).slug))
