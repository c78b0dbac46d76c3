"""CSV text read as a table, whatever wrote it; what was not as expected is told in notes."""

import csv
import io
from dataclasses import dataclass

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.domain.reading.numbers import plain, written_number
from app.tools.builtin.data_transform.dialect import (
    guess_delimiter,
    looks_like_header,
    with_line_breaks,
    without_blanks_behind_quotes,
)

MOST_RECORDS = 100_000
MOST_COLUMNS = 1_000
MOST_RAGGED_TOLD = 5


@dataclass(frozen=True, slots=True)
class Record:
    line: int
    fields: list[str]


@dataclass(frozen=True, slots=True)
class CsvTable:
    columns: list[str]
    rows: list[dict[str, JsonValue]]
    delimiter: str
    header: bool
    """True when the first record names the columns."""
    notes: list[str]


def read_csv(
    text: str, *, delimiter: str = "", header: bool | None = None, numbers: bool = True, trim: bool = True
) -> CsvTable:
    """The table in the text. What is not given is found out: the delimiter and whether there is a header.

    `numbers`: columns that hold nothing but plain numbers become numbers. `trim`: blanks around fields go.
    Raises `ToolError` for text without a single field, or for more than a table may have.
    """
    notes: list[str] = []
    text = with_line_breaks(text.removeprefix("\ufeff"), notes)
    text, delimiter = _chosen_delimiter(text, delimiter, notes)
    records = _records(text, delimiter, notes, trim=trim)
    if not records:
        raise ToolError("The CSV text is empty. Pass the text itself, or the path of a session file such as /data.csv.")
    fields = [record.fields for record in records]
    has_header = looks_like_header(fields, notes) if header is None else header
    columns = _columns(records[0].fields if has_header else [""] * len(records[0].fields), notes)
    body = records[1:] if has_header else records
    _add_columns(columns, body, notes)
    rows = [_row(columns, record.fields) for record in body]
    if numbers:
        _make_numbers(columns, rows)
    return CsvTable(columns, rows, delimiter, has_header, notes)


def _chosen_delimiter(text: str, delimiter: str, notes: list[str]) -> tuple[str, str]:
    """The text without the line `sep=;` that spreadsheets write, and the delimiter."""
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first.strip()) == 5:
        return rest, first.strip()[4]
    if delimiter in ("\\t", "tab"):
        return text, "\t"
    if len(delimiter) > 1:
        raise ToolError(f"The delimiter {delimiter!r} has to be one character, or 'tab'.")
    return text, delimiter or guess_delimiter(text, notes)


def _records(text: str, delimiter: str, notes: list[str], *, trim: bool) -> list[Record]:
    """The records that are not blank, with the line each ends in."""
    if trim:
        text = without_blanks_behind_quotes(text, delimiter)
    try:
        return _parsed(text, delimiter, trim=trim, strict=True)
    except csv.Error as error:
        notes.append(f"The quotes do not fit together ({error}); they were read as well as they could be.")
    try:
        return _parsed(text, delimiter, trim=trim, strict=False)
    except csv.Error as error:
        raise ToolError(f"This cannot be read as CSV: {error}.") from error


def _parsed(text: str, delimiter: str, *, trim: bool, strict: bool) -> list[Record]:
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        strict=strict,
        skipinitialspace=trim,
        quoting=csv.QUOTE_MINIMAL if strict else csv.QUOTE_NONE,
    )
    records: list[Record] = []
    for fields in reader:
        if not fields or (trim and not any(field.strip() for field in fields)):
            continue
        if len(records) > MOST_RECORDS:
            raise ToolError(f"The CSV text has more than {MOST_RECORDS:,} rows. Split it.")
        if len(fields) > MOST_COLUMNS:
            raise ToolError(f"Line {reader.line_num} has {len(fields):,} fields; {MOST_COLUMNS:,} is the most.")
        records.append(Record(reader.line_num, [field.strip() for field in fields] if trim else fields))
    return records


def _columns(names: list[str], notes: list[str]) -> list[str]:
    """The names of the columns, each another one."""
    columns: list[str] = []
    for number, given in enumerate(names, start=1):
        name = given or f"column_{number}"
        if name in columns:
            copy = next(f"{name}_{count}" for count in range(2, MOST_COLUMNS + 2) if f"{name}_{count}" not in columns)
            notes.append(f"Two columns are named {name!r}; the one at place {number} is called {copy!r}.")
            name = copy
        columns.append(name)
    return columns


def _add_columns(columns: list[str], body: list[Record], notes: list[str]) -> None:
    """Name what stands behind the last column, and tell of each line that has not as many fields as columns."""
    expected = len(columns)
    ragged = [record for record in body if len(record.fields) != expected]
    for record in ragged[:MOST_RAGGED_TOLD]:
        missing = (
            "the missing ones are null" if len(record.fields) < expected else "the others are in columns of their own"
        )
        notes.append(f"Line {record.line} has {len(record.fields)} of {expected} fields; {missing}.")
    if len(ragged) > MOST_RAGGED_TOLD:
        notes.append(f"{len(ragged) - MOST_RAGGED_TOLD:,} more lines do not have {expected} fields.")
    longest = max((len(record.fields) for record in body), default=expected)
    for number in range(expected + 1, longest + 1):
        columns.append(f"column_{number}" if f"column_{number}" not in columns else f"extra_{number}")


def _row(columns: list[str], fields: list[str]) -> dict[str, JsonValue]:
    return {name: fields[place] if place < len(fields) else None for place, name in enumerate(columns)}


def _make_numbers(columns: list[str], rows: list[dict[str, JsonValue]]) -> None:
    for column in columns:
        texts = [row[column] for row in rows]
        if any(texts) and all(not text or _is_plain(text) for text in texts):
            for row in rows:
                row[column] = _number(row[column])


def _is_plain(text: JsonValue) -> bool:
    """True for digits with at most a minus sign before and a point in between, short enough to be kept exactly."""
    digits = text.removeprefix("-").replace(".", "", 1) if isinstance(text, str) else ""
    return digits.isascii() and digits.isdecimal() and len(digits) <= 15 and written_number(str(text)) is not None


def _number(text: JsonValue) -> JsonValue:
    number = written_number(text) if isinstance(text, str) else None
    return None if number is None else plain(number)
