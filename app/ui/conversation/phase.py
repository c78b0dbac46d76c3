"""What a run is doing at the moment, in words and since when."""

from collections.abc import Mapping
from datetime import datetime

from nicegui import ui

from app.domain.events import (
    Entry,
    ModelCalled,
    ModelFailed,
    NodeEnded,
    NodeStarted,
    PauseRequested,
    PauseResolved,
    ToolCalled,
    ToolReturned,
)
from app.domain.failure_words import failure_words
from app.domain.streaming import Draft
from app.domain.trace import NodeRun, NodeRuns
from app.domain.values import now
from app.ui.elements.format import head
from app.ui.elements.visible import visible


class Phase:
    """Follows a run's entries and its draft."""

    def __init__(self, began: datetime, titles: Mapping[str, str]) -> None:
        self._titles = titles
        self._running: dict[str, str] = {}
        self._pauses: dict[str, str] = {}
        self._words = "Starting…"
        self._verb = "Calling"
        self._nodes = NodeRuns()
        self.since = began
        """When the last entry that says what goes on was written."""

    def take(self, entry: Entry) -> None:
        node = self._nodes.take(entry)
        match entry.event:
            case NodeStarted() | NodeEnded() if node is not None:
                self._follow_node(node)
            case ToolCalled() | ToolReturned() if node is not None:
                return  # its node is told
            case ModelCalled():
                self._words = "Thinking…"
            case ModelFailed(retry_at=datetime() as retry_at, failure=failure):
                self._words = f"{failure_words(failure).title}. Trying again at {retry_at.astimezone():%H:%M:%S}…"
            case PauseRequested(pause_id=pause_id, call_id=call_id):
                self._pauses[pause_id] = node.call_id if node is not None else call_id
            case PauseResolved(pause_id=pause_id):
                self._pauses.pop(pause_id, None)
            case ToolCalled(call_id=call_id, name=name):
                self._running[call_id] = self._titles.get(name) or name
            case ToolReturned(call_id=call_id):
                self._running.pop(call_id, None)
            case _:
                return
        self.since = entry.at

    def _follow_node(self, node: NodeRun) -> None:
        """Maps and loops are told by what is within them."""
        self._verb, self._words = "Running", "Going on…"
        if node.ended:
            self._running.pop(node.call_id, None)
        elif node.of is None:
            self._running[node.call_id] = node.label

    def words(self, draft: Draft, *, steered: bool = False) -> str:
        """What goes on now; the live text says more than the entries. `steered`: a message waits to break in."""
        if draft.calls:
            names = [self._titles.get(call.name) or call.name for call in draft.calls.values()]
            return f"Preparing {visible(head(', '.join(names), 60))}…"
        if draft.text:
            return "Writing…"
        if draft.reasoning:
            return "Thinking…"
        waiting = self._pauses.values()
        if running := [title for call_id, title in self._running.items() if call_id not in waiting]:
            return f"{'Waiting for' if steered else self._verb} {visible(head(', '.join(running), 60))}…"
        return "Waiting for your decision…" if self._pauses else self._words


class PhaseLine(ui.element, component="phase_line.js"):
    """One line; its seconds are counted in the browser."""

    def show(self, text: str, since: datetime) -> None:
        """Say what goes on since then; nothing happens when that is said already."""
        if text == self._props.get("text"):
            return
        self._props["ms"] = max(0.0, (now() - since).total_seconds() * 1000)  # also where a clock was set back
        self._props["text"] = text
        self.update()
