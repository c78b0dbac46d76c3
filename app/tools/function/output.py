"""What a tool's function returned, as the model gets it."""

from collections.abc import Iterator

from pydantic_core import PydanticSerializationError, to_json

from app.domain.errors import ToolError
from app.domain.messages import ResultPart, TextPart
from app.domain.tools import ToolOutput

LONGEST_TEXT = 64_000_000
"""Characters of text that one result may have; what is too much for a model is cut by the engine, and kept."""


def as_output(value: object) -> ToolOutput:
    """A `ToolOutput` as it is, text as text, anything else as JSON. Raises `ToolError` for what JSON cannot say."""
    if isinstance(value, ToolOutput):
        return value
    return ToolOutput.of_text(_text(value).encode(errors="replace").decode())


def bounded(output: ToolOutput) -> ToolOutput:
    """The output with its text cut, visibly, where it is longer than can be kept."""
    left = LONGEST_TEXT
    parts: list[ResultPart] = []
    for part in output.parts:
        if isinstance(part, TextPart):
            parts.append(part if len(part.text) <= left else TextPart(text=_cut(part.text, left)))
            left = max(0, left - len(part.text))
        else:
            parts.append(part)
    return output.model_copy(update={"parts": tuple(parts)})


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "(nothing returned)"
    if isinstance(value, Iterator):
        raise ToolError(f"The tool returned {type(value).__name__!r}, which may never end. It should return a list.")
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except (PydanticSerializationError, ValueError) as error:
        raise ToolError(f"The tool returned {type(value).__name__!r}, which is no JSON: {error}") from error


def _cut(text: str, length: int) -> str:
    return f"{text[:length]}\n[… cut here: {len(text) - length:,} more characters of {len(text):,} were left out]"
