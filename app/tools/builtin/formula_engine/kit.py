"""The tool of the kit `formula_engine`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, JsonValue

from app.domain.errors import ToolError
from app.domain.reading.numbers import number_in
from app.domain.tools import CallContext
from app.late import late
from app.tools.builtin.data_transform.summing import grouped
from app.tools.builtin.formula_engine.compiler import Formula
from app.tools.builtin.formula_engine.values import FormulaError, Scalar, out
from app.tools.builtin.rows import Row, Rows, check_columns, columns_of, is_empty, shortened, table
from app.tools.function.tool import AnyTool, tool

with late():  # Lark takes 60 ms to import
    from app.tools.builtin.formula_engine import grammar

MOST_WORK = 5_000_000
"""Steps of a formula times rows."""
MOST_NEW_TEXT = 20_000_000
"""Characters in all cells of a new column."""
GroupBy = Annotated[list[str] | str, Field(description="Column or columns that make the groups.")]


def formula_engine_tools() -> tuple[AnyTool, ...]:
    return (formula_engine__evaluate,)


@tool(title="Evaluate a formula", icon="functions", idempotent=True)
async def formula_engine__evaluate(
    formula: str, context: CallContext, rows: Rows = "[]", group_by: GroupBy = "", column: str = "result"
) -> dict[str, JsonValue]:
    """Evaluate a spreadsheet formula over rows: a total, totals by group, or a new column.

    =SUM(amount) is a total, with group_by "region" one for each; =IF(amount > 9, price * 1.2, 0) makes a column.
    Functions: SUM AVERAGE MEDIAN MIN MAX COUNT COUNTA COUNTUNIQUE COUNTIF SUMIF AVERAGEIF IF IFERROR AND OR NOT ROUND
    ABS MOD CONCAT UPPER TRIM LEN LEFT MID SUBSTITUTE DATE DAYS YEAR and others of spreadsheets.

    Args:
        formula: Columns by name, [unit price] where it holds blanks; texts in quotes.
        column: Name of the new column.
    """
    found = await table(rows, context)
    by = [group_by] if isinstance(group_by, str) and group_by else list(group_by)
    return await asyncio.to_thread(_evaluated, formula, found, by, column)


def _evaluated(formula: str, rows: list[Row], by: list[str], column: str) -> dict[str, JsonValue]:
    check_columns(by, rows)
    compiled = Formula(grammar.parse(formula), columns_of(rows))
    work = compiled.size * max(1, len(rows))
    if work > MOST_WORK:
        raise ToolError(f"That formula over {len(rows):,} rows is too much work ({work:,} steps). Split the rows.")
    told: dict[str, JsonValue] = {"formula": formula, "row_count": len(rows)}
    if compiled.per_row:
        return {**told, **_new_column(compiled, rows, by, column)}
    if by:
        return {**told, **_by_group(compiled, rows, by)}
    notes = [*compiled.enter(rows, range(1, len(rows) + 1)), *_spelled(compiled.used, rows)]
    try:
        return {**told, "value": out(compiled.value({})), "notes": list[JsonValue](notes)}
    except FormulaError as error:
        raise ToolError(f"{formula} has no value: {error}.") from error


def _by_group(formula: Formula, rows: Sequence[Row], by: list[str]) -> dict[str, JsonValue]:
    groups: list[JsonValue] = []
    notes: list[str] = []
    for group in _groups(rows, by):
        notes += [f"{group.name}: {note}" for note in formula.enter(group.rows, group.numbers)]
        told: Row = {**group.key, "row_count": len(group.rows)}
        try:
            groups.append({**told, "value": out(formula.value({}))})
        except FormulaError as error:
            groups.append({**told, "value": None})
            notes.append(f"{group.name}: {error}.")
    notes += _spelled(formula.used, rows)
    return {
        "group_by": list[JsonValue](by),
        "group_count": len(groups),
        "groups": groups,
        "notes": list[JsonValue](shortened(notes)),
    }


def _new_column(formula: Formula, rows: Sequence[Row], by: list[str], column: str) -> dict[str, JsonValue]:
    """The rows with one more column; with groups, totals in the formula are those of the row's group."""
    values: dict[int, Scalar] = {}
    notes: list[str] = []
    length = 0
    for group in _groups(rows, by):
        notes += formula.enter(group.rows, group.numbers)
        for number, row in zip(group.numbers, group.rows, strict=True):
            try:
                value = values[number] = formula.value(row)
                length += len(value) if isinstance(value, str) else 0
            except FormulaError as error:
                notes.append(f"Row {number} has no value: {error}.")
            if length > MOST_NEW_TEXT:
                raise ToolError(f"The new column has more than {MOST_NEW_TEXT:,} characters. Split the rows.")
    return {
        "column": column,
        "failed_count": len(rows) - len(values),
        "notes": list[JsonValue]([*shortened(notes), *_spelled(formula.used, rows)]),
        "rows": [{**row, column: out(values.get(number))} for number, row in enumerate(rows, start=1)],
    }


@dataclass(frozen=True, slots=True)
class Group:
    key: Row
    rows: Sequence[Row]
    numbers: Sequence[int]
    """The places of the rows in the table, counted from 1."""

    @property
    def name(self) -> str:
        return ", ".join(str(value) for value in self.key.values())


def _groups(rows: Sequence[Row], by: Sequence[str]) -> list[Group]:
    """The rows by their values in these columns; one group when there are none."""
    if not by:
        return [Group({}, rows, range(1, len(rows) + 1))]
    numbers = {id(row): number for number, row in enumerate(rows, start=1)}
    return [
        Group(dict(zip(by, key, strict=True)), members, [numbers[id(row)] for row in members])
        for key, members in grouped(rows, by)
    ]


def _spelled(columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Which columns hold numbers written in ways that are worth a word."""
    notes: list[str] = []
    for column in columns:
        cells = [row.get(column) for row in rows]
        texts = [cell for cell in cells if isinstance(cell, str) and not is_empty(cell) and number_in(cell) is not None]
        if texts:
            shown = f"{texts[0]!r} as {number_in(texts[0]):f}"
            notes.append(f"{column}: texts count as numbers (cells: {len(texts):,}), such as {shown}.")
    return notes
