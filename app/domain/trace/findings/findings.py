"""What a rule finds in a run, and what the rules look at."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from app.domain.events import Entry, MessageAdded, ModelReturned, RunFinished, RunStarted
from app.domain.messages import Message
from app.domain.trace.calls import CallView, call_views
from app.domain.trace.nodes import NodeRun, nodes
from app.domain.trace.usage import own_entries
from app.domain.trace.waterfall import Span, span_end, waterfall

Severity = Literal["problem", "warning", "hint"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something of a run that a person should look at."""

    rule: str
    """The rule's name, such as `repeated_call`."""
    severity: Severity
    sentence: str
    what_to_do: str
    seq: int
    """The entry whose step shows it best."""


@dataclass(frozen=True)
class Story:
    """One run as the rules read it; each view of it is made once, when the first rule asks."""

    entries: Sequence[Entry]
    before: RunStarted | None = None
    """The beginning of the run before it in the same session, where there is one."""

    @cached_property
    def own(self) -> Sequence[Entry]:
        """The entries that are the run's own: of a fork those after its copied beginning."""
        return list(own_entries(self.entries))

    @cached_property
    def started(self) -> RunStarted | None:
        first = self.entries[0].event if self.entries else None
        return first if isinstance(first, RunStarted) else None

    @cached_property
    def calls(self) -> list[CallView]:
        """All tool calls in the order in which the model asked."""
        return list(call_views(self.own).values())

    @cached_property
    def nodes(self) -> list[NodeRun]:
        """All nodes of a workflow, in each of their rounds, in the order in which they were first heard of."""
        start = self.own[0].seq if self.own else 0
        return [run for run in nodes(self.entries).by_call.values() if run.seq >= start]

    @cached_property
    def failed_nodes(self) -> dict[str, list[NodeRun]]:
        """By node, those of its runs that failed in the end, also where a value stands in for what they gave."""
        found: dict[str, list[NodeRun]] = {}
        for run in self.nodes:
            if run.state == "failed":
                found.setdefault(run.node, []).append(run)
        return found

    @cached_property
    def spans(self) -> list[Span]:
        return waterfall(self.own)

    @cached_property
    def busy_ms(self) -> float:
        """Milliseconds of the run in which no person was waited for."""
        waited = sum((span.end_ms or span.start_ms) - span.start_ms for span in self.spans if span.kind == "person")
        return max(0.0, span_end(self.spans) - waited)

    @cached_property
    def returned(self) -> list[tuple[Entry, ModelReturned]]:
        """The ends of the model's answers."""
        return [(entry, entry.event) for entry in self.own if isinstance(entry.event, ModelReturned)]

    @cached_property
    def said(self) -> list[tuple[Entry, Message]]:
        """What the model said, in order."""
        added = ((entry, entry.event) for entry in self.own if isinstance(entry.event, MessageAdded))
        return [(entry, event.message) for entry, event in added if event.origin == "model"]

    @cached_property
    def answer(self) -> tuple[Entry, Message] | None:
        """The model's last words, where it asked for no more tools in them."""
        last = self.said[-1] if self.said else None
        return last if last is not None and not last[1].tool_calls else None

    @cached_property
    def end(self) -> RunFinished | None:
        last = self.entries[-1].event if self.entries else None
        return last if isinstance(last, RunFinished) else None

    def between(self, start: int, end: int) -> Sequence[Entry]:
        """The run's own entries whose place is behind `start` and before `end`."""
        return self.own[self._index(start + 1) : self._index(end)]

    def after(self, seq: int) -> Sequence[Entry]:
        """The entries behind that one."""
        return self.own[self._index(seq + 1) :]

    def _index(self, seq: int) -> int:
        return bisect_left(self.own, seq, key=lambda entry: entry.seq)
