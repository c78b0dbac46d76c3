"""Where the source of a tool file is read and written."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import nicegui
from nicegui import events, ui

_EDITOR = Path(nicegui.__file__).parent / "elements" / "codemirror" / "dist"


class CodeEditor(ui.element, component="code_editor.js", esm={"nicegui-codemirror": str(_EDITOR)}):
    """`on_edit` is called soon after each edit of a person, `on_save` when they press Ctrl-S; `text` is then new."""

    def __init__(
        self, text: str, *, label: str, on_edit: Callable[[], None], on_save: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__()
        self.text = _plain(text)
        self._on_edit = on_edit
        self._on_save = on_save
        self._props.update(text=self.text, label=label)
        self.on("edited", self._edited)
        self.on("saved", self._saved)

    def put(self, text: str) -> None:
        """Show another text; neither handler is called."""
        self.text = _plain(text)
        self.run_method("put", self.text)

    def ask_to_save(self) -> None:
        """Save what stands in the browser, as Ctrl-S does."""
        self.run_method("save")

    def goto(self, line: int) -> None:
        """Put the cursor into that line."""
        self.run_method("goto", line)

    def _edited(self, event: events.GenericEventArguments) -> None:
        self.text = str(event.args)
        self._on_edit()

    async def _saved(self, event: events.GenericEventArguments) -> None:
        self.text = str(event.args)
        self._on_edit()
        await self._on_save()


def _plain(text: str) -> str:
    """With line ends as the browser counts them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
