"""Experiments as a list, the newest first: of all datasets, or of one."""

from functools import partial

from nicegui import ui

from app.domain.evals.experiments import Experiment
from app.domain.values import now
from app.ui.elements.addresses import experiment_address
from app.ui.elements.buttons import icon_action
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import ago, head, moment_text, plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.pager import Pager, pages
from app.ui.elements.status_pill import experiment_pill
from app.ui.elements.undo_bar import UndoBar
from app.ui.evals.outcomes import Outcomes, Stamp
from app.workbench import Workbench

PAGE_SIZE = 20


class ExperimentList(ui.element):
    def __init__(self, workbench: Workbench, outcomes: Outcomes, dataset_id: str = "") -> None:
        super().__init__("div")
        self.classes("stack")
        self._workbench = workbench
        self._outcomes = outcomes
        self._dataset_id = dataset_id
        self._page = 1
        self._seen: list[Stamp] = []
        with self:
            self._list = LiveHtml().props("data-testid=experiment-list")
            on_click_of(self._list, "action", self._delete, along=("experiment",))
            self._nothing = ui.element("div")
            self._pager = Pager("experiments", self._turn)
            self._undo = UndoBar()

    async def look(self) -> None:
        """Show them anew where something changed."""
        stamps = self._outcomes.stamps(self._listed())
        if stamps != self._seen or await self._outcomes.read():
            self._seen = stamps
            self.show()

    def _listed(self) -> list[Experiment]:
        """Those of the page that is shown, the last one where there are fewer, and the first one of the next."""
        experiments, dataset = self._workbench.experiments, self._dataset_id
        self._page = min(self._page, pages(experiments.count(dataset_id=dataset), PAGE_SIZE))
        offset = (self._page - 1) * PAGE_SIZE
        return experiments.recent(dataset_id=dataset, offset=offset, limit=PAGE_SIZE + 1)

    def show(self) -> None:
        """Show them as they stand by now."""
        found = self._listed()
        self._list.visible = bool(found)
        self._list.show(tag("ul", *map(self._row, found[:PAGE_SIZE]), cls="session-list"))
        self._pager.show(self._page, self._page + (len(found) > PAGE_SIZE))
        self._nothing.clear()
        if not found:
            with self._nothing:
                words = "Open a dataset and choose “Try it”: its cases are put to an agent, and scored."
                empty_state("science", "No experiments yet", words)

    def _turn(self, page: int) -> None:
        self._page = page
        self.show()

    async def _delete(self, _: str, experiment_id: str) -> None:
        with problems_shown():
            gone = await self._workbench.experimenting.delete(experiment_id)
            undo = partial(self._workbench.experimenting.restore, experiment_id)
            self._undo.show(f"Deleted “{head(gone.title, 40)}”", undo, self.show)
            self.show()

    def _row(self, experiment: Experiment) -> Html:
        plan, made = experiment.plan, experiment.created_at
        live = self._workbench.experimenting.is_live(experiment.id)
        status = "interrupted" if experiment.status == "running" and not live else experiment.status
        link = tag(
            "a",
            icon("science", "faint"),
            tag("span", tag("strong", experiment.title), tag("small", _asked(experiment)), cls="eval-name grow"),
            tag("span", experiment_pill(status), cls="session-meta"),
            tag("span", self._outcomes.words(experiment), cls="session-meta eval-outcome"),
            tag("time", ago(made, now()), cls="session-meta optional", title=moment_text(made)),
            href=experiment_address(experiment.id),
            data_key=experiment.id,
        )
        delete = icon_action("delete", "delete_outline", f"Delete {experiment.title}", title="Delete", of=experiment.id)
        return tag("li", link, delete, cls="session-row", data_experiment=experiment.id, data_testid="experiment-row",
                   data_agent=plan.agent_slug)  # fmt: skip


def _asked(experiment: Experiment) -> str:
    plan = experiment.plan
    return f"{plan.agent_slug} · {plural(len(plan.case_ids), 'case')} · {plural(plan.size, 'cell')}"
