"""Columns and rows chosen, put in order, and rid of doubles."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import JsonValue, WithJsonSchema

from app.domain.errors import ToolError
from app.domain.reading.numbers import number_in
from app.domain.tools import CallContext
from app.tools.builtin.data_transform.comparing import Condition, comparable, fulfils, order_key, text_of
from app.tools.builtin.rows import Columns, Row, Rows, check_columns, columns_of, is_empty, no_column, table
from app.tools.function.tool import tool

Renaming = Annotated[dict[str, str] | None, WithJsonSchema({"type": "object"})]
MOST_CONDITIONS = 50
_ORDERING = (">", ">=", "<", "<=")


@tool(title="Select columns", icon="view_column", idempotent=True)
async def data_transform__select(
    rows: Rows, columns: list[str], context: CallContext, rename: Renaming = None
) -> dict[str, JsonValue]:
    """Keep some columns of the rows, in the order given, and rename columns.

    Args:
        columns: All when empty.
        rename: Such as {"old": "new"}.
    """
    found = await table(rows, context)
    kept, names = columns or columns_of(found), rename or {}
    check_columns([*kept, *names], found)
    called = [names.get(column, column) for column in kept]
    if len(set(called)) < len(called):
        raise ToolError(f"Two columns would have the same name: {', '.join(called)}. Rename one of them.")
    chosen = [{name: row.get(column) for column, name in zip(kept, called, strict=True)} for row in found]
    return result_of(chosen, columns=list[JsonValue](called))


@tool(title="Filter rows", icon="filter_alt", idempotent=True)
async def data_transform__filter(
    rows: Rows,
    conditions: list[Condition],
    context: CallContext,
    match: Literal["all", "any"] = "all",
    ignore_case: bool = False,
) -> dict[str, JsonValue]:
    """Keep the rows that fulfil conditions; texts such as "$1,500" compare as numbers.

    Args:
        conditions: What rows have to fulfil.
        match: Whether all or any of them must hold.
        ignore_case: Whether "west" is "West".
    """
    found = await table(rows, context)
    if not 0 < len(conditions) <= MOST_CONDITIONS:
        raise ToolError(f"Give one to {MOST_CONDITIONS} conditions, not {len(conditions)}.")
    check_columns([condition.column for condition in conditions], found)
    holds = all if match == "all" else any
    kept = await asyncio.to_thread(
        lambda: [
            row for row in found if holds(fulfils(row, condition, ignore_case=ignore_case) for condition in conditions)
        ]
    )
    return result_of(kept, notes=_incomparable(found, conditions), removed_count=len(found) - len(kept))


@tool(title="Sort rows", icon="sort", idempotent=True)
async def data_transform__sort(rows: Rows, by: list[str], context: CallContext) -> dict[str, JsonValue]:
    """Sort rows by columns; make dates ISO first, so that they sort by time.

    Args:
        by: Such as ["region", "-amount"]; "-" sorts from large to small.
    """
    found = await table(rows, context)
    keys = [_sort_key(name, found) for name in by]
    if not keys:
        raise ToolError("'by' is empty. Name at least one column.")
    return result_of(await asyncio.to_thread(in_order, found, keys), by=list[JsonValue](by))


@tool(title="Remove doubles", icon="layers_clear", idempotent=True)
async def data_transform__deduplicate(
    rows: Rows,
    context: CallContext,
    by: Columns = None,
    keep: Literal["first", "last"] = "first",
    ignore_case: bool = False,
) -> dict[str, JsonValue]:
    """Keep only one of the rows that have the same values.

    Args:
        by: Columns to compare; all when left out.
        keep: Which of them to keep.
        ignore_case: Whether "west" is "West ".
    """
    found = await table(rows, context)
    names = by or columns_of(found)
    check_columns(names, found)
    kept = await asyncio.to_thread(without_doubles, found, names, keep_last=keep == "last", ignore_case=ignore_case)
    return result_of(kept, removed_count=len(found) - len(kept))


def result_of(rows: Sequence[Row], *, notes: Sequence[str] = (), **facts: JsonValue) -> dict[str, JsonValue]:
    """Rows as a result that says what was done: the counts come first."""
    said: dict[str, JsonValue] = {"row_count": len(rows), **facts}
    if notes:
        said["notes"] = list[JsonValue](notes)
    return {**said, "rows": list[JsonValue](rows)}


def in_order(rows: Sequence[Row], keys: Sequence[tuple[str, bool]]) -> list[Row]:
    """The rows sorted by these columns, each with whether it goes from large to small."""
    ordered = list(rows)
    for column, descending in reversed(keys):
        full = [row for row in ordered if not is_empty(row.get(column))]
        empty = [row for row in ordered if is_empty(row.get(column))]
        ordered = [*sorted(full, key=lambda row: order_key(row.get(column)), reverse=descending), *empty]
    return ordered


def without_doubles(rows: Sequence[Row], columns: Sequence[str], *, keep_last: bool, ignore_case: bool) -> list[Row]:
    """The first or last of the rows with the same values, in the order of the rows."""
    chosen: dict[tuple[object, ...], int] = {}
    for place, row in enumerate(rows):
        key = tuple(_identity(row.get(column), ignore_case) for column in columns)
        if keep_last or key not in chosen:
            chosen[key] = place
    return [rows[place] for place in sorted(chosen.values())]


def _identity(value: object, ignore_case: bool) -> object:
    if isinstance(value, str):
        return value.strip().casefold() if ignore_case else value
    return type(value).__name__, repr(value)


def _sort_key(name: str, rows: Sequence[Row]) -> tuple[str, bool]:
    """The column, and whether it goes from large to small."""
    there = columns_of(rows)
    if name in there or not rows:
        return name, False
    if name.startswith("-") and name[1:] in there:
        return name[1:], True
    raise ToolError(no_column(name.removeprefix("-"), there))


def _incomparable(rows: Sequence[Row], conditions: Sequence[Condition]) -> list[str]:
    """A sentence for each condition of greater or smaller that could not be asked of some cells."""
    notes: list[str] = []
    for condition in conditions:
        if condition.op in _ORDERING and not isinstance(condition.value, list):
            cells = [row.get(condition.column) for row in rows]
            odd = [cell for cell in cells if not comparable(cell, condition.value)]
            if odd:
                kind = "text" if number_in(condition.value) is None else "number"
                shown = ", ".join(repr(text_of(cell)[:30]) for cell in odd[:3])
                notes.append(f"{condition.column}: cells that are no {kind} were not compared ({len(odd):,}): {shown}.")
    return notes
