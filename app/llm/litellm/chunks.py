"""LiteLLM's chunks, read into an accumulator. They are plain objects here: an attribute may be missing at any time."""

from collections.abc import Mapping, Sequence
from typing import get_args

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.messages import FinishReason, ProviderFields, Usage
from app.domain.streaming import Delta
from app.llm.litellm.accumulator import Accumulator, CallPiece

_FIELDS = TypeAdapter(dict[str, JsonValue])
_FINISH_REASONS: dict[str, FinishReason] = {reason: reason for reason in get_args(FinishReason)}


def feed(accumulator: Accumulator, chunk: object) -> list[Delta]:
    """Add the chunk to the answer; returns what it brought."""
    choices = attributes(chunk).get("choices")
    if not isinstance(choices, list) or not choices:
        return []
    delta = attributes(choices[0].delta)
    deltas: list[Delta] = []
    reasoning = delta.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        deltas.extend(accumulator.add_reasoning(reasoning, field="reasoning_content"))
    content = delta.get("content")
    if content:
        deltas.extend(accumulator.add_text(content if isinstance(content, str) else _text(content)))
    for block in _items(delta.get("thinking_blocks")):
        accumulator.add_block(_fields(block))
    pieces = (accumulator.add_call(_piece(call)) for call in _items(delta.get("tool_calls")))
    deltas.extend(piece for piece in pieces if piece is not None)
    signatures = delta.get("provider_specific_fields")
    if isinstance(signatures, Mapping) and signatures.get("thought_signatures"):
        accumulator.add_fields({"thought_signatures": list(signatures["thought_signatures"])})
    return deltas


def finish_of(chunk: object) -> FinishReason | None:
    """Why the answer ended, in the chunk that says so; an unknown reason counts as `stop`."""
    choices = attributes(chunk).get("choices")
    reason = choices[0].finish_reason if isinstance(choices, list) and choices else None
    return _FINISH_REASONS.get(reason, "stop") if reason else None


def has_usage(chunk: object) -> bool:
    return attributes(chunk).get("usage") is not None


def attributes(holder: object) -> Mapping[str, object]:
    """The fields that are there: asking a pydantic model for one that is missing costs more than all of reading it."""
    extra = getattr(holder, "__pydantic_extra__", None)
    return {**vars(holder), **extra} if extra else vars(holder)


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def usage_of(chunk: object, *, estimated: bool) -> Usage:
    """The usage in a chunk that has one. LiteLLM counts cached tokens and thinking as parts of the whole, as we do."""
    usage = getattr(chunk, "usage", None)
    prompt = getattr(usage, "prompt_tokens_details", None)
    completion = getattr(usage, "completion_tokens_details", None)
    return Usage(
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        cached_tokens=_count(prompt, "cached_tokens"),
        cache_write_tokens=_count(usage, "cache_creation_input_tokens") or _count(prompt, "cache_creation_tokens"),
        reasoning_tokens=_count(completion, "reasoning_tokens"),
        estimated=estimated,
    )


def _piece(call: object) -> CallPiece:
    function = getattr(call, "function", None)
    arguments = getattr(function, "arguments", None)
    fields = {**_fields(getattr(function, "provider_specific_fields", None))}
    fields |= _fields(getattr(call, "provider_specific_fields", None))
    return CallPiece(
        index=getattr(call, "index", None),
        id=getattr(call, "id", None),
        name=getattr(function, "name", None),
        arguments=arguments if arguments is None or isinstance(arguments, str) else _fields(arguments),
        fields=fields or None,
    )


def _fields(value: object) -> ProviderFields:
    """The value as a JSON object without its empty fields; empty when it is none."""
    if not value:
        return {}
    try:
        fields = _FIELDS.validate_python(dict(value) if isinstance(value, Mapping) else vars(value))
    except (ValidationError, TypeError):
        return {}
    return {name: field for name, field in fields.items() if field is not None}


def _text(content: object) -> str:
    """Content in parts, as Mistral sends it, as one text."""
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _count(holder: object, name: str) -> int:
    number = getattr(holder, name, None)
    return number if isinstance(number, int) and number > 0 else 0
