"""Python files that may judge answers: which there are, and whether their owner lets them run."""

import asyncio

from nicegui import background_tasks, ui

from app.domain.errors import StorageError
from app.tools.user_tools.scorer_files import ScorerFile
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import answer_to, named_dialog
from app.ui.elements.visible import visible
from app.workbench import Workbench

_MEANING = (
    "It runs on this computer with your rights, in a process of its own, for each answer that it judges, now and after "
    "every edit. Allow it only if you know what it does."
)


class ScorerFiles(ui.element):
    """Hidden while the folder is empty."""

    def __init__(self, workbench: Workbench) -> None:
        super().__init__("section")
        self.classes("stack").visible = False
        self._folder = workbench.scorer_files
        self._files: dict[str, ScorerFile] = {}
        with self:
            ui.html("Python files", sanitize=False, tag="h2").classes("section-title")
            ui.label(f"In {self._folder.folder}").classes("faint")
            self._list = on_click_of(LiveHtml(), "file", self._act)
        background_tasks.create(self._look(), name="read scorer files", context=self)

    async def _look(self) -> None:
        self._files = {file.name: file for file in await self._folder.files()}
        if not self.is_deleted:
            self.visible = bool(self._files)
            self._list.show(tag("ul", *map(_row, self._files.values()), cls="session-list"))

    async def _act(self, name: str) -> None:
        if (file := self._files.get(name)) is None:
            return
        with problems_shown():
            if file.trusted:
                await self._folder.distrust(name)
            elif await self._allowed(file):
                await self._folder.trust(name)
        await self._look()

    async def _allowed(self, file: ScorerFile) -> bool:
        try:
            text = await asyncio.to_thread(file.path.read_text, "utf-8", "replace")
        except OSError as error:
            raise StorageError(f"{file.name} cannot be read: {error.strerror}.") from error
        with named_dialog(f"May {file.name} run?") as dialog, ui.card().classes("dialog-card"):
            ui.label(f"May {visible(file.name)} run?").classes("section-title")
            told = joined(tag("p", _MEANING), tag("pre", visible(text), cls="code-box", tabindex="0"))
            ui.html(told, sanitize=False).classes("fill stack")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Cancel", lambda: dialog.submit(False), look="quiet")
                button("Allow", lambda: dialog.submit(True), look="primary", testid="scorer-file-allow")
        return await answer_to(dialog, bool) is True


def _row(file: ScorerFile) -> Html:
    words = file.problem or file.description or "No description."
    said = tag("div", tag("strong", visible(file.name)), tag("span", words, cls="muted"), cls="scorer-words")
    state = tag(
        "span", "may run" if file.trusted else "may not run yet", cls="chip" if file.trusted else "chip is-warn"
    )
    label = f"Do not let {file.name} run any more" if file.trusted else f"Look at {file.name} and allow it"
    change = tag("button", "Take back" if file.trusted else "Look at it…", cls="scorer-decides", aria_label=label,
                 data_file=file.name, data_key=file.name)  # fmt: skip
    return tag("li", said, state, change, cls="session-row scorer-row", data_testid="scorer-file")
