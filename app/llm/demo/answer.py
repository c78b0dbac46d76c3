"""What a script decides to say or do next."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from app.domain.errors import ModelFailure


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool call that a script wants made."""

    tool: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply of the demo model: it thinks, speaks, then calls tools."""

    text: str = ""
    thought: str = ""
    wishes: tuple[Wish, ...] = ()
    slowness: float = 1
    """How many times slower than usual it streams."""
    failure: ModelFailure | None = None
    """Raised when all else was said."""
    silence: bool = False
    """True when it then says nothing until the request's idle timeout is over."""
    finish: Literal["stop", "length", "content_filter"] = "stop"


def fenced(text: str, language: str = "") -> str:
    """The text as a Markdown code block; its fence is longer than any run of backticks inside."""
    fence = "`" * (max((len(run) for run in re.findall("`{3,}", text)), default=2) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
