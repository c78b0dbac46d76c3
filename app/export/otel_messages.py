"""Messages as the semantic conventions for generative AI write them, and what was sent with each call of the model."""

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from app.domain.events import Entry, MessageAdded, ModelReturned, RunStarted, ToolReturned
from app.domain.messages import (
    AppPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from app.export.words import json_bytes

LONGEST_INPUT = 100_000
"""Characters of messages sent with one call that are all written; of more, those that came in since the last call."""
LONGEST_INPUTS = 4_000_000
"""Characters of all calls together until that holds for each of them."""


class Spoken:
    """The conversation as it grows, for the span of each call of the model."""

    def __init__(self) -> None:
        self._messages: list[JsonValue] = []
        self._length = 0
        self._new_from = 0
        self._left = LONGEST_INPUTS
        self.answer: list[JsonValue] = []
        """The model's last message."""
        self.malformed: dict[str, str | None] = {}
        """By call: what the model wrote where that are no arguments."""

    def take(self, entry: Entry) -> None:
        match entry.event:
            case RunStarted(history=history):
                for message in history:
                    self._add(message)
            case MessageAdded(message=message):
                self._add(message)
                self.malformed |= {call.call_id: call.malformed for call in message.tool_calls}
                self.answer = [self._messages[-1]] if message.role == "assistant" else self.answer
            case ToolReturned(result=result):
                self._add(Message.of_result(result))
            case _:
                pass

    def sent(self) -> tuple[str, int]:
        """The messages that go with the next call, as JSON, and how many of them are left out for their length."""
        start = 0 if self._length <= LONGEST_INPUT and self._length <= self._left else self._new_from
        self._new_from = len(self._messages)
        written = json_bytes(self._messages[start:]).decode()
        self._left -= len(written)
        return written, start

    def said(self, returned: ModelReturned) -> str:
        """The model's answer as JSON, with why it ended."""
        reason = returned.finish_reason or "error"
        answers = [{**answer, "finish_reason": reason} for answer in self.answer if isinstance(answer, dict)]
        return json_bytes(answers).decode()

    def _add(self, message: Message) -> None:
        written: JsonValue = {"role": message.role, "parts": parts(message.parts)}
        self._messages.append(written)
        self._length += len(json_bytes(written))


def parts(found: Iterable[Part]) -> list[JsonValue]:
    return [_part(part) for part in found]


def text_of(messages: Sequence[Message], *, finish_reason: str = "") -> str:
    """Messages as JSON; those of a model say why they ended."""
    reason: dict[str, JsonValue] = {"finish_reason": finish_reason} if finish_reason else {}
    return json_bytes([{"role": one.role, "parts": parts(one.parts), **reason} for one in messages]).decode()


def _part(part: Part) -> JsonValue:
    match part:
        case TextPart(text=text):
            return {"type": "text", "content": text}
        case ReasoningPart(text=text):
            return {"type": "reasoning", "content": text}
        case ToolCall():
            arguments: JsonValue = part.malformed if part.malformed is not None else part.arguments
            return {"type": "tool_call", "id": part.call_id, "name": part.name, "arguments": arguments}
        case ToolResult():
            return {"type": "tool_call_response", "id": part.call_id, "response": parts(part.parts)}
        case ImagePart() | FilePart():
            return {"type": "file", "modality": part.type, "mime_type": part.media_type, "file_id": part.artifact}
        case AppPart():
            return {"type": "app", "uri": part.uri, "file_id": part.artifact}
