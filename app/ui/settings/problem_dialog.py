"""Shows what a problem report holds before it is saved; it is sent nowhere."""

from nicegui import background_tasks, ui

from app.domain.values import now
from app.ui.elements.buttons import button
from app.ui.elements.format import size
from app.ui.elements.markup import Html, joined, tag
from app.workbench import Workbench
from app.workbench.problem_report import problem_report, zipped

LONGEST_SHOWN = 20_000
"""Characters of a text that are shown: of a log the end."""


def open_problem_dialog(workbench: Workbench) -> None:
    ProblemDialog(workbench)


class ProblemDialog:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._texts: dict[str, str] = {}
        with ui.dialog() as self._dialog, ui.card().classes("dialog-card problem-dialog") as card:
            card.props("data-testid=problem-dialog")
            ui.html("Report a problem", sanitize=False, tag="h2").classes("section-title")
            ui.label(
                "This is what the file will hold. Nothing is sent: save it, look through it, and attach it to your "
                "report. Known keys, and what looks like one, are taken out."
            ).classes("faint")
            self._list = ui.html(tag("p", "Gathering…", cls="faint"), sanitize=False).props("data-testid=problem-list")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Cancel", self._dialog.close, look="quiet")
                self._save = button("Save the file", self._download, look="primary", testid="save-problem-report")
        self._save.disable()
        self._dialog.on("hide", self._dialog.delete)
        self._dialog.open()
        background_tasks.create(self._gather(), name="problem report")

    async def _gather(self) -> None:
        self._texts = await problem_report(self._workbench)
        if not self._dialog.is_deleted:
            self._list.set_content(listed(self._texts))
            self._save.enable()

    def _download(self) -> None:
        name = f"agent-playground-problem-{now():%Y%m%d-%H%M%S}.zip"
        ui.download.content(zipped(self._texts), name, "application/zip")
        self._dialog.close()


def listed(texts: dict[str, str]) -> Html:
    """Each text by its name and size, to be opened and read."""
    return joined(*(_text(name, text) for name, text in texts.items()))


def _text(name: str, text: str) -> Html:
    shown = text if len(text) <= LONGEST_SHOWN else f"…{text[-LONGEST_SHOWN:]}"
    head = tag("summary", name, " ", tag("span", size(len(text.encode())), cls="faint"))
    return tag("details", head, tag("pre", shown, cls="problem-text"), data_testid="problem-text")
