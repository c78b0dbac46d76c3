"""The cards of an answer's tool calls."""

from collections.abc import Iterable, Mapping

from nicegui import ui

from app.domain.events import Entry
from app.domain.messages import Message
from app.domain.tools import Progress, ToolSpec
from app.domain.trace import CallView
from app.domain.trace.calls import follow_call
from app.store.contents.contents import Contents
from app.ui.conversation.tool_card import ToolCard


class CallCards:
    """`take` the run's entries in order; a call has a card from when its message is shown until it is forgotten."""

    def __init__(self, place: ui.element, specs: Mapping[str, ToolSpec], contents: Contents) -> None:
        self._place = place
        self._specs = specs
        self._contents = contents
        self._calls: dict[str, CallView] = {}
        self._cards: dict[str, ToolCard] = {}

    def take(self, entry: Entry) -> CallView | None:
        """The call that the entry tells something of."""
        return follow_call(self._calls, entry)

    async def show(self, call: CallView) -> None:
        """Show the call as it is now, if it has a card."""
        if card := self._cards.get(call.call_id):
            await card.show(call)

    def show_live(self, printed: Mapping[str, str], progress: Mapping[str, Progress]) -> None:
        """Show what running tools have printed and how far they are, by call."""
        for call_id, text in printed.items():
            if card := self._cards.get(call_id):
                card.printed(text)
        for call_id, how_far in progress.items():
            if card := self._cards.get(call_id):
                card.progressed(how_far)

    def add(self, message: Message) -> list[ui.element]:
        """A card for each call; calls of one message stand together. What came onto the page."""
        calls = message.tool_calls
        place = self._place
        if len(calls) > 1:
            with self._place:
                place = ui.element("div").classes("call-group")
            place.props(f'role=group aria-label="{len(calls)} calls side by side"')
        with place:
            for call in calls:
                view = self._calls[call.call_id]
                self._cards[call.call_id] = ToolCard(view, self._specs.get(call.name), self._contents)
        return [place] if len(calls) > 1 else [self._cards[call.call_id] for call in calls]

    def forget(self, call_ids: Iterable[str]) -> None:
        """Their cards were taken from the page."""
        for call_id in call_ids:
            self._cards.pop(call_id, None)
