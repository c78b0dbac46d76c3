"""One tool file: whether it may run, what is wrong with it, its tools, and its source."""

from functools import partial

from nicegui import ui

from app.domain.errors import NotFound, WorkbenchError
from app.tools.user_tools.folder import UserTools
from app.tools.user_tools.user_file import UserFile
from app.ui.elements.addresses import TOOL_SOURCES, tool_file_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import head
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import copy_text, problems_shown
from app.ui.elements.questions import asked_for_text
from app.ui.elements.undo_bar import UndoBar
from app.ui.elements.visible import visible
from app.ui.tools.source_page import SourcePage, tools_section
from app.ui.tools.user_file_editor import Drafts, UserFileEditor
from app.ui.tools.user_file_views import problem_view, status_chip, tools_view
from app.workbench import Workbench


class UserFilePage(SourcePage):
    """Follows the file on disk; what is being written in its editor is left alone."""

    def __init__(self, workbench: Workbench, name: str, drafts: Drafts, undo: UndoBar) -> None:
        self._files = workbench.user_tools
        self._name = name
        self._drafts = drafts
        self._undo = undo
        self._revision = -1
        self._file()  # raises where there is none
        super().__init__()
        self.props["data-file-shown"] = name

    def build_actions(self) -> None:
        icon_button("refresh", "Load it again", self._reload, testid="reload-file")
        icon_button("drive_file_rename_outline", "Rename", self._rename, testid="rename-file")
        icon_button("delete", "Delete", self._delete, testid="delete-file")

    def build_state(self) -> None:
        self._trust = TrustPanel(self._files, self._name)
        self._problem = LiveHtml()
        on_click_of(self._problem, "copy", copy_text)
        with ui.element("div").classes("row-line") as self._ways_out:
            button("Try again", self._reload, icon="refresh", testid="try-file-again")
            self._goto = button("Show the line", self._show_line, icon="my_location", testid="show-line")
        self._tools = tools_section().props("data-testid=file-tools")

    def build_aside(self) -> None:
        self._editor = _editor(self._files, self._name, self._drafts, self._undo)

    def _file(self) -> UserFile:
        found = next((file for file in self._files.files() if file.name == self._name), None)
        if found is None:
            raise NotFound(f"There is no tool file {self._name!r} any more. The list of sources shows all there are.")
        return found

    def show(self) -> None:
        if self._revision == self._files.revision:
            return
        file = self._file()
        self._revision = self._files.revision
        self.heading.show(_heading(file))
        self._trust.show(file)
        self._problem.show(problem_view(file))
        self._ways_out.visible = file.problem is not None
        self._goto.visible = file.problem is not None and file.problem.line is not None
        self._tools.show(tools_view(file))
        if self._editor:
            self._editor.look()

    def _show_line(self) -> None:
        problem = self._file().problem
        if self._editor and problem and problem.line:
            self._editor.goto(problem.line)

    async def _reload(self) -> None:
        with problems_shown():
            await self._files.reload(self._name)

    async def _rename(self) -> None:
        wanted = await asked_for_text(f"Rename {self._name}", self._name, label="Name", confirm="Rename")
        if not wanted or wanted == self._name:
            return
        before = {file.name for file in self._files.files()}
        with problems_shown():
            await self._files.rename(self._name, wanted)
            new = next((file.name for file in self._files.files() if file.name not in before), None)
            ui.navigate.to(tool_file_address(new) if new else TOOL_SOURCES)

    async def _delete(self) -> None:
        """Delete the file at once; for some seconds it can be had back, allowed to run as before."""
        files = self._files
        with problems_shown():
            file, text = self._file(), files.source(self._name)
            await files.delete(self._name)
            self._undo.show(f"{file.name} was deleted", partial(_bring_back, files, file, text))
            ui.navigate.to(TOOL_SOURCES)


async def _bring_back(files: UserTools, file: UserFile, text: str) -> None:
    with problems_shown():
        await files.save(file.name, text, expected=None)
        if file.status != "untrusted":
            await files.trust(file.name, interpreter=file.interpreter)
        ui.navigate.to(tool_file_address(file.name))


def _editor(files: UserTools, name: str, drafts: Drafts, undo: UndoBar) -> UserFileEditor | None:
    """`None` for a file that is no text."""
    try:
        files.source(name)
    except WorkbenchError as problem:
        ui.html(tag("p", str(problem), cls="faint"), sanitize=False)
        return None
    return UserFileEditor(files, name, drafts, undo)


def _heading(file: UserFile) -> Html:
    words = tag("div", status_chip(file), tag("code", str(file.path), cls="agent-slug"), cls="tool-chips")
    title = tag("h1", file.name, cls="page-title", data_testid="file-title")
    return visible(joined(tag("span", icon("description"), cls="agent-icon"), tag("div", title, words, cls="grow")))


_MEANING = (
    "Nothing of it has run so far: what is shown here was only read. If you allow it, it runs as you, with all that "
    "you may do on this computer, in a process of its own outside of the app, without the app's keys. Edits keep the "
    "permission. Read its source first if somebody else wrote it."
)


class TrustPanel(ui.element):
    """`show` takes the file as it is now."""

    def __init__(self, files: UserTools, name: str) -> None:
        super().__init__("section")
        self.classes("notice").props('aria-label="May it run?"')
        self._files = files
        self._name = name
        self._filled = False
        with self:
            self._words = ui.html(sanitize=False)
            with ui.expansion("Advanced: another Python").classes("trust-advanced"):
                self._interpreter = ui.input("Python", placeholder="the app's own").classes("fill")
                self._interpreter.props('outlined dense hint="The full path of a Python that has the packages"')
                self._interpreter.props("data-testid=file-interpreter")
                self._change = button("Use this Python", self._allow, testid="use-interpreter")
            with ui.element("div").classes("row-line"):
                self._allow_button = button(
                    "Allow this file to run", self._allow, look="primary", icon="lock_open", testid="allow-file"
                )
                self._stop = button("Do not let it run any more", self._distrust, look="quiet", testid="stop-file")

    def show(self, file: UserFile) -> None:
        waits = file.status == "untrusted"
        self.classes(add="notice-warn" if waits else "", remove="" if waits else "notice-warn")
        title, symbol = ("May this file run?", "lock") if waits else ("This file may run", "lock_open")
        with_python = f"With {file.interpreter}." if file.interpreter else "With the app's own Python."
        words = tag("p", _MEANING if waits else with_python, cls="what-to-do")
        odd = hidden_line(self._files.source(self._name)) if waits and file.problem is None else ""
        self._words.set_content(joined(tag("strong", icon(symbol), title), words, odd))
        self._allow_button.visible, self._stop.visible, self._change.visible = waits, not waits, not waits
        if not self._filled:
            self._interpreter.value, self._filled = file.interpreter, True

    async def _allow(self) -> None:
        with problems_shown():
            await self._files.trust(self._name, interpreter=str(self._interpreter.value or "").strip())

    async def _distrust(self) -> None:
        with problems_shown():
            await self._files.distrust(self._name)


def hidden_line(source: str) -> Html:
    """The first line that does not show as it is: what would run is then not what is read."""
    for number, line in enumerate(source.split("\n"), 1):
        if visible(line) != line:
            code = tag("code", visible(head(line, 300)))
            return tag("p", icon("visibility_off"), f"Line {number} does not show as it is: ", code, cls="is-warn")
    return Html("")
