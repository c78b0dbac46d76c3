"""The source of a tool file: written here, or taken in anew when another program writes it."""

from collections.abc import Callable
from dataclasses import dataclass

from nicegui import ui

from app.domain.errors import Conflict, WorkbenchError
from app.tools.user_tools.folder import UserTools
from app.ui.elements.buttons import button
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import notify
from app.ui.elements.undo_bar import UndoBar
from app.ui.markdown.code_editor import CodeEditor

LONGEST_EDITED = 300_000
"""Characters: a browser's message may not be much longer."""


@dataclass
class Draft:
    """What was written and not yet saved, and the text it began with."""

    text: str
    opened: str


class Drafts(dict[str, Draft]):
    """What was not saved, by file, while other tools are looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.take_offer_away: Callable[[], None] = lambda: None
        """Ends the offer to bring back what the file's text replaced."""


class UserFileEditor(ui.element):
    """`drafts` are those of the page around; they outlive the editor."""

    def __init__(self, files: UserTools, name: str, drafts: Drafts, undo: UndoBar) -> None:
        super().__init__("section")
        self.classes("panel tool-section file-source").props('aria-label="Source"')
        self._files = files
        self._name = name
        self._drafts = drafts
        self._undo = undo
        drafts.take_offer_away()
        draft = drafts.get(name)
        self._opened = draft.opened if draft else files.source(name)
        with self:
            self._build_head()
            self._conflict = ui.element("div")
            if len(self._opened) > LONGEST_EDITED:
                ui.html("This file is too long to be edited here. Use an editor of your own.", sanitize=False)
            text = draft.text if draft else self._opened
            self._editor = CodeEditor(text, label=f"Source of {name}", on_edit=self._typed, on_save=self._save)
            self._editor.visible = len(self._opened) <= LONGEST_EDITED
        self._show_state()
        self.look()

    def _build_head(self) -> None:
        with ui.element("div").classes("section-head row-line"):
            ui.html("Source", sanitize=False, tag="h2").classes("section-title grow")
            self._state = ui.html(sanitize=False).classes("faint").props("role=status data-testid=source-state")
            self._button = button("Save", self._ask_to_save, look="primary", testid="save-source")
            self._button.props('title="Ctrl-S"')

    def look(self) -> None:
        """Take in what is on disk now; what was written here and not saved stays, and both can be had."""
        try:
            there = self._files.source(self._name)
        except WorkbenchError:
            return  # it is gone, or no text: the page around says so
        if there == self._opened:
            return
        if self._editor.text in (self._opened, there):
            self._take(there)
        else:
            self._show_conflict()

    def goto(self, line: int) -> None:
        self._editor.goto(line)

    def _take(self, text: str) -> None:
        self._opened = text
        if self._editor.text != text:
            self._editor.put(text)
        self._edited()
        self._conflict.clear()

    def _typed(self) -> None:
        if self._editor.text != self._opened:
            self._drafts.take_offer_away()
        self._edited()

    def _edited(self) -> None:
        if self._editor.text == self._opened:
            self._drafts.pop(self._name, None)
        else:
            self._drafts[self._name] = Draft(self._editor.text, self._opened)
        self._show_state()

    def _show_state(self) -> None:
        unsaved = self._editor.text != self._opened
        self._state.set_content(_state(unsaved=unsaved))
        self._button.set_enabled(unsaved)

    def _ask_to_save(self) -> None:
        self._editor.ask_to_save()  # what stands in the browser may be newer than what is known here

    async def _save(self) -> None:
        await self._write(self._opened)

    async def _write(self, expected: str | None) -> None:
        """Save what stands in the editor over `expected`, or over whatever is there."""
        text = self._editor.text
        if text == self._opened and expected is not None:
            return
        try:
            await self._files.save(self._name, text, expected=expected)
        except Conflict:
            self._show_conflict()
            return
        except WorkbenchError as problem:
            notify(str(problem))
            return
        self._opened = text
        self._conflict.clear()
        self._edited()

    def _show_conflict(self) -> None:
        if self._conflict.default_slot.children:
            return
        with self._conflict, ui.element("div").classes("notice notice-warn") as notice:
            notice.props("role=alert data-testid=source-conflict")
            ui.html(_conflict_words(self._name), sanitize=False)
            with ui.element("div").classes("row-line"):
                button("Save mine over it", lambda: self._write(None), testid="keep-mine")
                button("Take the file's text", self._take_theirs, testid="take-theirs")

    def _take_theirs(self) -> None:
        """Show the file's text; what was written here comes back with undo, until something else is written."""
        mine = self._editor.text
        self._take(self._files.source(self._name))
        words = "Your text was replaced by the file's"
        self._drafts.take_offer_away = self._undo.show(words, lambda: self._editor.put(mine), self._edited)


def _state(*, unsaved: bool) -> Html:
    return tag("span", "Not saved yet") if unsaved else tag("span", icon("check"), "Saved", cls="mark")


def _conflict_words(name: str) -> Html:
    words = "You have written here meanwhile. Nothing of either is lost: choose which text the file shall have."
    return joined(tag("strong", icon("warning"), f"Another program has changed {name}"), tag("p", words))
