"""Two tables joined by what their rows have in common."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.domain.tools import CallContext
from app.tools.builtin.data_transform.choosing import result_of
from app.tools.builtin.data_transform.comparing import OrderKey, order_key
from app.tools.builtin.rows import MOST_ROWS, Columns, Row, Rows, Table, check_columns, columns_of, is_empty, table
from app.tools.function.tool import tool

How = Literal["inner", "left", "outer"]


@tool(title="Join tables", icon="call_merge", idempotent=True)
async def data_transform__join(
    rows: Rows,
    other: Table,
    on: list[str],
    context: CallContext,
    *,
    how: How = "inner",
    other_on: Columns = None,
) -> dict[str, JsonValue]:
    """Join two tables by columns that have the same values, regardless of case.

    Args:
        other: The rows to join with.
        on: Columns to compare.
        how: left keeps all of the first table, outer all of both.
        other_on: Their names in the other table, where they differ.
    """
    left, right = await table(rows, context), await table(other, context, name="other")
    right_on = other_on or on
    if not on or len(on) != len(right_on):
        raise ToolError("'on' and 'other_on' have to name equally many columns, at least one.")
    check_columns(on, left)
    check_columns(right_on, right, name="other")
    joining = Joining(left, right, on, right_on)
    joined = await asyncio.to_thread(joining.joined, how)
    return result_of(joined, matched_count=joining.matched, unmatched_count=joining.unmatched)


class Joining:
    """One join; its counts are known when it was done.

    Values are the same as numbers where both are one, else as text without regard to case; an empty cell matches
    nothing. A row that matches several makes several. Columns of the other table whose name is taken get "_other".
    """

    def __init__(self, left: Sequence[Row], right: Sequence[Row], on: Sequence[str], right_on: Sequence[str]) -> None:
        self._left, self._right = left, right
        self._on, self._right_on = on, right_on
        self._left_columns = columns_of(left) or list(on)
        added = [name for name in columns_of(right) if name not in right_on]
        self._names = {name: self._free(name) for name in added}
        self.matched = 0
        """Rows of the first table that have a match."""
        self.unmatched = 0
        """Rows of both tables that have none."""

    def joined(self, how: How) -> list[Row]:
        """Raises `ToolError` when the rows would be too many."""
        by_key: dict[tuple[OrderKey, ...], list[int]] = {}
        for place, row in enumerate(self._right):
            if key := _key(row, self._right_on):
                by_key.setdefault(key, []).append(place)
        joined: list[Row] = []
        used: set[int] = set()
        for row in self._left:
            places = by_key.get(_key(row, self._on), [])
            if len(joined) + len(places) > MOST_ROWS:
                raise ToolError(f"The join has more than {MOST_ROWS:,} rows. Deduplicate a table by its key first.")
            used.update(places)
            joined += [self._pair(row, self._right[place]) for place in places]
            if not places and how != "inner":
                joined.append(self._pair(row, {}))
            self.matched += bool(places)
        rest = [row for place, row in enumerate(self._right) if place not in used]
        self.unmatched = len(self._left) - self.matched + len(rest)
        return [*joined, *(self._pair(self._keys_of(row), row) for row in rest)] if how == "outer" else joined

    def _pair(self, left: Row, right: Row) -> Row:
        return {
            **{name: left.get(name) for name in self._left_columns},
            **{called: right.get(name) for name, called in self._names.items()},
        }

    def _keys_of(self, right: Row) -> Row:
        """The key of a row of the other table under the first table's names."""
        return {name: right.get(other) for name, other in zip(self._on, self._right_on, strict=True)}

    def _free(self, name: str) -> str:
        while name in self._left_columns:
            name += "_other"
        return name


def _key(row: Row, columns: Sequence[str]) -> tuple[OrderKey, ...]:
    """What has to be the same; empty where a cell is."""
    cells = [row.get(column) for column in columns]
    if any(is_empty(cell) for cell in cells):
        return ()
    return tuple(order_key(cell.strip() if isinstance(cell, str) else cell) for cell in cells)
