"""Tables as a message shows them, and what their columns seem to hold: enough to decide which tools to call.

The tools read the table themselves; nothing here becomes part of an answer without them.
"""

import json
import re
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

Row = dict[str, JsonValue]
LONGEST_CELL = 100
"""Characters of a cell that are looked at."""
DELIMITERS = ",;\t|"
_FENCE = re.compile(r"```[\w-]*+[ \t]*+\n(.*?)```", re.DOTALL)
_DATA = re.compile(r"\n[ \t]*Data:[ \t]*\n(.*)\Z", re.DOTALL)
_PATH = re.compile(r"(?<![\w/-])(/?(?:[\w-]++/)*+[\w-]++\.(?:csv|tsv))\b", re.IGNORECASE)
_MONTH = r"(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-zä]*+\.?+"
_DATE = re.compile(
    rf"\s*+(?:\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}\b.*|(?:\w++,?\s++)?{_MONTH}\s+\d{{1,2}}.*"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?[\s-]++(?:of\s++)?{_MONTH}.*|(?:19|20)\d{{6}})",
    re.IGNORECASE,
)
_DATE_NAME = re.compile(r"(?:^|[\W_])(?:date|day|datum|when|born|birthday|due|on|at)(?:$|[\W_])", re.IGNORECASE)
_NUMBER = re.compile(r"\(?[-+−]?\s*+(?:[$€£¥]|[A-Z]{3})?\s*+[-+−]?\d[\d.,'’\s]*+(?:[$€£¥%]|[A-Z]{3})?\)?")
_NO_AMOUNT = re.compile(
    r"(?:^|[\W_])(?:id|no|nr|number|code|zip|plz|postcode|year|phone|tel|sku|isbn|index|age)(?:$|[\W_])", re.IGNORECASE
)
_GROUP = re.compile(
    r"region|country|city|category|type|group|department|team|status|product|item|store|branch|area|kind|state|segment"
    r"|customer|project|account|land|stadt|kategorie|abteilung",
    re.IGNORECASE,
)


def table_in(text: str) -> str:
    """The CSV in a message, or the path of the CSV file it names; empty where it holds none."""
    data = _DATA.search(text)
    if data and (found := _in_data(data.group(1))):
        return found
    fence = _FENCE.search(text)
    if fence and is_table(fence.group(1)):
        return fence.group(1).strip("\n")
    written = _block(text) or _one_line(text)
    path = None if written else _PATH.search(text)
    return f"/{path.group(1).removeprefix('/')}" if path else written


def is_table(text: str) -> bool:
    """True for at least two lines with the same number of fields, at least two."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > 1 and any(_regular(lines, delimiter) for delimiter in DELIMITERS)


def date_columns(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Columns most of whose cells look like dates, or that are called so and hold text."""
    return [
        name
        for name in columns
        if (cells := _cells(rows, name))
        and (
            _mostly(_DATE.fullmatch(cell) is not None for cell in cells)
            or (_DATE_NAME.search(name) is not None and any(_DATE.fullmatch(cell) for cell in cells))
        )
    ]


def amount_columns(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Columns of numbers that it makes sense to add up."""
    return [
        name
        for name in columns
        if _NO_AMOUNT.search(name) is None
        and (cells := _cells(rows, name))
        and _mostly(_NUMBER.fullmatch(cell) is not None for cell in cells)
    ]


def group_column(rows: Sequence[Row], columns: Sequence[str], text: str) -> str:
    """The column to sum up by: the one asked for, else one that is called like a group and repeats; may be none."""
    asked = re.search(r"\b(?:by|per|for each|for every|in each)\s+[\"'`]?([\w ]+)", text, re.IGNORECASE)
    words = asked.group(1).lower() if asked else ""
    for name in columns:
        if words and re.match(rf"{re.escape(name.lower().replace('_', ' '))}\b", words):
            return name
    repeating = [name for name in columns if len(set(_cells(rows, name))) < len(_cells(rows, name))]
    named = [name for name in columns if _GROUP.search(name)]
    return next((name for name in named if name in repeating), "") or next(iter([*repeating, *named]), "")


def _cells(rows: Sequence[Row], column: str) -> list[str]:
    return [str(row[column]).strip()[:LONGEST_CELL] for row in rows if str(row.get(column) or "").strip()]


def _mostly(claims: Iterable[bool]) -> bool:
    said = list(claims)
    return sum(said) > 0.6 * len(said)


def _in_data(text: str) -> str:
    """The table in JSON data: CSV text in it, or its rows as JSON text."""
    try:
        data: JsonValue = json.loads(text)
    except ValueError:
        return text.strip("\n") if is_table(text) else ""
    for value in [data, *(data.values() if isinstance(data, dict) else [])]:
        if isinstance(value, str) and (is_table(value) or _one_line(value)):
            return _one_line(value) or value
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            return json.dumps(value, ensure_ascii=False)
    return ""


def _block(text: str) -> str:
    """The longest run of lines with the same number of fields, blank lines in between left out."""
    best: list[str] = []
    for delimiter in DELIMITERS:
        run: list[str] = []
        for line in [*text.splitlines(), ""]:
            if run and line.count(delimiter) and abs(line.count(delimiter) - run[0].count(delimiter)) <= 1:
                run.append(line)
                continue
            if len(run) > max(1, len(best)) and _regular(run, delimiter):
                best = run
            run = [line] if delimiter in line else []
    if best and (head := _label(best[0], best[1])):
        best = [best[0][head:], *best[1:]]
    return "\n".join(best)


def _label(first: str, second: str) -> int:
    """How long the words are that stand before the table in its first line: "Clean this: name,date"."""
    place = first.find(": ")
    return (
        place + 2 if place > 0 and not any(mark in first[:place] for mark in DELIMITERS) and ": " not in second else 0
    )


def _one_line(text: str) -> str:
    r"""A table whose rows stand in one line with ` / ` or `\n` between them; empty where there is none."""
    for mark in (" / ", "\\n"):
        for line in text.splitlines():
            parts = [part.strip() for part in line[_label(line, "") :].split(mark)]
            if is_table("\n".join(parts)):
                return mark.join(parts)
    return ""


def _regular(lines: Sequence[str], delimiter: str) -> bool:
    """Most lines have as many delimiters as the first, outside of quotes; commas of a sentence do not count."""
    counts = [re.sub(r'"[^"]*"', "", line).count(delimiter) for line in lines]
    prose = delimiter == "," and sum(", " in line and line.rstrip().endswith((".", "!", "?")) for line in lines) > 1
    return counts[0] > 0 and not prose and sum(count == counts[0] for count in counts) >= 0.5 * len(counts)
