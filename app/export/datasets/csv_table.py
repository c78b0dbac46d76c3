"""A table of cases: `input`, `reference`, `tags`, `must_pass`, `note`; every other column is a variable.

A variable of such a name has `variable: ` before it.

Columns of promptfoo, `__expected` and the like, are taken as its assertions.
https://www.promptfoo.dev/docs/configuration/test-cases/
"""

import csv
import io
import re

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.evals.cases import Case, tags_of
from app.export.datasets.assertions import Wanted, from_text, take
from app.export.datasets.chat import input_name
from app.export.datasets.received import Draft, Received, words
from app.export.limits import LARGEST_DATASET
from app.export.words import guarded, unguarded

MOST_COLUMNS = 500
OWN = ("reference", "tags", "must_pass", "note")
VARIABLE = "variable: "
_EXPECTED = re.compile(r"__expected\d*")
_TRUE = ("true", "yes", "1", "x")
_DELIMITERS = ",;\t"
csv.field_size_limit(LARGEST_DATASET)  # of the process: a cell may be as large as the file that it is in


def read_cases(content: bytes, name: str, *, judge: str = "") -> Received:
    """Raises `WorkbenchError` with the line that cannot be read."""
    draft = Draft(judge)
    text = _text(content, name)
    head = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=head.count), strict=True)
    try:
        columns = [unguarded(column.strip()) for column in next(reader, [])]
        asked = _asked(columns, name)
        for cells in reader:
            if any(cells):
                _take(draft, columns, asked, [unguarded(cell) for cell in cells], f"{name}, line {reader.line_num}")
    except csv.Error as error:
        raise WorkbenchError(f"{name}, line {reader.line_num}: this is no CSV that can be read: {error}.") from error
    return draft.received()


def write_cases(cases: list[Case]) -> bytes:
    """The table, with a `'` before what a spreadsheet would work out."""
    variables = list(dict.fromkeys(name for case in cases for name in _variables(case)))
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(map(guarded, ("input", *OWN, *map(_column, variables))))
    for case in cases:
        own = (words(case.reference), ", ".join(case.tags), "true" if case.must_pass else "", case.note)
        others = (case.variables.get(name, "") for name in variables)
        writer.writerow(map(guarded, (case.input, *own, *others)))
    return b"\xef\xbb\xbf" + table.getvalue().encode()


def _variables(case: Case) -> dict[str, str]:
    """Those that say more than the input does."""
    return {name: value for name, value in case.variables.items() if (name, value) != ("input", case.input)}


def _column(variable: str) -> str:
    """What its column is called."""
    taken = variable.strip() in ("input", *OWN) or variable.startswith(("__", VARIABLE))
    return f"{VARIABLE}{variable}" if taken else variable


def _take(draft: Draft, columns: list[str], asked: str, cells: list[str], place: str) -> None:
    named = [*columns, *[""] * (len(cells) - len(columns))]
    row = {column: cell for column, cell in zip(named, cells, strict=False) if column}
    if lost := sum(bool(cell) for column, cell in zip(named, cells, strict=False) if not column):
        draft.left.out("cells without a column", lost)
    wanted = Wanted(reference=row.pop("reference", "") or None)
    for column in [column for column in row if _EXPECTED.fullmatch(column)]:
        if cell := row.pop(column):
            take(from_text(cell), wanted, draft, place)
    note = row.pop("note", "") or row.pop("__description", "")
    message, tags, must_pass = row.pop(asked, ""), row.pop("tags", ""), row.pop("must_pass", "")
    for column in [column for column in row if column.startswith("__")]:
        if row.pop(column):
            draft.left.out(f"cells of the column {column}")
    fields: dict[str, object] = {
        "input": message,
        "variables": {column.removeprefix(VARIABLE): cell for column, cell in row.items()},
        "tags": tags_of(tags),
        "must_pass": must_pass.strip().casefold() in _TRUE,
        "note": note,
    }
    draft.add(place, fields | wanted.fields(draft))


def _asked(columns: list[str], name: str) -> str:
    """The column of the message."""
    if len(columns) > MOST_COLUMNS:
        raise TooLarge(f"{name}, line 1: a table has at most {MOST_COLUMNS} columns; this one has {len(columns):,}.")
    twice = [column for column in columns if column and columns.count(column) > 1]
    if twice:
        raise WorkbenchError(f"{name}, line 1: two columns are called {twice[0]!r}. Give each a name of its own.")
    found = input_name([one for one in columns if one and one not in OWN and not one.startswith(("__", VARIABLE))])
    if not found:
        known = ", ".join(map(repr, columns[:20])) or "none"
        raise WorkbenchError(f"{name}, line 1: no column is called 'input'. Columns: {known}. Call the message's so.")
    return found


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise WorkbenchError(f"{name}, line {line}: this is not UTF-8. Save the table as “CSV UTF-8”.") from error
