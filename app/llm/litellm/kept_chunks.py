"""The chunks that LiteLLM keeps to the end of an answer, to count what they say where the provider names no usage.

Text that goes on becomes one chunk with what it goes on from: a hundred thousand chunks fill a gigabyte, and each time
Python looks through that for garbage, all else stands still.
"""

from typing import NamedTuple

from app.llm.litellm.chunks import attributes, has_usage

LAST = 8
"""Chunks that stay as they are: LiteLLM compares the last ones, and usage comes with them."""
LONGEST = 4_000
"""Characters of one chunk, since each join copies it."""


class _Text(NamedTuple):
    """What a chunk adds to one text, and where that stands."""

    of: tuple[str, object]
    holder: object
    name: str
    text: str


def join_kept(stream: object) -> None:
    """To be called after each chunk of LiteLLM's stream."""
    kept = getattr(stream, "chunks", None)
    if not isinstance(kept, list) or len(kept) < LAST + 2:
        return
    before, added = (_text(chunk) for chunk in kept[-LAST - 2 : -LAST])
    if before and added and before.of == added.of and len(before.text) < LONGEST:
        setattr(before.holder, before.name, before.text + added.text)
        del kept[-LAST - 1]


def _text(chunk: object) -> _Text | None:
    """`None` where it adds anything else, or more than text."""
    choices = attributes(chunk).get("choices")
    if has_usage(chunk) or not isinstance(choices, list) or len(choices) != 1 or choices[0].finish_reason:
        return None
    delta = choices[0].delta
    added = {name: value for name, value in attributes(delta).items() if value and name != "role"}
    match added:
        case {"content": str(text)} | {"reasoning_content": str(text)} if len(added) == 1:
            [name] = added
            return _Text((name, None), delta, name, text)
        case {"tool_calls": [call]} if len(added) == 1:
            function = getattr(call, "function", None)
            arguments = getattr(function, "arguments", None)
            if isinstance(arguments, str) and not getattr(call, "id", None) and not getattr(function, "name", None):
                return _Text(("arguments", getattr(call, "index", None)), function, "arguments", arguments)
    return None
