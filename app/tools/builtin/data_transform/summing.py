"""Rows grouped, and groups summed up."""

import asyncio
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from typing import Literal

from pydantic import ConfigDict, JsonValue

from app.domain.errors import ToolError
from app.domain.reading.numbers import number_in, plain
from app.domain.tools import CallContext
from app.domain.values import Value
from app.tools.builtin.data_transform.choosing import result_of
from app.tools.builtin.data_transform.comparing import order_key, text_of
from app.tools.builtin.rows import Columns, Row, Rows, check_columns, is_empty, shortened, table
from app.tools.function.tool import tool

Function = Literal["sum", "mean", "min", "max", "median", "count", "count_distinct"]
EXACT = Context(prec=34)
"""Decimal digits: 0.1 + 0.2 is 0.3."""
MOST_AGGREGATES = 50


class Aggregate(Value):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    function: Function
    column: str = ""
    """Empty to count rows."""
    name: str = ""
    """Of the figure."""

    @property
    def title(self) -> str:
        return self.name or (f"{self.function}_{self.column}" if self.column else self.function)


@tool(title="Group rows", icon="workspaces", idempotent=True)
async def data_transform__group(rows: Rows, by: list[str], context: CallContext) -> dict[str, JsonValue]:
    """Put rows with the same values together; for sums use data_transform__aggregate.

    Args:
        by: Columns that make the groups.
    """
    found = await table(rows, context)
    if not by:
        raise ToolError("'by' is empty. Name at least one column.")
    check_columns(by, found)
    groups: list[JsonValue] = [
        {**dict(zip(by, key, strict=True)), "row_count": len(members), "rows": list[JsonValue](members)}
        for key, members in grouped(found, by)
    ]
    return {"group_count": len(groups), "row_count": len(found), "groups": groups}


@tool(title="Sum up rows", icon="functions", idempotent=True)
async def data_transform__aggregate(
    rows: Rows, aggregates: list[Aggregate], context: CallContext, group_by: Columns = None
) -> dict[str, JsonValue]:
    """Calculate sum, mean, min, max, median or count of columns, over all rows or by group.

    Args:
        aggregates: The figures wanted.
        group_by: Columns that make the groups.
    """
    found = await table(rows, context)
    if not 0 < len(aggregates) <= MOST_AGGREGATES:
        raise ToolError(f"Give one to {MOST_AGGREGATES} aggregates, not {len(aggregates)}.")
    keys = group_by or []
    check_columns([*keys, *(one.column for one in aggregates if one.column)], found)
    notes: list[str] = []
    figures = await asyncio.to_thread(summed_up, found, aggregates, keys, notes)
    return result_of(figures, notes=shortened(notes), input_row_count=len(found))


def summed_up(rows: Sequence[Row], aggregates: Sequence[Aggregate], keys: Sequence[str], notes: list[str]) -> list[Row]:
    """One row for each group, with its figures."""
    for column in dict.fromkeys(one.column for one in aggregates if one.function in ("sum", "mean", "median")):
        _tell_of_texts([row.get(column) for row in rows], column, notes)
    return [
        {
            **dict(zip(keys, key, strict=True)),
            **{one.title: figure(one, [row.get(one.column) for row in members]) for one in aggregates},
        }
        for key, members in (grouped(rows, keys) if keys else [((), rows)])
    ]


def grouped(rows: Sequence[Row], by: Sequence[str]) -> list[tuple[tuple[JsonValue, ...], list[Row]]]:
    """The rows with the same values in these columns, by those values; blanks around texts make no difference."""
    groups: dict[tuple[str, ...], tuple[tuple[JsonValue, ...], list[Row]]] = {}
    for row in rows:
        values = tuple(_tidy(row.get(column)) for column in by)
        groups.setdefault(tuple(map(repr, values)), (values, []))[1].append(row)
    return list(groups.values())


def figure(aggregate: Aggregate, cells: Sequence[JsonValue]) -> JsonValue:
    """Sum, mean and so on of the cells; `None` where there is nothing to calculate with."""
    full = [cell for cell in cells if not is_empty(cell)]
    match aggregate.function:
        case "count":
            return len(full) if aggregate.column else len(cells)
        case "count_distinct":
            return len({order_key(cell) for cell in full})
        case "min":
            return min(full, key=order_key, default=None)
        case "max":
            return max(full, key=order_key, default=None)
        case "sum" | "mean" | "median":
            if not aggregate.column:
                raise ToolError(f"{aggregate.function!r} needs a column.")
            numbers = [number for cell in full if (number := number_in(cell)) is not None]
            with localcontext(EXACT):
                return _number(aggregate.function, numbers)


def _number(function: Literal["sum", "mean", "median"], numbers: list[Decimal]) -> JsonValue:
    if function == "sum":
        return plain(sum(numbers, Decimal(0)))
    if not numbers:
        return None
    if function == "mean":
        return plain(sum(numbers, Decimal(0)) / len(numbers))
    ordered, middle = sorted(numbers), len(numbers) // 2
    return plain(ordered[middle] if len(numbers) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)


def _tell_of_texts(cells: Sequence[JsonValue], column: str, notes: list[str]) -> None:
    """Say which cells are no numbers, and that some numbers were written as text."""
    full = [cell for cell in cells if not is_empty(cell)]
    texts = [cell for cell in full if number_in(cell) is None]
    spelled = [cell for cell in full if isinstance(cell, str) and number_in(cell) is not None]
    if texts:
        shown = ", ".join(repr(text_of(cell)[:30]) for cell in texts[:3])
        notes.append(f"{column}: cells that are no numbers were left out ({len(texts):,}): {shown}.")
    if spelled:
        shown = f"{spelled[0]!r} as {number_in(spelled[0]):f}"
        notes.append(f"{column}: texts count as numbers (cells: {len(spelled):,}), such as {shown}.")


def _tidy(value: JsonValue) -> JsonValue:
    return (value.strip() or None) if isinstance(value, str) else value
