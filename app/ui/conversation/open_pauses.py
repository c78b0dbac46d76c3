"""The cards of what waits for a person, of whichever runs these are."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from nicegui import ui

from app.engine.sessions.attending import OpenPause
from app.ui.conversation.pause_card import DECIDE, PauseCard, decide_pause
from app.ui.elements.notices import problems_shown
from app.workbench import Workbench


class OpenPauses(ui.element):
    """`head` shows above a card whose it is; `on_decided` is awaited after each decision."""

    def __init__(
        self,
        workbench: Workbench,
        on_decided: Callable[[], Awaitable[None]],
        *,
        head: Callable[[OpenPause], object] | None = None,
        testid: str,
    ) -> None:
        super().__init__("div")
        self._workbench, self._on_decided, self._head, self._testid = workbench, on_decided, head, testid
        self._cards: dict[tuple[str, str], ui.element] = {}

    def show(self, pauses: Sequence[OpenPause]) -> bool:
        """Show these; whether the card of another one, which may have had the focus, is gone."""
        shown = {(one.run_id, one.pause.pause_id): one for one in pauses}
        gone = self._cards.keys() - shown.keys()
        for key in gone:
            self._cards.pop(key).delete()
        for key, one in shown.items():
            if key not in self._cards:
                with self:
                    self._cards[key] = self._card(one)
        return bool(gone)

    def _card(self, one: OpenPause) -> ui.element:
        with ui.element("div").classes("open-pause").props(f"data-testid={self._testid}") as place:
            if self._head is not None:
                self._head(one)
            PauseCard(one.pause, one.spec, alive=one.alive, act=partial(self._decide, one.run_id))
        return place

    async def _decide(self, run_id: str, action: str, value: str) -> None:
        with problems_shown():
            if action == DECIDE:
                await decide_pause(self._workbench, run_id, value)
            else:
                await self._workbench.pauses.stop(run_id)
            await self._on_decided()
