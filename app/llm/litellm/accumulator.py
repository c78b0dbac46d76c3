"""Pieces of an answer added up to one message.

Providers disagree about pieces of tool calls: some number them, some give all of them the number 0, some send no id,
an empty one or the same one twice, some repeat the name, some send whole arguments as an object. What they agree on is
the order, and that is what this relies on.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue
from pydantic_core import from_json

from app.domain.messages import Message, Part, ProviderFields, ReasoningPart, TextPart, ToolCall
from app.domain.streaming import CallDelta, Delta, ReasoningDelta, TextDelta
from app.domain.values import new_id
from app.llm.litellm.thinking import ThinkSplitter

PROVIDER_ID = "id"
"""The provider field that keeps a call's id where it was not fit to be ours, as Gemini's with a signature in it."""

LONGEST_ANSWER = 2_000_000
"""Characters of one answer; what a runaway model writes beyond is left out."""

_USABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a tool call as a provider sent it."""

    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str | Mapping[str, JsonValue] | None = None
    fields: ProviderFields | None = None


@dataclass(slots=True)
class _Call:
    call_id: str
    provider_id: str
    name: str = ""
    arguments: str = ""
    fields: ProviderFields = field(default_factory=dict)


class Accumulator:
    """One answer. `taken` are the call ids that the conversation already has: the new ones differ from them."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.size = 0
        """Characters so far, in text, thinking and arguments; beyond the longest answer they are counted only."""
        self._taken = set(taken)
        self._splitter = ThinkSplitter()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._blocks: list[ProviderFields] = []
        self._fields: ProviderFields = {}
        self._calls: list[_Call] = []
        self._open: dict[int, _Call] = {}

    def add_text(self, text: str) -> Sequence[Delta]:
        return self._kept(self._splitter.feed(text))

    def add_reasoning(self, text: str, *, field: str) -> Sequence[Delta]:
        """Thinking that came in a field of its own; it goes back to its provider in the same field."""
        self._fields.setdefault("field", field)
        return self._kept([ReasoningDelta(text)])

    def add_block(self, block: ProviderFields) -> None:
        """A piece of signed thinking; a signature closes its block."""
        last = self._blocks[-1] if self._blocks else None
        if last is None or last.get("type") != "thinking" or last.get("signature") or block.get("type") != "thinking":
            self._blocks.append(dict(block))
            return
        last["thinking"] = f"{last.get('thinking') or ''}{block.get('thinking') or ''}"
        if block.get("signature"):
            last["signature"] = block["signature"]

    def add_fields(self, fields: ProviderFields) -> None:
        """What the provider wants back with the whole message."""
        self._fields["message"] = {**_object(self._fields.get("message")), **fields}

    def add_call(self, piece: CallPiece) -> CallDelta | None:
        call = self._call_of(piece)
        if piece.name and not call.name:
            call.name = piece.name
        if piece.fields:
            call.fields.update(piece.fields)
        text = piece.arguments if isinstance(piece.arguments, str) else _json(piece.arguments)
        if not text:
            return None
        text = self._cut(text)
        call.arguments += text
        return CallDelta(call.call_id, call.name, text)

    def end(self) -> Sequence[Delta]:
        """What was held back as a possible tag."""
        return self._kept(self._splitter.end())

    @property
    def has_text(self) -> bool:
        return any(text.strip() for text in self._text)

    @property
    def has_calls(self) -> bool:
        return bool(self._calls)

    def message(self, model: str) -> Message:
        parts: list[Part] = []
        reasoning, text = "".join(self._reasoning), "".join(self._text)
        fields: ProviderFields = {**self._fields, **({"blocks": [*self._blocks]} if self._blocks else {})}
        if reasoning or fields:
            parts.append(ReasoningPart(text=reasoning, provider_fields=fields))
        if text:
            parts.append(TextPart(text=text))
        return Message(role="assistant", parts=(*parts, *map(_finished, self._calls)), model=model)

    def _kept(self, pieces: Sequence[TextDelta | ReasoningDelta]) -> Sequence[Delta]:
        kept = [self._fitting(piece) for piece in pieces]
        for piece in kept:
            (self._text if isinstance(piece, TextDelta) else self._reasoning).append(piece.text)
        return kept

    def _fitting(self, piece: TextDelta | ReasoningDelta) -> TextDelta | ReasoningDelta:
        text = self._cut(piece.text)
        return piece if text is piece.text else replace(piece, text=text)

    def _cut(self, text: str) -> str:
        """What of the text there is still room for."""
        room = max(0, LONGEST_ANSWER - self.size)
        self.size += len(text)
        return text if len(text) <= room else text[:room]

    def _call_of(self, piece: CallPiece) -> _Call:
        index = piece.index or 0
        call = self._open.get(index)
        if call is None or _starts_anew(piece, call):
            call = _Call(self._free_id(piece.id or ""), piece.id or "")
            self._open[index] = call
            self._calls.append(call)
        elif piece.id and not call.provider_id:
            call.provider_id = piece.id
        return call

    def _free_id(self, provider_id: str) -> str:
        usable = _USABLE_ID.fullmatch(provider_id) and provider_id not in self._taken
        call_id = provider_id if usable else f"call_{new_id()}"
        self._taken.add(call_id)
        return call_id


def _starts_anew(piece: CallPiece, call: _Call) -> bool:
    """True when a piece under the number of an open call belongs to the next one."""
    if piece.id and call.provider_id and piece.id != call.provider_id:
        return True
    return bool(piece.name and piece.arguments and _is_object(call.arguments))


def _finished(call: _Call) -> ToolCall:
    arguments, malformed = _arguments(call.arguments)
    fields = dict(call.fields)
    if call.provider_id and not _USABLE_ID.fullmatch(call.provider_id):
        fields[PROVIDER_ID] = call.provider_id
    return ToolCall(
        call_id=call.call_id, name=call.name, arguments=arguments, malformed=malformed, provider_fields=fields
    )


def _arguments(text: str) -> tuple[dict[str, JsonValue], str | None]:
    if not text.strip():
        return {}, None
    try:
        arguments: JsonValue = from_json(text.encode(), allow_inf_nan=False)
        json.dumps(arguments, allow_nan=False)  # 1e999 is read as infinite
    except ValueError:  # lone surrogates and endless nesting, too, which no trace would take
        return {}, text
    return (arguments, None) if isinstance(arguments, dict) else ({}, text)


def _is_object(text: str) -> bool:
    """Whether it is whole, though there may be something in it that no trace would take."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _object(value: JsonValue) -> ProviderFields:
    return value if isinstance(value, dict) else {}


def _json(arguments: Mapping[str, JsonValue] | None) -> str:
    return json.dumps(arguments, ensure_ascii=False) if arguments is not None else ""
