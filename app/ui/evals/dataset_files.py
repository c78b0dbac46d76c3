"""Datasets from and to files: the button that takes one in, with its format guessed, and the ways to take one along."""

from functools import partial
from urllib.parse import quote, urlencode

from nicegui import events, ui

from app.domain.evals.cases import Dataset
from app.export.datasets.dataset_files import OUT_FORMATS, OutFormat
from app.export.limits import LARGEST_DATASET
from app.ui.elements.addresses import dataset_address
from app.ui.elements.buttons import button
from app.ui.elements.focus import refocus
from app.ui.elements.format import head, plural
from app.ui.elements.markup import joined, tag
from app.ui.elements.notices import notify, problems_shown
from app.ui.elements.questions import named_dialog
from app.workbench import Workbench

FORMATS: dict[str, str] = {
    "jsonl": "JSON Lines of this app",
    "csv": "CSV table",
    "promptfoo": "promptfoo, YAML or JSON",
    "adk": "ADK evalset, JSON",
    "openai": "OpenAI evals, JSON Lines",
    "inspect": "Inspect log, .eval or JSON",
}
_TELLING = (
    ("agent-playground/", "jsonl"),
    ('"eval_cases"', "adk"),
    ('"evalCases"', "adk"),
    ('"eval_set_id"', "adk"),
    ('"samples"', "inspect"),
    ('"eval_id"', "inspect"),
    ('"ideal"', "openai"),
    ('"messages"', "openai"),
)
"""What stands near the beginning of such a file."""
_ENDINGS = {"csv": "csv", "tsv": "csv", "yaml": "promptfoo", "yml": "promptfoo", "eval": "inspect", "zip": "inspect"}
_TOO_LARGE = f"This file is larger than {LARGEST_DATASET // 1024**2} MiB, the most that can be imported. Split it."
_BROKEN_OFF = "The file did not arrive. Is the app still running? Then import it again."
_ADDED = """async (files) => {
  emit([files[0].name, await files[0].slice(0, 4096).text()]);
}"""
_ARRIVED = "({ xhr }) => { const { cases, warnings } = JSON.parse(xhr.responseText).data; emit([cases, ...warnings]); }"
_REFUSED = """({ xhr }) => {
  try { emit(JSON.parse(xhr.responseText).error); } catch { emit(""); }
}"""


def guessed(name: str, beginning: str) -> str:
    """The format of a file of that name that begins so."""
    ending = name.rpartition(".")[2].casefold()
    if ending in _ENDINGS or beginning.startswith("PK"):
        return _ENDINGS.get(ending, "inspect")
    found = next((format for telling, format in _TELLING if telling in beginning), None)
    return found or ("jsonl" if ending == "jsonl" else "promptfoo")


class ImportDataset:
    """Lets a person pick a file of cases, for that dataset or a new one, and shows what came of it."""

    def __init__(self, workbench: Workbench, dataset: Dataset | None = None) -> None:
        self._workbench = workbench
        self._into = dataset
        self._name = ""
        pick = button("Import", icon="upload", testid="import-dataset-button")
        # Not ui.upload: its route takes what a page may send, which is less than such a file may have.
        self._upload = ui.element("q-uploader").classes("hidden")
        self._upload.props(f"send-raw data-testid=dataset-file max-file-size={LARGEST_DATASET}")
        self._upload.on("added", self._picked, js_handler=_ADDED)
        self._upload.on("uploaded", self._arrived, js_handler=_ARRIVED)
        self._upload.on("failed", lambda event: self._failed(str(event.args or _BROKEN_OFF)), js_handler=_REFUSED)
        self._upload.on("rejected", lambda: notify(_TOO_LARGE), args=[])
        pick.on("click", js_handler=f"() => getElement({self._upload.id}).pickFiles()")

    def _picked(self, event: events.GenericEventArguments) -> None:
        self._name, beginning = (str(one) for one in event.args)
        with named_dialog("Import cases") as self._dialog, ui.card().classes("dialog-card dialog-small") as card:
            card.props("data-testid=import-dialog")
            ui.html("Import cases", sanitize=False, tag="h2").classes("section-title")
            with ui.element("div").classes("stack fill") as self._place:
                ui.label(head(self._name, 80)).classes("muted")
                self._format = ui.select(FORMATS, value=guessed(self._name, beginning), label="Format").classes("fill")
                self._format.props("outlined dense options-dense data-testid=import-format")
                name = head(self._name.rpartition(".")[0] or self._name, 80)
                self._box = ui.input("Name of the new dataset", value=name).classes("fill")
                self._box.props("outlined dense maxlength=80 data-testid=import-name").visible = self._into is None
                ui.label("Nothing in the file is run. What cannot be taken is listed.").classes("faint")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Close", self._dialog.close, look="quiet", testid="import-close")
                self._go = button("Import", self._send, look="primary", testid="import-confirm")
        self._dialog.on("hide", self._closed)
        self._dialog.open()

    def _closed(self) -> None:
        self._dialog.delete()
        self._upload.run_method("reset")

    async def _send(self) -> None:
        with problems_shown():
            self._dataset = self._into or await self._workbench.collecting.new_dataset(str(self._box.value or ""))
            self._go.props("loading")
            asked = urlencode({"format": str(self._format.value), "filename": self._name[:200]})
            self._upload.props["url"] = f"/api/v1/datasets/{quote(self._dataset.slug)}/import?{asked}"
            self._upload.update()
            self._upload.run_method("upload")

    def _arrived(self, event: events.GenericEventArguments) -> None:
        cases, *notes = event.args
        self._place.clear()
        with self._place:
            link = tag("a", "Open the dataset", href=dataset_address(self._dataset.slug), data_testid="import-open")
            listed = tag("ul", *(tag("li", str(note)) for note in notes), cls="import-notes") if notes else ""
            took = tag("p", f"{plural(int(cases), 'case')} taken in. ", link)
            told = joined(took, listed or tag("p", "All of it was taken.", cls="muted"))
            ui.html(told, sanitize=False).props("role=status data-testid=import-report")
        self._go.visible = False
        refocus(self._place, "a")

    async def _failed(self, words: str) -> None:
        """A dataset that was made for the file goes with it."""
        self._go.props(remove="loading")
        self._upload.run_method("reset")
        self._dialog.close()
        notify(words)
        if self._into is None:
            await self._workbench.collecting.delete(self._dataset.id)


class ExportDataset:
    """A button with a menu of formats; hands the file to the browser."""

    def __init__(self, workbench: Workbench, dataset_id: str) -> None:
        self._workbench = workbench
        self._dataset_id = dataset_id
        with button("Export", icon="ios_share", testid="export-dataset-button"), ui.menu():
            for format in OUT_FORMATS:
                ui.menu_item(FORMATS[format], partial(self._save, format)).props(f"data-testid=export-{format}")

    async def _save(self, format: OutFormat) -> None:
        with problems_shown():
            found = await self._workbench.dataset_files.export(self._dataset_id, format)
            ui.download.content(found.content, found.filename, found.media_type)
