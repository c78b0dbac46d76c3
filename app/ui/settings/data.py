"""The data folder in Settings: where it is, what it takes, and how it is saved, put back and kept small."""

import asyncio

from nicegui import background_tasks, ui

from app.desktop import open_folder
from app.domain.values import now, size
from app.store.folder.folder_size import folder_size
from app.store.runs.retention import Expired
from app.ui.elements.buttons import button
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import notify, problems_shown
from app.ui.elements.questions import agreed, named_dialog
from app.ui.settings.backup_list import BackupList
from app.workbench import Workbench
from app.workbench.problem_report import problem_report, zipped

TITLES = {
    "runs": "runs",
    "sessions": "messages of sessions",
    "artifacts": "images, files and long results",
    "uploads": "uploads that wait for a message",
    "app.tdb": "agents, lists and settings",
    "cache": "search index",
    "backups": "backups",
    "logs": "logs",
    "tools": "your tools",
    "window": "settings of the app window",
    "restore": "the backup that the next start restores",
}


def data_section(workbench: Workbench) -> None:
    """All about the data folder."""
    with ui.element("div").classes("data-section"):
        _Place(workbench)
        _title("Backups")
        BackupList(workbench.data.backups)
        _title("Keep runs for")
        RetentionForm(workbench)
        _title("Report a problem")
        ui.label("A zip file with logs, versions and settings, without keys and conversations.").classes("faint")
        with ui.element("div").classes("row-line"):
            report = button("Report a problem…", icon="bug_report", testid="report-problem-button")
            report.on_click(lambda: ProblemDialog(workbench))


class _Place:
    """Where the folder is and how large, counted beside the event loop."""

    def __init__(self, workbench: Workbench) -> None:
        self._folder = workbench.data.path
        ui.html(tag("code", str(self._folder), data_testid="data-folder"), sanitize=False)
        self._size = ui.html(tag("span", "Counting…", cls="faint"), sanitize=False).props("data-testid=data-size")
        with ui.element("div").classes("row-line"):
            button("Open folder", self._open, icon="folder_open", testid="open-folder-button")
        if warning := workbench.data.open_to_others:
            ui.label(warning).classes("set-note is-warn").props("data-testid=data-open-to-others role=status")
        if damaged := workbench.data.damaged:
            ui.html(_damage(damaged), sanitize=False).props("data-testid=data-damage role=status")
        background_tasks.create(self._count(), name="size of the data folder")

    async def _count(self) -> None:
        sizes = await asyncio.to_thread(folder_size, self._folder)
        if not self._size.is_deleted:
            self._size.set_content(said_of(sizes))

    async def _open(self) -> None:
        if not await asyncio.to_thread(open_folder, self._folder):
            notify(f"No file manager could be opened. The folder is {self._folder}.")


def said_of(sizes: dict[str, int]) -> Html:
    """The sum, and what takes most of it."""
    parts = [f"{size(octets)} {_part(name)}" for name, octets in sizes.items() if octets >= 1000][:6]
    return joined(tag("strong", size(sum(sizes.values()))), tag("span", f": {', '.join(parts)}.", cls="faint"))


def _part(name: str) -> str:
    if name.startswith("before-restore"):
        return f"data from before a restore ({name})"
    return TITLES.get(name, name)


def _damage(damaged: tuple[str, ...]) -> Html:
    return joined(tag("strong", "Not all could be read"), tag("ul", *(tag("li", words) for words in damaged[:10])))


def _title(words: str) -> None:
    ui.html(words, sanitize=False, tag="h3").classes("field-title")


LONGEST_SHOWN = 20_000
"""Characters of a text that are shown: of a log the end."""


class ProblemDialog:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._texts: dict[str, str] = {}
        with named_dialog("Report a problem") as self._dialog, ui.card().classes("dialog-card problem-dialog") as card:
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


MOST_KEPT = 36_500


class RetentionForm:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        wanted = workbench.preferences.get()
        with ui.element("div").classes("settings-grid"):
            self._days = self._number("Days (0: for ever)", wanted.keep_days, "keep-days")
            self._runs = self._number("Runs, the newest (0: all)", wanted.keep_runs, "keep-runs")
        self._says = ui.label().classes("faint").props("role=status data-testid=retention-says")
        with ui.element("div").classes("row-line"):
            button("Save", self._save, testid="save-retention")
        background_tasks.create(self._show(), name="what would be deleted")

    def _number(self, label: str, value: int, testid: str) -> ui.number:
        box = ui.number(label, value=value, min=0, max=MOST_KEPT, precision=0, on_change=self._show)
        return box.props(f"outlined dense debounce=300 data-testid={testid}")

    @property
    def _wanted(self) -> dict[str, int]:
        """What stands in the boxes, by the names that it has among the preferences."""
        boxes = {"keep_days": self._days, "keep_runs": self._runs}
        return {name: max(0, min(MOST_KEPT, int(box.value or 0))) for name, box in boxes.items()}

    async def _expired(self, wanted: dict[str, int]) -> Expired:
        return await self._workbench.retention.looked_through(days=wanted["keep_days"], runs=wanted["keep_runs"])

    async def _show(self) -> None:
        wanted = self._wanted
        expired = await self._expired(wanted)
        if not self._says.is_deleted and wanted == self._wanted:  # nothing else was typed meanwhile
            self._says.set_text(removal_words(expired, off=not any(wanted.values())))

    async def _save(self) -> None:
        wanted, preferences = self._wanted, self._workbench.preferences
        tab = self._says.client  # told what came of it, whatever page it shows by then
        expired = await self._expired(wanted)
        words = removal_words(expired, off=False)
        if expired.runs and not await agreed("Delete old runs?", words, confirm="Save and delete"):
            return
        with tab, problems_shown():
            await preferences.save(preferences.get().model_copy(update=wanted))
            await self._workbench.retention.remove(expired)
            ui.notify("Saved.", type="positive")
            await self._show()


def removal_words(expired: Expired, *, off: bool) -> str:
    """What is deleted, and when that cannot be taken back any more."""
    if off:
        return "All runs are kept."
    if not expired.runs:
        return "Nothing is deleted now. It is looked again at each start. Pinned sessions are always kept."
    sessions = f" in {plural(len(expired.sessions), 'session')}" if expired.sessions else ""
    return (
        f"{plural(len(expired.runs), 'run')}{sessions} would be deleted now, for good at the next start; what they "
        "cost stays known. It is looked again at each start. Pinned sessions are always kept."
    )
