"""A run as the kinds of step that a person reads: request, thought, call, result, response; of a workflow its nodes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, assert_never

from app.domain.events import (
    ChildStarted,
    Entry,
    MessageAdded,
    NodeEnded,
    NodeStarted,
    Origin,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import Message, ToolResult
from app.domain.trace.calls import CallView, follow_call
from app.domain.trace.nodes import NodeRun, NodeRuns

StepType = Literal["user-request", "agent-thought", "tool-call", "tool-result", "agent-response", "node"]


@dataclass(frozen=True, slots=True)
class Step:
    type: StepType
    text: str
    """What was said or thought; for a call its tool's name, for a result its text, for a node its title."""
    seq: int
    """The entry it comes from."""
    at: datetime
    message: Message | None = None
    call: CallView | None = None
    """For `tool-call` and `tool-result`: the call as far as it is known at this step."""
    result: ToolResult | None = None
    node: NodeRun | None = None
    """For `node`: as far as it is known, the calls of its tool with it."""
    origin: Origin = "user"
    """For `user-request`: how it came in."""


def steps(entries: Iterable[Entry]) -> list[Step]:
    """All steps in order. The reasoning and the words that lead to tool calls are one thought."""
    so_far = StepsSoFar()
    return [step for entry in entries for step in so_far.take(entry)]


class StepsSoFar:
    """Finds the steps of a run entry by entry."""

    def __init__(self) -> None:
        self.calls: dict[str, CallView] = {}
        """Those that the model asked for, as far as they are known."""
        self.nodes = NodeRuns()
        self._malformed: dict[str, str | None] = {}
        """By call: what the model wrote where that are no arguments."""

    def take(self, entry: Entry) -> Iterator[Step]:
        """The steps that one more entry adds. What a node calls is told in the node's own."""
        node = self.nodes.take(entry)
        match entry.event:
            case MessageAdded(message=message, origin=origin):
                self._malformed |= {call.call_id: call.malformed for call in message.tool_calls}
                yield from _of_message(entry, message, origin)
            case NodeStarted() | NodeEnded() if node is not None and node.seq == entry.seq:
                yield Step("node", node.label, entry.seq, entry.at, node=node)
            case ToolCalled(call_id=call_id, name=name) if node is None:
                self.calls.pop(call_id, None)
                if (view := follow_call(self.calls, entry)) is not None:
                    view.malformed = self._malformed.get(call_id)
                    yield Step("tool-call", name, entry.seq, entry.at, call=view)
            case ToolReturned(call_id=call_id, result=result) if node is None:
                follow_call(self.calls, entry)
                yield Step("tool-result", result.text, entry.seq, entry.at, call=self.calls[call_id], result=result)
            case ChildStarted() if node is None:
                follow_call(self.calls, entry)
            case _:
                return


def _of_message(entry: Entry, message: Message, origin: Origin) -> Iterator[Step]:
    match message.role:
        case "user":
            yield Step("user-request", message.text, entry.seq, entry.at, message=message, origin=origin)
        case "assistant":
            said = message.text.strip()
            thoughts = [message.reasoning.strip(), said] if message.tool_calls else [message.reasoning.strip()]
            if thought := "\n\n".join(text for text in thoughts if text):
                yield Step("agent-thought", thought, entry.seq, entry.at, message=message)
            if not message.tool_calls and (said or not message.partial):
                yield Step("agent-response", message.text, entry.seq, entry.at, message=message)
        case "system" | "tool":
            return
        case _:
            assert_never(message.role)
