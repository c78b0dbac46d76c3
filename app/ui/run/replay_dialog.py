"""The dialog that goes through a run again with all that was recorded, and says whether it comes out the same."""

from collections.abc import Awaitable, Callable

from nicegui import background_tasks, ui

from app.domain.errors import WorkbenchError
from app.domain.forks.replays import ReplayReport
from app.ui.elements.buttons import button
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.workbench import Workbench

MEANS = (
    "The recorded answers of the model and results of the tools go through the app once more. "
    "Nobody is asked, nothing is changed, no task is begun again, and it costs nothing."
)


class ReplayDialog:
    def __init__(self, workbench: Workbench, run_id: str, on_open: Callable[[int], Awaitable[None]]) -> None:
        """`on_open` is told the entry whose step somebody wants to see."""
        self._workbench = workbench
        self._run_id = run_id
        self._on_open = on_open
        self._differs: int | None = None
        with ui.dialog().props("aria-label=Replay") as self._dialog, ui.card().classes("dialog-card") as card:
            card.props("data-testid=replay-dialog")
            ui.html("Replay", sanitize=False, tag="h2").classes("section-title")
            ui.html(MEANS, sanitize=False, tag="p").classes("muted")
            self._words = ui.html(tag("p", "Replaying…", cls="faint"), sanitize=False)
            self._words.classes("fork-check fill").props("role=status data-testid=replay-report")
            self._progress = ui.linear_progress(show_value=False).props("indeterminate rounded")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Close", self._dialog.close, look="quiet")
                self._show = button("Show the step", self._open, look="primary", testid="replay-step")
        self._show.visible = False
        self._dialog.on("hide", self._dialog.delete)
        self._dialog.open()
        background_tasks.create(self._replay(), name="replay")

    async def _replay(self) -> None:
        try:
            report = await self._workbench.forks.replay(self._run_id)
            words, self._differs = report_words(report), report.first_difference
        except WorkbenchError as error:
            words = tag("p", str(error), cls="is-bad")
        if not self._dialog.is_deleted:  # closed meanwhile
            self._words.set_content(words)
            self._progress.visible = False
            self._show.visible = self._differs is not None

    async def _open(self) -> None:
        self._dialog.close()
        if self._differs is not None:
            await self._on_open(self._differs)


def report_words(report: ReplayReport) -> Html:
    """`Identical: 12 events in 3 steps, $0.`, or what differs first."""
    if not report.identical:
        return joined(tag("p", tag("strong", "It comes out differently.")), tag("p", report.words))
    events = f"{plural(report.events, 'event')} in {plural(report.steps, 'step')}"
    said = tag("p", report.words) if report.words else ""
    return joined(tag("p", icon("check_circle"), " ", tag("strong", f"Identical: {events}, $0.")), said)
