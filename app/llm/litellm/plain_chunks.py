"""Pieces of answers in OpenAI's protocol, read here as nearly all are: LiteLLM's objects take ten times as long.

Whatever has another form than these is left to LiteLLM, which knows what more servers send, and mends it.
"""

from types import SimpleNamespace

from pydantic import JsonValue

_DELTA = frozenset({"content", "role", "refusal", "reasoning_content", "tool_calls"})
_CHOICE = frozenset({"index", "delta", "finish_reason", "logprobs"})
_CALL = frozenset({"index", "id", "type", "function"})
_FUNCTION = frozenset({"name", "arguments"})
_FINISHES = (None, "stop", "length", "tool_calls", "content_filter")
_COUNTS = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
_USAGE = frozenset({*_COUNTS, "prompt_tokens_details", "completion_tokens_details"})
_OF_PROMPT = frozenset({"cached_tokens", "audio_tokens"})
_OF_COMPLETION = frozenset(
    {"reasoning_tokens", "audio_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens"}
)

Fields = dict[str, JsonValue]


def plain_chunk(said: Fields) -> SimpleNamespace | None:
    """A chunk as LiteLLM would make it, as far as it is looked at; `None` for one of another form."""
    choices, used = said.get("choices"), said.get("usage")
    if not isinstance(choices, list) or len(choices) > 1:
        return None
    read = [_choice(choice) for choice in choices]
    usage = None if used is None else _usage(used)
    if None in read or (used is not None and usage is None):
        return None
    return SimpleNamespace(choices=read, usage=usage)


def _choice(choice: JsonValue) -> SimpleNamespace | None:
    if not isinstance(choice, dict) or not choice.keys() <= _CHOICE or choice.get("logprobs") is not None:
        return None
    delta, finish = choice.get("delta"), choice.get("finish_reason")
    if not isinstance(delta, dict) or not delta.keys() <= _DELTA or finish not in _FINISHES:
        return None
    content, thought, asked = delta.get("content"), delta.get("reasoning_content"), delta.get("tool_calls")
    if not (_is_text(content) and _is_text(thought)):
        return None
    calls = None
    if asked is not None:
        calls = [_call(call) for call in asked] if isinstance(asked, list) else [None]
        if None in calls:
            return None
    read = SimpleNamespace(content=content, reasoning_content=thought, tool_calls=calls)
    return SimpleNamespace(delta=read, finish_reason=finish)


def _call(call: JsonValue) -> SimpleNamespace | None:
    if not isinstance(call, dict) or not call.keys() <= _CALL or call.get("type") not in (None, "function"):
        return None
    function, index, call_id = call.get("function"), call.get("index"), call.get("id")
    if not isinstance(function, dict) or not function.keys() <= _FUNCTION:
        return None
    name, arguments = function.get("name"), function.get("arguments")
    if type(index) is not int or not (_is_text(call_id) and _is_text(name) and _is_text(arguments)):
        return None
    return SimpleNamespace(index=index, id=call_id, function=SimpleNamespace(name=name, arguments=arguments or ""))


def _usage(used: JsonValue) -> SimpleNamespace | None:
    if not isinstance(used, dict) or not _COUNTS <= used.keys() <= _USAGE:
        return None
    counts = _counts({name: used[name] for name in _COUNTS}, _COUNTS)
    prompt = _counts(used.get("prompt_tokens_details") or {}, _OF_PROMPT)
    completion = _counts(used.get("completion_tokens_details") or {}, _OF_COMPLETION)
    if counts is None or prompt is None or completion is None:
        return None
    return SimpleNamespace(**vars(counts), prompt_tokens_details=prompt, completion_tokens_details=completion)


def _counts(value: JsonValue, names: frozenset[str]) -> SimpleNamespace | None:
    if not isinstance(value, dict) or not value.keys() <= names:
        return None
    return SimpleNamespace(**value) if all(type(count) is int for count in value.values()) else None


def _is_text(value: JsonValue) -> bool:
    return value is None or isinstance(value, str)
