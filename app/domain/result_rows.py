"""What a tool returned as a person reads it: rows as a table, any other JSON as values."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.domain.messages import FilePart, ToolResult
from app.domain.values import json_in

SHOWN_ROWS = 50
MOST_COLUMNS = 60
LONGEST = 2_000_000
"""Characters of a result above which it is text and nothing else."""
LONGEST_NAME = 60
"""Characters of a column's name in CSV: in prose, what stands between commas is longer, or begins with a space."""
ALIKE = 0.5
"""The share of all columns that a row has at least, on average, where the rows are a table."""
_ROWS, _CSV = "rows", "csv"
"""Under these names the tools for data give tables back."""


@dataclass(frozen=True, slots=True)
class RowTable:
    columns: tuple[str, ...]
    rows: Sequence[Sequence[JsonValue]]
    """All of them; what a row does not have is `None`."""
    beside: dict[str, JsonValue]
    """What else was returned with the rows."""

    def ordered(self, column: int, *, falling: bool) -> "RowTable":
        """By that column: numbers before texts, and nothing always last."""
        there = [row for row in self.rows if row[column] is not None]
        there.sort(key=lambda row: _key(row[column]), reverse=falling)
        return RowTable(self.columns, [*there, *(row for row in self.rows if row[column] is None)], self.beside)


def table_of(text: str) -> RowTable | None:
    """The rows that the text is or holds: JSON objects of about the same keys, or CSV with a heading; else `None`."""
    if len(text) > LONGEST:
        return None
    if (value := json_of(text)) is None:
        return _csv(text)
    if isinstance(value, dict):
        found, beside = value.get(_ROWS), {name: one for name, one in value.items() if name != _ROWS}
        if isinstance(found, list) and (table := _table(found)):
            return RowTable(table.columns, table.rows, beside)
        written = value.get(_CSV)
        table = _csv(written) if isinstance(written, str) else None
        beside = {name: one for name, one in value.items() if name != _CSV}
        return RowTable(table.columns, table.rows, beside) if table else None
    return _table(value)


def json_of(text: str) -> dict[str, JsonValue] | list[JsonValue] | None:
    """The JSON object or array that the text is."""
    if text.lstrip()[:1] not in ("{", "[") or len(text) > LONGEST:
        return None
    try:
        value = json_in(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def kept_whole(result: ToolResult) -> FilePart | None:
    """The file that holds all of a result too big for the model, which was given the beginning only."""
    first = result.parts[1] if len(result.parts) > 1 else None
    is_whole = isinstance(first, FilePart) and f'read_result("{first.artifact[:16]}"' in result.text
    return first if is_whole and isinstance(first, FilePart) and first.size <= LONGEST else None


def cell_text(value: JsonValue) -> str:
    """A value in a cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _table(found: Sequence[JsonValue]) -> RowTable | None:
    rows = [row for row in found if isinstance(row, dict)]
    if not rows or len(rows) < len(found):
        return None
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    if not columns or len(columns) > MOST_COLUMNS or sum(map(len, rows)) < ALIKE * len(columns) * len(rows):
        return None
    return RowTable(columns, [[row.get(name) for name in columns] for row in rows], {})


def _csv(text: str) -> RowTable | None:
    """Two lines and two columns at least, and all lines as long: any other text has commas too."""
    first = text.lstrip().partition("\n")[0]
    mark = max((",", ";", "\t", "|"), key=first.count)
    if not first.count(mark) or "\n" not in text.strip():
        return None
    try:
        lines = [line for line in csv.reader(io.StringIO(text.strip()), delimiter=mark, strict=True) if line]
    except csv.Error:
        return None
    heading = tuple(lines[0]) if lines else ()
    names = all(name and name == name.strip() and len(name) <= LONGEST_NAME for name in heading)
    is_table = len(lines) > 1 and len(set(heading)) == len(heading) and names
    if not is_table or len(heading) > MOST_COLUMNS or any(len(line) != len(heading) for line in lines):
        return None
    return RowTable(heading, lines[1:], {})


def _key(value: JsonValue) -> tuple[int, float, str]:
    text = cell_text(value)
    try:
        number = float(value if isinstance(value, int) else text)
    except (ValueError, OverflowError):
        number = math.nan
    return (0, number, "") if math.isfinite(number) else (1, 0.0, text.casefold())
