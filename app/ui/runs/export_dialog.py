"""The dialog that takes runs along: in which format, what is taken out of them, and the file."""

from collections import Counter
from collections.abc import Sequence

from nicegui import background_tasks, ui

from app.domain.errors import WorkbenchError
from app.domain.secrets.shapes import SHAPES, Shape
from app.domain.values import size
from app.export.exports import FORMATS, Choice, Exported, Format
from app.export.redacting import KNOWN, Redaction
from app.ui.elements.buttons import button, loading
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import copy_text, notify, problems_shown
from app.workbench import Workbench

SAYS: dict[Format, tuple[str, str]] = {
    "markdown": ("Markdown review", "Each step with its decision, actions and observations, to read or to hand on."),
    "html": ("Web page", "One file that opens in any browser without this app and loads nothing."),
    "jsonl": ("JSON Lines", "The whole trace for scripts: one event a line."),
    "otel": ("OpenTelemetry", "Spans as OTLP JSON for a tracing tool, named by the GenAI conventions."),
    "atif": (
        "ATIF trajectory",
        "A trajectory for Harbor and its like; it says what it has no place for.",
    ),
    "bundle": ("Bundle", "The run with its files, to import on the Runs page of another copy of this app."),
}
MOST_SHOWN = 30
"""Rows of the preview; the others are counted."""


def open_export(workbench: Workbench, run_ids: Sequence[str]) -> None:
    """Ask in which format the runs are wanted, show what is taken out, and hand the file to the browser."""
    if not run_ids:
        notify("No run is chosen. Choose runs in the list first.")
        return
    ExportDialog(workbench, tuple(run_ids))


class ExportDialog:
    def __init__(self, workbench: Workbench, run_ids: tuple[str, ...]) -> None:
        self._workbench = workbench
        self._run_ids = run_ids
        self._format: Format = "html" if workbench.preferences.get().mode == "user" else "markdown"
        self._found: tuple[Redaction, ...] = ()
        self._looks = 0
        self._switches: dict[Shape, ui.checkbox] = {}
        with (
            ui.dialog().props("aria-label=Export") as self._dialog,
            ui.card().classes("dialog-card export-dialog") as card,
        ):
            card.props("data-testid=export-dialog")
            title = "Export run" if len(run_ids) == 1 else f"Export {plural(len(run_ids), 'run')}"
            ui.html(title, sanitize=False, tag="h2").classes("section-title")
            self._choices = ui.html(sanitize=False).classes("template-list").props("role=radiogroup aria-label=Format")
            on_click_of(self._choices, "format", self._choose)
            self._attachments = ui.checkbox("Images and files", value=True, on_change=self._look)
            self._attachments.props("data-testid=export-attachments")
            self._call_files = ui.checkbox("Each tool call as a file beside it", value=self._has_many_calls())
            self._call_files.props("data-testid=export-call-files")
            ui.html("Keys and passwords", sanitize=False, tag="h3").classes("field-title")
            self._preview = ui.html(tag("p", "Looking for keys and passwords…", cls="faint"), sanitize=False)
            self._preview.classes("export-preview").props("role=status tabindex=0 data-testid=export-preview")
            self._shapes = ui.element("div").classes("export-shapes")
            self._build_buttons()
        self._dialog.on("hide", self._dialog.delete)
        self._show_formats()
        self._dialog.open()
        background_tasks.create(self._look(), name="export preview")

    def _build_buttons(self) -> None:
        with ui.element("div").classes("row-line dialog-buttons"):
            button("Cancel", self._dialog.close, look="quiet")
            self._copy = button("Copy", self._copy_text, icon="content_copy", testid="export-copy")
            self._download = button("Download", self._save, look="primary", testid="export-download")

    @property
    def _choice(self) -> Choice:
        let_through = frozenset(shape for shape, switch in self._switches.items() if not switch.value)
        return Choice(
            attachments=bool(self._attachments.value),
            let_through=let_through,
            call_files=bool(self._call_files.value),
        )

    def _has_many_calls(self) -> bool:
        """Whether a zip file is worth it; a run of one call reads well in one document."""
        rows = [self._workbench.rows.get(run_id) for run_id in self._run_ids]
        return len(rows) > 1 or any(row is None or row.tool_calls > 1 for row in rows)

    def _choose(self, wanted: str) -> None:
        self._format = next((one for one in FORMATS if one == wanted), self._format)
        self._show_formats()

    def _show_formats(self) -> None:
        self._choices.set_content(joined(*(_option(one, chosen=one == self._format) for one in FORMATS)))
        self._call_files.visible = self._format == "markdown"
        self._copy.visible = self._format == "markdown" and len(self._run_ids) == 1

    async def _look(self) -> None:
        """Show what would be taken out; what was let through stays in the list of switches."""
        self._looks = look = self._looks + 1
        found: tuple[Redaction, ...] | None = None
        try:
            found = await self._workbench.exports.preview(self._run_ids, self._choice)
            view = preview_table(found)
        except WorkbenchError as error:
            view = tag("p", str(error), cls="is-bad")
        if look != self._looks or self._dialog.is_deleted:  # something else was chosen meanwhile, or it was closed
            return
        self._preview.set_content(view)
        self._download.set_enabled(found is not None)
        if found is not None:
            self._found = found
            self._show_switches()

    def _show_switches(self) -> None:
        """A switch for each shape that was found; what the app knows as a key has none."""
        for shape in SHAPES:
            if shape not in self._switches and any(one.kind == shape for one in self._found):
                with self._shapes:
                    switch = ui.checkbox(f"Take out: {shape}", value=True, on_change=self._look)
                self._switches[shape] = switch.props(f'data-testid="export-shape-{shape.replace(" ", "-")}"')

    async def _save(self) -> None:
        with problems_shown(), loading(self._download):
            exported = await self._workbench.exports.export_all(self._run_ids, self._format, self._choice)
            if not self._dialog.is_deleted:
                ui.download.content(exported.content, exported.filename, exported.media_type)
                ui.notify(saved_words(exported), type="positive", multi_line=True, timeout=8000)
                self._dialog.close()

    async def _copy_text(self) -> None:
        with problems_shown():
            review = await self._workbench.exports.review(self._run_ids[0], self._choice)
            if not self._dialog.is_deleted:
                copy_text(review.document, "The review is copied as Markdown.")


def saved_words(exported: Exported) -> str:
    """What file was handed to the browser, and where that puts it."""
    inside = " Unpack it, and begin with review.md." if exported.filename.endswith(".md.zip") else ""
    where = "where your browser keeps downloads"
    return f"{exported.filename} ({size(len(exported.content))}) is saved {where}.{inside}"


def preview_table(found: Sequence[Redaction]) -> Html:
    """What would be taken out, with where it stands."""
    if not found:
        words = "None were found. Pictures are not looked into."
        return tag("p", words, cls="faint")
    kinds = Counter({redaction.kind: 0 for redaction in found})
    for redaction in found:
        kinds[redaction.kind] += redaction.count
    said = ", ".join(f"{count} × {kind}" for kind, count in kinds.items())
    rows = [_row(redaction) for redaction in found[:MOST_SHOWN]]
    left = len(found) - len(rows)
    head = tag("tr", *(tag("th", name) for name in ("Where", "What", "Begins with")))
    more = tag("p", f"… and {plural(left, 'more place')}.", cls="faint") if left else Html("")
    return joined(tag("p", f"Taken out: {said}."), tag("table", head, *rows, cls="export-table"), more)


def _row(redaction: Redaction) -> Html:
    where = "a file" if redaction.seq < 0 else f"entry {redaction.seq}"
    often = f" ({redaction.count} times)" if redaction.count > 1 else ""
    kind = "key that this app knows" if redaction.kind == KNOWN else redaction.kind
    return tag("tr", tag("td", where + often), tag("td", kind), tag("td", tag("code", redaction.masked)))


def _option(format: Format, *, chosen: bool) -> Html:
    title, sentence = SAYS[format]
    return tag(
        "button",
        tag("span", tag("strong", title), tag("small", sentence)),
        role="radio",
        aria_checked="true" if chosen else "false",
        cls="template-option",
        data_format=format,
        data_testid=f"export-format-{format}",
    )
