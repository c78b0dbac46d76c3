"""What is said about a table that was cleaned up: the table itself, its sums, and what needs a look."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from pydantic import JsonValue

from app.llm.demo.tables import Row

MOST_SHOWN = 50
"""Rows of the table in an answer."""


@dataclass(slots=True)
class Cleaning:
    """What is known so far of the table and what was asked about it."""

    columns: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dates: dict[str, list[Row]] = field(default_factory=dict)
    """What the tool says of each text of a column."""
    sums: dict[str, Row] = field(default_factory=dict)
    """The tool's outcome by formula."""
    group: str = ""


def answer_about(cleaning: Cleaning) -> str:
    """The whole answer, in Markdown."""
    dates, sums = cleaning.dates, cleaning.sums
    paragraphs = [
        _heading(cleaning),
        _table([_with_dates(row, spoken) for row, spoken in _spoken(cleaning.rows, dates)], cleaning.columns),
        *(_sum(formula, outcome, cleaning.group) for formula, outcome in sums.items()),
        _listed([*cleaning.notes, *_of_dates(dates), *_of_sums(sums)]),
        "" if dates else "I found no column of dates, so there was nothing to put into ISO format.",
        "" if sums else "I found no column of amounts, so there is nothing to add up.",
    ]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _heading(cleaning: Cleaning) -> str:
    count = "1 row" if len(cleaning.rows) == 1 else f"{len(cleaning.rows):,} rows"
    done = f", with {' and '.join(cleaning.dates)} as ISO 8601" if cleaning.dates else ""
    return f"Here is the table, {count} and {len(cleaning.columns)} columns{done}:"


def _spoken(rows: Sequence[Row], dates: Mapping[str, Sequence[Row]]) -> Iterator[tuple[Row, dict[str, Row]]]:
    """Each row with what the tool said of its dates; empty cells were not asked about."""
    left = {column: iter(said) for column, said in dates.items()}
    for row in rows:
        yield row, {column: next(said, {}) for column, said in left.items() if str(row.get(column) or "").strip()}


def _with_dates(row: Row, spoken: Mapping[str, Row]) -> Row:
    return {**row, **{column: said["iso"] for column, said in spoken.items() if said.get("iso")}}


def _table(rows: Sequence[Row], columns: Sequence[str]) -> str:
    lines = [
        columns,
        ["---"] * len(columns),
        *([_cell(row.get(name)) for name in columns] for row in rows[:MOST_SHOWN]),
    ]
    shown = "\n".join(f"| {' | '.join(_escaped(cell) for cell in line)} |" for line in lines)
    return shown if len(rows) <= MOST_SHOWN else f"{shown}\n\n… and {len(rows) - MOST_SHOWN:,} more rows."


def _sum(formula: str, outcome: Row, group: str) -> str:
    """For example **amount by region:** West: 2,700 · East: 2,000."""
    name = formula.removeprefix("=SUM(").removesuffix(")").strip("[]")
    groups = outcome.get("groups")
    if not isinstance(groups, list):
        return f"**Sum of {name}:** {_number(outcome.get('value'))}"
    parts = [
        f"{_cell(one.get(group)) or '(empty)'}: {_number(one.get('value'))}" for one in groups if isinstance(one, dict)
    ]
    more = f" · … and {len(parts) - MOST_SHOWN:,} more" if len(parts) > MOST_SHOWN else ""
    return f"**Sum of {name} by {group}:** {' · '.join(parts[:MOST_SHOWN])}{more}"


def _of_dates(dates: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    for column, said in dates.items():
        for one in said:
            text, others = _cell(one.get("text")), one.get("or")
            if one.get("iso") is None:
                yield f"{column}: “{text}” is no date that can be read, so it stays. {_cell(one.get('problem'))}"
            elif one.get("ambiguous") is True and isinstance(others, list):
                meanings = " or ".join(map(str, others))
                yield f"{column}: “{text}” was read as {_cell(one.get('iso'))}, but it may mean {meanings}."


def _of_sums(sums: Mapping[str, Row]) -> Iterator[str]:
    for outcome in sums.values():
        notes = outcome.get("notes")
        yield from map(str, notes) if isinstance(notes, list) else ()


def _listed(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    return "What you may want to look at:\n\n" + "\n".join(f"- {note}" for note in notes[:MOST_SHOWN])


def _cell(value: JsonValue) -> str:
    return "" if value is None else str(value)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def _number(value: JsonValue) -> str:
    """With commas between thousands."""
    try:
        return f"{Decimal(str(value)):,}"
    except InvalidOperation:
        return "nothing"
