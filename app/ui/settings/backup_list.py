"""The backups there are: take one, bring one back from elsewhere, download, restore, delete."""

from nicegui import Client, background_tasks, events, ui

from app.domain.values import now, size
from app.store.folder.backups import Backup, Backups
from app.ui.elements.buttons import button, loading
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import ago, moment_text
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import notify, problems_shown
from app.ui.elements.questions import agreed

INTO = "/backups"
"""Where the browser sends a backup, as it is: what a page's own socket carries is bounded more tightly."""
MOST_SHOWN = 20
FROM_ELSEWHERE = (
    " Nothing shows that this backup was taken here: it is from another computer, or of an earlier version of the app. "
    "So it decides nothing, and you allow again what you want of it:"
)
_ARRIVED = "({ xhr }) => emit(JSON.parse(xhr.responseText).data)"
_REFUSED = """({ xhr }) => {
  try { emit(JSON.parse(xhr.responseText).error); } catch { emit(""); }
}"""
_BROKEN_OFF = "The backup did not arrive. Is the app still running? Then choose it again."


class BackupList:
    def __init__(self, backups: Backups) -> None:
        self._backups = backups
        words = "All agents, runs, files and tools as one zip file; keys are not in it. Runs may go on meanwhile."
        ui.label(words).classes("faint")
        with ui.element("div").classes("row-line"):
            self._take = button("Back up now", self._back_up, look="primary", icon="save", testid="backup-button")
            self._build_upload()
        self._waiting = ui.element("div").classes("row-line").props("role=status data-testid=restore-waits")
        with self._waiting:
            ui.label("A backup is restored at the next start. Quit the app and start it again.")
            button("Restore nothing", self._give_up, look="quiet", testid="give-up-restore")
        self._list = ui.html(sanitize=False).props("data-testid=backup-list")
        on_click_of(self._list, "do", self._clicked, along=("backup",))
        background_tasks.create(self._show(), name="list of backups")

    @property
    def _tab(self) -> Client:
        """Where it is told what came of something that takes time, whatever page is shown by then."""
        return self._list.client

    def _build_upload(self) -> None:
        # Not ui.upload: its route takes what a page may send, which is less than a backup may have.
        self._upload = ui.element("q-uploader").classes("hidden")
        self._upload.props(f"url={INTO} send-raw auto-upload accept=.zip,application/zip data-testid=backup-input")
        self._upload.on("uploaded", self._arrived, js_handler=_ARRIVED)
        self._upload.on("failed", self._refused, js_handler=_REFUSED)
        bring = button("Bring a backup here…", icon="upload", testid="bring-backup-button")
        bring.on("click", js_handler=f"() => getElement({self._upload.id}).pickFiles()")

    async def _show(self) -> None:
        found = await self._backups.all()
        if not self._list.is_deleted:
            self._list.set_content(backup_rows(found))
            self._waiting.visible = self._backups.waits

    async def _back_up(self) -> None:
        with self._tab, problems_shown():
            with loading(self._take):
                backup = await self._backups.take()
            ui.notify(f"The backup {backup.name} is taken.", type="positive")
            if backup.left_out:
                notify(
                    f"Left out of it, as other systems could not take their names: {', '.join(backup.left_out[:5])}"
                    f"{f' and {len(backup.left_out) - 5} more' if len(backup.left_out) > 5 else ''}. "
                    "Rename them and take another one."
                )
            await self._show()

    async def _clicked(self, asked: str, name: str) -> None:
        with problems_shown():
            await (self._restore(name) if asked == "restore" else self._remove(name))
        await self._show()

    async def _restore(self, name: str) -> None:
        again = await self._backups.to_allow_again(name)
        words = (
            f"All data becomes as it was in {name}. This happens at the next start; the data of now is kept in the "
            "folder, as before-restore-…. Keys of models' providers stay as they are."
        )
        if again:
            words += f"{FROM_ELSEWHERE} {' '.join(again)}"
        if await agreed("Restore this backup?", words, confirm="Restore"):
            with self._tab, problems_shown():
                await self._backups.restore(name)
                ui.notify("The backup is whole. It is restored at the next start: quit the app and start it again.")

    async def _remove(self, name: str) -> None:
        if await agreed("Delete this backup?", f"{name} is deleted for good.", confirm="Delete"):
            await self._backups.remove(name)

    async def _give_up(self) -> None:
        await self._backups.give_up()
        await self._show()

    async def _arrived(self, event: events.GenericEventArguments) -> None:
        self._upload.run_method("reset")
        ui.notify(f"The backup is whole, and kept as {event.args}. Restore it from the list.", type="positive")
        await self._show()

    def _refused(self, event: events.GenericEventArguments) -> None:
        self._upload.run_method("reset")
        notify(str(event.args or _BROKEN_OFF))


def backup_rows(found: list[Backup]) -> Html:
    """The newest backups with what can be done with each."""
    if not found:
        return tag("p", "There is no backup yet.", cls="faint")
    left = len(found) - MOST_SHOWN
    more = tag("p", f"… and {left} older in the folder “backups”.", cls="faint") if left > 0 else Html("")
    return joined(tag("ul", *(_row(backup) for backup in found[:MOST_SHOWN]), cls="backup-list"), more)


def _row(backup: Backup) -> Html:
    when = tag("span", f"{ago(backup.made_at, now())} · {size(backup.size)}", title=moment_text(backup.made_at))
    return tag(
        "li",
        tag("span", tag("strong", backup.name), " ", when),
        tag("span", _download(backup), _do("restore", "Restore"), _do("delete", "Delete"), cls="backup-actions"),
        data_backup=backup.name,
        data_testid="backup-row",
    )


def _download(backup: Backup) -> Html:
    return tag("a", "Download", href=f"/backups/{backup.name}", download=backup.name, data_testid="backup-download")


def _do(what: str, words: str) -> Html:
    return tag("button", words, cls="link-button", data_do=what, data_testid=f"backup-{what}")
