"""What a request asks of the demo model: the last thing the user said, and what was done about it since.

All of it is read from the request, so the model keeps no state and answers the same request the same way again.
"""

import hashlib
from dataclasses import dataclass

from app.domain.messages import Message, ToolResult
from app.domain.streaming import ModelRequest

Results = tuple[ToolResult, ...]
"""Of the tool calls of one message, in the order of the calls."""


@dataclass(frozen=True, slots=True)
class Ask:
    text: str
    rounds: tuple[Results, ...]
    """What came of the tool calls since the user spoke."""
    earlier: tuple[Message, ...]
    """The conversation before that."""
    tools: frozenset[str]
    """The names of the tools it was granted."""
    parallel: bool
    """True when one message may hold several calls."""
    key: str
    """Differs from turn to turn; the call ids are made of it."""

    @property
    def is_first(self) -> bool:
        """True when nothing was answered in this conversation before."""
        return not any(message.role == "assistant" for message in self.earlier)


def ask_of(request: ModelRequest) -> Ask:
    messages = request.messages
    start = max((index for index, message in enumerate(messages) if message.role == "user"), default=-1)
    text = messages[start].text if start >= 0 else ""
    return Ask(
        text=text.strip(),
        rounds=_rounds(messages[start + 1 :]),
        earlier=messages[: max(start, 0)],
        tools=frozenset(tool.name for tool in request.tools),
        parallel=request.parameters.parallel_tool_calls,
        key=hashlib.sha256(f"{len(messages)} {text}".encode()).hexdigest()[:10],
    )


def _rounds(messages: tuple[Message, ...]) -> tuple[Results, ...]:
    results = {part.call_id: part for message in messages for part in message.parts if isinstance(part, ToolResult)}
    return tuple(
        tuple(results[call.call_id] for call in message.tool_calls if call.call_id in results)
        for message in messages
        if message.tool_calls
    )
