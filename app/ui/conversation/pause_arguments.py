"""The arguments of a call that a person decides on: all of them, or nobody can allow it."""

from collections.abc import Callable
from functools import partial

from nicegui import ui

from app.domain.events import PauseRequested
from app.ui.conversation.tool_body import long_arguments, pretty
from app.ui.elements.buttons import button
from app.ui.elements.focus import refocus
from app.ui.elements.markup import joined, tag
from app.ui.elements.visible import visible

AT_ONCE, LINES = 1_500, 25
"""Characters and lines that are seen at one look."""
MOST = 200_000
"""Characters of which nobody looks at all."""


class PauseArguments(ui.element):
    """`seen` says whether all of them were shown; long ones are folded, and `on_seen` is told when they are opened."""

    def __init__(self, pause: PauseRequested, *, on_seen: Callable[[], None]) -> None:
        super().__init__("div")
        self.classes("pause-arguments")
        self._pause, self._on_seen = pause, on_seen
        text = pretty(pause.arguments) if pause.arguments else ""
        self.seen = len(text) <= AT_ONCE and text.count("\n") + text.count("\\n") <= LINES
        with self:
            self._shown = ui.html(sanitize=False)
        self._show(text) if self.seen else self._fold(text)

    def _show(self, text: str) -> None:
        box = visible(tag("pre", text, tabindex="0")) if text else ""
        self._shown.set_content(joined(box, long_arguments(self._pause.arguments, self._pause.name)))

    def _fold(self, text: str) -> None:
        beginning = "\n".join(text[:AT_ONCE].split("\n")[:LINES])
        way_on = "Look at all before you allow it." if len(text) <= MOST else "Nobody can look at all, so deny it."
        note = tag("p", f"The first {len(beginning):,} of {len(text):,} characters. {way_on}")
        self._shown.set_content(joined(visible(tag("pre", beginning, tabindex="0")), note))
        if len(text) <= MOST:
            with self:
                open_all = partial(self._open, text)
                self._unfold = button("Show all", open_all, icon="unfold_more", testid="show-arguments-button")

    def _open(self, text: str) -> None:
        self.seen = True
        self._unfold.delete()
        self._show(text)
        self._on_seen()
        refocus(self, "pre")
