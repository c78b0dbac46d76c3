"""The data folder in Settings: where it is, what it takes, and how it is saved, put back and kept small."""

import asyncio
from functools import partial

from nicegui import background_tasks, ui

from app.desktop import open_folder
from app.store.folder.folder_size import folder_size
from app.ui.elements.buttons import button
from app.ui.elements.format import size
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import notify
from app.ui.settings.backup_list import BackupList
from app.ui.settings.problem_dialog import open_problem_dialog
from app.ui.settings.retention_form import RetentionForm
from app.workbench import Workbench

TITLES = {
    "runs": "runs",
    "sessions": "messages of sessions",
    "artifacts": "images, files and long results",
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
            report = partial(open_problem_dialog, workbench)
            button("Report a problem…", report, icon="bug_report", testid="report-problem-button")


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
