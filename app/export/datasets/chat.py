"""Messages as other programs write them, roles and texts: the last word of the user, and what was said before it."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from app.domain.messages import Message, TextPart, user_message
from app.export.datasets.received import Fields, Left, rows, words

INPUTS = ("input", "question", "query", "prompt", "message", "user_input", "text")
"""Under which names files have the message."""


class Asked(NamedTuple):
    input: str
    history: tuple[Message, ...] = ()


def asked_in(told: JsonValue, place: str, left: Left) -> Asked:
    """What is asked: a text, or the last message of the user in a list of messages."""
    if not isinstance(told, list):
        return Asked(words(told))
    messages = [message for one in told if (message := _message(one, place, left))]
    users = [number for number, message in enumerate(messages) if message.role == "user"]
    if not users:
        return Asked("")
    if behind := len(messages) - users[-1] - 1:
        left.out("messages after the last one of the user", behind)
    return Asked(messages[users[-1]].text, tuple(messages[: users[-1]]))


def text_of(told: JsonValue, place: str, left: Left) -> str:
    """The text of a message: itself, or that of its parts."""
    if not isinstance(told, list):
        return words(told)
    found: list[str] = []
    for part in told:
        if isinstance(part, str):
            found.append(part)
            continue
        with left.reading(part, place, what="a part of a message") as fields:
            kind = fields.pop("type", "text")
            if kind in ("text", "input_text", "output_text") and "text" in fields:
                found.append(words(fields.pop("text")))
            else:
                left.out(f"parts of messages of the type {words(kind)}")
                fields.clear()
    return "\n".join(found)


def input_name(names: Sequence[str]) -> str:
    """Under which of these the message is: a usual name, or the only one there is; empty where nobody can tell."""
    usual = (name for wanted in INPUTS for name in names if name.casefold() == wanted)
    return next(usual, names[0] if len(names) == 1 else "")


def variables_of(fields: Fields, left: Left, *, what: str) -> dict[str, str]:
    """Its values as texts; lists and objects as JSON, which are told."""
    nested = sum(isinstance(value, dict | list) for value in fields.values())
    if nested:
        left.out(f"the shape of {what} that are lists or objects: their JSON is taken as text", nested)
    return {name: words(value) for name, value in fields.items()}


def said(message: Message) -> Fields:
    return {"role": message.role, "content": message.text}


def _message(told: JsonValue, place: str, left: Left) -> Message | None:
    with left.reading(told, place, what="a message") as fields:
        role, text = words(fields.pop("role", "")), text_of(fields.pop("content", None), place, left)
        if role == "user":
            return user_message(text)
        if role in ("assistant", "model"):
            return Message(role="assistant", parts=(TextPart(text=text),))
        left.out(f"messages of the role {role or 'nobody'}")
        fields.clear()
    return None


def listed(told: JsonValue, place: str) -> list[str]:
    """A text or several."""
    return [words(one) for one in rows(told, place)] if isinstance(told, list) else [words(told)]
