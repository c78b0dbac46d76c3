"""Rows: a table as tools take it, and what is said about its columns."""

import asyncio
import difflib
from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import JsonValue, WithJsonSchema

from app.domain.errors import ToolError
from app.domain.tools import CallContext
from app.tools.builtin.data_transform.csv_text import read_csv
from app.tools.builtin.documents import check_depth, file_text, is_path, read_json

Row = dict[str, JsonValue]
_SHAPES: list[JsonValue] = [{"type": "array", "items": {"type": "object"}}, {"type": "string"}]
Table = Annotated[list[Row] | str, WithJsonSchema({"anyOf": _SHAPES})]
"""Rows, JSON text or CSV text of rows, or the path of a session file with either."""
Rows = Annotated[
    list[Row] | str,
    WithJsonSchema({"anyOf": _SHAPES, "description": "Row objects, or their JSON, CSV or file path."}),
]
Columns = Annotated[list[str] | None, WithJsonSchema({"type": "array", "items": {"type": "string"}})]
"""Names of columns; `None` where none are named. Models are told less: they leave out what they do not need."""
MOST_ROWS = 100_000
MOST_NOTES = 12


async def table(rows: list[Row] | str, context: CallContext, *, name: str = "rows") -> list[Row]:
    """The rows behind the argument `name`. Raises `ToolError` for what is no table, or one of too many rows."""
    if isinstance(rows, str):
        text = await file_text(rows, context) if is_path(rows) else rows
        found = await asyncio.to_thread(_rows_in, text, name)
    else:
        check_depth(list[JsonValue](rows), name)
        found = rows
    if len(found) > MOST_ROWS:
        raise ToolError(f"'{name}' has {len(found):,} rows; {MOST_ROWS:,} is the most. Filter or split them.")
    return found


def columns_of(rows: Iterable[Row]) -> list[str]:
    """The names of all columns, in the order in which they first appear."""
    return list(dict.fromkeys(name for row in rows for name in row))


def check_columns(wanted: Iterable[str], rows: Sequence[Row], *, name: str = "rows") -> None:
    """Raises `ToolError` that names the first column that no row has, and those there are."""
    there = columns_of(rows)
    for column in wanted:
        if rows and column not in there:
            raise ToolError(no_column(column, there, name))


def no_column(column: str, there: Sequence[str], name: str = "rows") -> str:
    """A sentence about a column that is not there."""
    lower = {one.lower(): one for one in there}
    near = [lower[one] for one in difflib.get_close_matches(column.lower(), lower, n=2)]
    guess = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"'{name}' have no column {column!r}.{guess} There are: {', '.join(there[:40]) or 'none'}."


def is_empty(value: JsonValue) -> bool:
    """True for what a table shows as nothing: null and blank text."""
    return value is None or (isinstance(value, str) and not value.strip())


def shortened(notes: Sequence[str]) -> list[str]:
    """The first notes, and how many more there were."""
    rest = len(notes) - MOST_NOTES
    return [*notes[:MOST_NOTES], f"and {rest:,} more of this kind"] if rest > 0 else list(notes)


def _rows_in(text: str, name: str) -> list[Row]:
    if text.lstrip("\ufeff \r\n\t")[:1] not in ("[", "{"):
        return read_csv(text).rows
    found = read_json(text.lstrip("\ufeff"), name)
    if isinstance(found, dict):
        found = found.get("rows", [found])
    if not isinstance(found, list):
        raise ToolError(f"'{name}' has to be an array of objects.")
    return [_row(row, number, name) for number, row in enumerate(found, start=1)]


def _row(row: JsonValue, number: int, name: str) -> Row:
    if isinstance(row, dict):
        return row
    raise ToolError(f"Row {number} of '{name}' is no object but {str(row)[:60]!r}. Each row has to be an object.")
