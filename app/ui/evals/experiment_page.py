"""`/experiments/{id}`: what is tried, how far it is, what came of it, and what went wrong."""

from contextlib import suppress
from functools import partial
from time import monotonic

from nicegui import background_tasks, ui

from app.domain.errors import NotFound
from app.domain.evals.experiments import Cell, CellState, Experiment
from app.ui.elements.buttons import icon_button
from app.ui.elements.choice import Choice
from app.ui.elements.clicks import on_click_of
from app.ui.elements.focus import refocus
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.pager import Pager, pages
from app.ui.elements.undo_bar import DeletedNotice
from app.ui.evals.experiment_views import action_buttons, cells_list, columns_table, heading, progress_view
from app.ui.evals.verdict_view import verdict_view
from app.workbench import Workbench

REFRESH_SECONDS = 0.5
PAGE_SIZE = 25
PROBLEMS: tuple[tuple[CellState, str], ...] = (
    ("failed", "Failed"),
    ("error", "Errors"),
    ("not_scored", "Not scored"),
    ("skipped", "Skipped"),
)


def experiment_page(workbench: Workbench, experiment_id: str) -> None:
    """Build the page; raises `NotFound`."""
    ExperimentPage(workbench, workbench.experiments.get(experiment_id))


class ExperimentPage:
    """Looks up what is new while something changes, the longer it takes the more seldom."""

    def __init__(self, workbench: Workbench, experiment: Experiment) -> None:
        self._workbench = workbench
        self._experiment = experiment
        self._seen: object = None
        self._not_before = 0.0
        self._only: CellState | None = None
        self._page = 1
        self._headlines: dict[str, str] = {}
        self._names = {agent.id: agent.name for agent in workbench.agents.all()}
        ui.page_title(f"{experiment.title} · Agent Playground")
        with ui.element("div").classes("page page-wide experiment-page"):
            with ui.element("div").classes("toolbar evals-head"):
                self._heading = LiveHtml().classes("grow")
                self._buttons = on_click_of(LiveHtml().classes("run-actions"), "do", self._act)
                with icon_button("more_vert", "More", testid="experiment-more"), ui.menu():
                    ui.menu_item("Delete", self._delete).props("data-testid=experiment-delete")
            words = "This experiment is deleted. It is removed for good at a later start of the app."
            restore = partial(workbench.experimenting.restore, experiment.id)
            self._deleted = DeletedNotice(words, restore, testid="experiment-deleted")
            with ui.element("div").classes("stack experiment-body") as self._body:
                self._progress = LiveHtml().props("data-testid=experiment-progress")
                self._verdict = LiveHtml()
                self._columns = LiveHtml()
                self._build_cells()
        self._heading.show(heading(experiment, self._names))
        self._progress.show(tag("p", "Reading what came of it…", cls="muted"))
        ui.timer(0, self._tick, once=True)
        ui.timer(REFRESH_SECONDS, self._tick)

    def _build_cells(self) -> None:
        ui.html("Cells", sanitize=False, tag="h2").classes("section-title")
        self._choice = Choice(PROBLEMS, self._choose, label="Which cells are shown", testid="cells-{}")
        self._cells = LiveHtml()
        self._pager = Pager("cells", self._turn)

    async def _tick(self) -> None:
        """Show what changed since the last time."""
        own, experimenting = self._experiment.id, self._workbench.experimenting
        self._experiment = self._workbench.experiments.get(own)
        gone = self._experiment.deleted_at is not None
        self._deleted.show(deleted=gone)
        self._body.visible = self._buttons.visible = not gone
        if gone:
            self._seen = None
            return
        progress = await experimenting.progress(own)
        if self._only is None and progress.ended:
            self._show_only("error" if progress.error and not progress.failed else "failed")
        seen = (self._experiment, progress, self._workbench.cells.revision(own), self._only, self._page)
        if seen == self._seen:
            return
        shown = self._experiment.model_copy(update={"status": progress.status, "why": progress.why})
        self._heading.show(heading(shown, self._names))
        self._buttons.show(action_buttons(progress))
        self._progress.show(progress_view(progress, shown.plan))
        if monotonic() >= self._not_before:
            self._seen = seen
            with suppress(NotFound):  # it was deleted meanwhile, which the next look tells
                await self._show_results()

    async def _show_results(self) -> None:
        began, own, experimenting = monotonic(), self._experiment.id, self._workbench.experimenting
        results = await experimenting.results(own)
        self._verdict.show(verdict_view(results))
        self._columns.show(columns_table(results))
        if self._only is not None:
            await self._show_cells(self._only)
        self._not_before = monotonic() + 10 * (monotonic() - began)

    async def _show_cells(self, only: CellState) -> None:
        cells, total = await self._read(only)
        if not cells and total:  # there are fewer than there were
            self._page = pages(total, PAGE_SIZE)
            cells, total = await self._read(only)
        if cells and not self._headlines:
            cases = await self._workbench.collecting.cases_of(self._experiment.plan.cases)
            self._headlines = {case.id: case.headline for case in cases.values()}
        self._cells.show(cells_list(self._experiment.plan, cells, self._headlines, only))
        self._pager.show(self._page, pages(total, PAGE_SIZE))

    async def _read(self, only: CellState) -> tuple[list[Cell], int]:
        own, offset = self._experiment.id, (self._page - 1) * PAGE_SIZE
        return await self._workbench.experimenting.cells(own, only=only, offset=offset, limit=PAGE_SIZE)

    async def _look(self) -> None:
        """Show at once what somebody asked for."""
        self._seen, self._not_before = None, 0.0
        await self._tick()

    def _turn(self, page: int) -> None:
        self._page = page
        background_tasks.create(self._look(), name="show cells", context=self._body)

    async def _choose(self, only: CellState) -> None:
        self._show_only(only)
        await self._look()

    def _show_only(self, only: CellState) -> None:
        self._only, self._page = only, 1
        self._choice.show(only)

    async def _act(self, action: str) -> None:
        experimenting, own = self._workbench.experimenting, self._experiment.id
        with problems_shown():
            match action:
                case "start":
                    await experimenting.start(own)
                case "pause":
                    await experimenting.pause(own)
                case "resume":
                    await experimenting.resume(own)
                case "cancel":
                    await experimenting.cancel(own)
                case "retry_errors":
                    await experimenting.retry_errors(own)
                case "score_again":
                    await experimenting.score_again(own)
                case _:
                    return
        await self._look()
        refocus(self._buttons, "button")

    async def _delete(self) -> None:
        with problems_shown():
            await self._workbench.experimenting.delete(self._experiment.id)
        await self._look()
