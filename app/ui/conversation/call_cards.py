"""The cards of an answer's tool calls."""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from nicegui import ui

from app.domain.events import Entry
from app.domain.messages import AppPart, Message
from app.domain.tools import Progress, ToolSpec
from app.domain.trace import NONE_EDITED, CallView, Edits
from app.domain.trace.calls import follow_call, leave
from app.store.contents.contents import Contents
from app.ui.conversation.task_line import TaskLine, TaskOf, is_task
from app.ui.conversation.tool_card import ToolCard

ShowView = Callable[[CallView, AppPart, ToolSpec | None], Awaitable[None]]
"""Shows the view of an MCP App that a call brought along, where the page is being built."""


class CallCards:
    """`take` the run's entries in order; a call has a card from when its message is shown until it is forgotten."""

    def __init__(
        self,
        place: ui.element,
        specs: Mapping[str, ToolSpec],
        contents: Contents,
        *,
        task_of: TaskOf,
        show_view: ShowView | None = None,
    ) -> None:
        self._show_view = show_view
        self._slots: dict[str, ui.element] = {}
        self.edits: Edits = NONE_EDITED
        """What of the run a person edited."""
        self._task_of = task_of
        self._place = place
        self._specs = specs
        self._contents = contents
        self._calls: dict[str, CallView] = {}
        self._cards: dict[str, ToolCard] = {}

    def take(self, entry: Entry) -> CallView | None:
        """The call that the entry tells something of."""
        call = follow_call(self._calls, entry)
        if call is not None:
            call.note_edits(self.edits)
        return call

    async def show(self, call: CallView) -> None:
        """Show the call as it is now, if it has a card."""
        if card := self._cards.get(call.call_id):
            await card.show(call)
        view = next((part for part in call.result.parts if isinstance(part, AppPart)), None) if call.result else None
        if view is not None and self._show_view and (slot := self._slots.pop(call.call_id, None)):
            with slot:
                await self._show_view(call, view, self._specs.get(call.name))

    async def leave(self) -> None:
        """Show of the calls without a result that nobody works on them."""
        without = [call for call in self._calls.values() if call.result is None]
        leave(without, alive=False)
        for call in without:
            await self.show(call)

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
        calls = [self._calls[call.call_id] for call in message.tool_calls]
        if len(calls) < 2 and not any(map(is_task, calls)):
            with self._place:
                return [element for call in calls for element in self._card(call)]
        with self._place, ui.element("div").classes("call-group") as group:
            for call in calls:
                self._card(call)
        if len(calls) > 1:
            group.props(f'role=group aria-label="{len(calls)} calls side by side"')
        return [group]

    def _card(self, call: CallView) -> list[ui.element]:
        """The card, and a place for the view that the call may bring along: that is never within something folded."""
        call.note_edits(self.edits)
        spec = self._specs.get(call.name)
        card = self._cards[call.call_id] = ToolCard(call, spec, self._contents)
        if is_task(call):
            TaskLine(call, self._task_of)
        if self._show_view is None or spec is None or not spec.view:
            return [card]
        slot = self._slots[call.call_id] = ui.element("div").classes("app-slot")
        return [card, slot]

    def forget(self, call_ids: Iterable[str]) -> None:
        """Their cards were taken from the page."""
        for call_id in call_ids:
            self._cards.pop(call_id, None)
            self._slots.pop(call_id, None)
