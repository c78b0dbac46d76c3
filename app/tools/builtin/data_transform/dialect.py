"""How a CSV text is written: what stands between its fields, and whether its first record names the columns.

The delimiter is the candidate under which most records have the same number of fields. `csv.Sniffer` is not asked:
unclosed quotes take it quadratic time (20,000 characters a second, 100,000 more than 20), and it takes letters for
delimiters.
"""

import csv
import io
import re
from collections import Counter
from itertools import islice

from app.domain.reading.numbers import written_number

CANDIDATES = (",", ";", "\t", "|")
NO_DELIMITER = "\x1f"
"""Of one column in which all candidates stand."""
PROBED_RECORDS = 50
PROBED_CHARACTERS = 100_000
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b|\d{8}T?")


def with_line_breaks(text: str, notes: list[str]) -> str:
    r"""The text with real line breaks, where it has none but says ` / ` or `\n` in their place."""
    text = text.strip("\r\n")
    if "\n" in text or "\r" in text:
        return text
    if "\\n" in text:
        notes.append("The text has '\\n' in place of line breaks; each was read as one.")
        return text.replace("\\r\\n", "\n").replace("\\n", "\n")
    parts = [part.strip() for part in text.split(" / ")]
    if len(parts) > 1 and any(_equally_many(parts, delimiter) for delimiter in CANDIDATES):
        notes.append("The text is one line; each ' / ' was read as a line break.")
        return "\n".join(parts)
    return text


def guess_delimiter(text: str, notes: list[str]) -> str:
    """The delimiter under which the text is most like a table; where it is like none, one that splits nothing."""
    widths = {delimiter: _widths(text[:PROBED_CHARACTERS], delimiter) for delimiter in CANDIDATES}
    best = max(CANDIDATES, key=lambda delimiter: _regularity(widths[delimiter]))
    if _regularity(widths[best]) > (0, 0):
        return best
    splitting = [delimiter for delimiter in CANDIDATES if max(widths[delimiter], default=1) > 1]
    if splitting:
        stray = " and ".join(map(repr, splitting))
        notes.append(f"It was read as one column: few lines hold {stray}. Say the delimiter if that separates fields.")
    return next((delimiter for delimiter in CANDIDATES if delimiter not in splitting), NO_DELIMITER)


def without_blanks_behind_quotes(text: str, delimiter: str) -> str:
    """The text with `"x" ,` as `"x",`: blanks around fields are no part of them."""
    blank, end = " " if delimiter == "\t" else "[ \t]", f"[{re.escape(delimiter)}\r\n]"
    return re.sub(rf'((?:^|{end}){blank}*+"(?:[^"]|"")*+"){blank}*+(?={end}|$)', r"\1", text)


def looks_like_header(records: list[list[str]], notes: list[str]) -> bool:
    """True when the first record names the columns: it holds other kinds of text than those below, or no numbers."""
    first, rest = records[0], records[1:]
    differs = any(
        cell and not _is_data(cell) and _mostly_data([record[place] for record in rest if place < len(record)])
        for place, cell in enumerate(first)
    )
    if differs:
        return True
    if any(_is_data(cell) or not cell for cell in first):
        notes.append("The first line looks like data, so the columns have no names; pass header=true if it names them.")
        return False
    if rest:
        notes.append("Line 1 was taken as the names of the columns; pass header=false if it is data.")
    return True


def _equally_many(parts: list[str], delimiter: str) -> bool:
    counts = {part.count(delimiter) for part in parts}
    return len(counts) == 1 and counts != {0}


def _widths(text: str, delimiter: str) -> list[int]:
    """How many fields each of the first records has."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
        return [len(fields) for fields in islice(reader, PROBED_RECORDS) if fields]
    except csv.Error:
        return []


def _regularity(widths: list[int]) -> tuple[float, int]:
    """How many of the records have the same number of fields, at least two, as a share; and that number.

    Nothing where the first record and most of the others have one field only: that is one column with stray marks.
    """
    if not widths or (widths[0] == 1 and widths.count(1) * 2 >= len(widths)):
        return 0, 0
    width, count = max(Counter(widths).items(), key=lambda item: (item[0] > 1, item[1]))
    return (count / len(widths), width) if width > 1 else (0, 0)


def _is_data(cell: str) -> bool:
    return written_number(cell) is not None or _DATE.match(cell) is not None


def _mostly_data(cells: list[str]) -> bool:
    full = [cell for cell in cells if cell]
    return bool(full) and sum(map(_is_data, full)) >= 0.8 * len(full)
