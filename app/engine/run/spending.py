"""What a run has used up, kept as its entries come in: no step looks at the whole trace again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.domain.events import Entry, Forked, ModelCalled, ModelReturned, ToolCalled, ToolReturned
from app.domain.messages import FilePart, TextPart, ToolResult
from app.domain.trace.usage import own_entries

SameCall = tuple[str, str, ToolResult]
"""Tool, arguments and result of a call."""


@dataclass(slots=True)
class Spending:
    """Of a fork, what came after its copied prefix."""

    steps: int = 0
    """Model calls, further attempts at the same one not counted."""
    tokens: int = 0
    cost: float = 0.0
    """US dollars."""
    in_a_row: int = 0
    """How often the last tool call was made one after the other, with the same arguments and the same result."""
    largest_result: int = 0
    """Bytes of the largest tool result."""
    _seen: int = 0
    _arguments: dict[str, str] = field(default_factory=dict)
    """By call id, of the tools that are running."""
    _last_call: SameCall | None = None

    def follow(self, entries: Sequence[Entry]) -> None:
        """Take what is new of the run's entries."""
        for entry in entries[self._seen :] if self._seen else own_entries(entries):
            self._take(entry)
        self._seen = len(entries)

    def _take(self, entry: Entry) -> None:
        match entry.event:
            case ModelCalled(attempt=1):
                self.steps += 1
            case ModelReturned() as returned:
                self.tokens += returned.usage.total_tokens
                self.cost += returned.cost or 0.0
            case ToolCalled() as called:
                self._arguments[called.call_id] = json.dumps(called.arguments, sort_keys=True)
            case ToolReturned() as returned:
                self._compare(returned.result)
                self.largest_result = max(self.largest_result, size_of(returned.result))
            case Forked():  # recorded after the first look
                self.steps = self.tokens = self.in_a_row = self.largest_result = 0
                self.cost = 0.0
            case _:
                pass

    def _compare(self, result: ToolResult) -> None:
        arguments = self._arguments.pop(result.call_id, None)
        if arguments is None:  # it was refused before it began
            return
        call = (result.name, arguments, result.model_copy(update={"call_id": ""}))
        self.in_a_row = self.in_a_row + 1 if call == self._last_call else 1
        self._last_call = call


def size_of(result: ToolResult) -> int:
    """Bytes of the result's text and of what is kept of it as files."""
    texts = sum(len(part.text.encode()) for part in result.parts if isinstance(part, TextPart))
    return texts + sum(part.size for part in result.parts if isinstance(part, FilePart))
