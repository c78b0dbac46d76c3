"""Gives the code on a page its colours, a moment after the page shows it."""

from nicegui import events, ui
from pydantic import TypeAdapter

from app.ui.markdown.colours import Colours

_WANTED: TypeAdapter[tuple[int, str, str]] = TypeAdapter(tuple[int, str, str])


class CodeColours(ui.element, component="code_colours.js"):
    """One in each tab; it looks after all code there, whoever shows it."""

    def __init__(self, colours: Colours) -> None:
        super().__init__()
        self._colours = colours
        self.on("wanted", self._answer)

    async def _answer(self, event: events.GenericEventArguments) -> None:
        number, text, language = _WANTED.validate_python(event.args)
        self.run_method("paint", number, await self._colours.of(text, language))
