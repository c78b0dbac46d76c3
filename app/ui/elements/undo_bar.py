"""What was done is said, and taken back: by a bar at the bottom, and on the page of what is deleted."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable

from nicegui import ui

from app.ui.elements.buttons import button
from app.ui.elements.notices import problems_shown

SECONDS = 8.0


class UndoBar:
    """Belongs to a page; the newest message replaces the one before."""

    def __init__(self) -> None:
        self._place = ui.element("div").classes("undo-place").props("role=status aria-live=polite")

    def show(self, words: str, *undo: Callable[[], object]) -> Callable[[], None]:
        """Say `words` for some seconds, with a button that calls each `undo`, one after the other.

        Gives what takes this offer away before, where undoing would by then destroy something.
        """

        taking_back = False

        async def take_back() -> None:
            nonlocal taking_back
            if taking_back:  # it was pressed twice
                return
            taking_back = True
            try:
                with self._place.parent_slot or self._place:
                    for step in undo:
                        if isawaitable(done := step()):
                            await done
            finally:
                taking_back = False
            if not bar.is_deleted:  # what was done meanwhile has an offer of its own
                bar.delete()

        self._place.clear()
        with self._place, ui.element("div").classes("undo-bar").props("data-testid=undo-bar") as bar:
            ui.label(words).classes("truncate")
            button("Undo", take_back, look="quiet", testid="undo-button")
            ui.timer(SECONDS, self._place.clear, once=True)
        return lambda: None if bar.is_deleted else bar.delete()


class DeletedNotice(ui.element):
    """That what the page is about is deleted, maybe in another tab; its button calls `restore`."""

    def __init__(self, words: str, restore: Callable[[], Awaitable[object]], *, testid: str) -> None:
        super().__init__("div")
        self.props(f"role=status data-testid={testid}")
        self._words = words
        self._restore = restore
        self.visible = False

    def show(self, *, deleted: bool) -> None:
        """Show it where that is so."""
        if deleted == self.visible:
            return
        self.visible = deleted
        self.clear()
        if deleted:
            with self, ui.element("div").classes("notice notice-warn is-line"):
                ui.label(self._words)
                button("Undo", self._bring_back, look="quiet", testid="undo-button")

    async def _bring_back(self) -> None:
        with problems_shown():
            await self._restore()
