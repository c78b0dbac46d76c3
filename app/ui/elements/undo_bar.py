"""A bar at the bottom of the page that says what was done, and takes it back."""

from collections.abc import Callable
from inspect import isawaitable

from nicegui import ui

from app.ui.elements.buttons import button

SECONDS = 8.0


class UndoBar:
    """Belongs to a page; the newest message replaces the one before."""

    def __init__(self) -> None:
        self._place = ui.element("div").classes("undo-place").props("role=status aria-live=polite")

    def show(self, words: str, *undo: Callable[[], object]) -> Callable[[], None]:
        """Say `words` for some seconds, with a button that calls each `undo`, one after the other.

        Gives what takes this offer away before, where undoing would by then destroy something.
        """

        async def take_back() -> None:
            with self._place.parent_slot or self._place:
                for step in undo:
                    if isawaitable(done := step()):
                        await done
            self._place.clear()

        self._place.clear()
        with self._place, ui.element("div").classes("undo-bar").props("data-testid=undo-bar") as bar:
            ui.label(words).classes("truncate")
            button("Undo", take_back, look="quiet", testid="undo-button")
            ui.timer(SECONDS, self._place.clear, once=True)
        return lambda: None if bar.is_deleted else bar.delete()
