"""Whether a tool file may run: asked once in words, and taken back with a button."""

from nicegui import ui

from app.tools.user_tools.folder import UserTools
from app.tools.user_tools.user_file import UserFile
from app.ui.elements.buttons import button
from app.ui.elements.format import head
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.visible import visible

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
