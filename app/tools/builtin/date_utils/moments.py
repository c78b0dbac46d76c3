"""One date or time that a tool was given, with what has to be said about how it was read."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import WithJsonSchema

from app.domain.errors import ToolError
from app.tools.builtin.date_utils.lists import read_dates

DayFirst = Annotated[bool | None, WithJsonSchema({"type": "boolean", "description": "Whether 1/2/2024 is 1 February."})]
"""When `None`, clear dates of the same list decide, else month first (day first with points, 1.2.2024)."""


@dataclass(frozen=True, slots=True)
class Moment:
    when: datetime
    has_time: bool
    notes: tuple[str, ...] = ()

    @property
    def iso(self) -> str:
        return iso(self.when, has_time=self.has_time)


def moment(text: str, *, day_first: bool | None = None) -> Moment:
    """Raises `ToolError` for what is no date."""
    [read] = read_dates([text], day_first=day_first)
    if read.reading is None:
        raise ToolError(f"{text[:60]!r} is no date that can be read: {read.why} Write it like 2024-01-31.")
    notes = [f"{text!r} was read as {read.reading.iso} ({read.reading.read_as})."] if read.alternatives else []
    notes += [f"It may also mean {other.iso}; write that if it is meant." for other in read.alternatives]
    return Moment(read.reading.moment, read.reading.has_time, tuple(notes))


def iso(when: datetime, *, has_time: bool) -> str:
    """The date, or date and time to the second (finer where it is finer), as ISO 8601 says."""
    if not has_time:
        return when.date().isoformat()
    return when.isoformat(timespec="auto" if when.microsecond else "seconds")
