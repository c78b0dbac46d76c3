"""Text as a part of a Markdown document in which nothing of it can pass for more."""

import json
import re
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from app.domain.result_rows import SHOWN_ROWS, RowTable, cell_text
from app.export.words import one_line

_SIGNS = re.compile(r"([\\`*\[\]|<>~&]|(?<![^\W_])_|_(?![^\W_]))")
_BACKTICKS = re.compile(r"`{3,}")
_RUN = re.compile(r"\brun ([A-Za-z0-9-]{1,64})(?=,| \(|$)")


def plain(text: str, limit: int = 200) -> str:
    """The text as one line in which no sign means anything to Markdown."""
    return _SIGNS.sub(r"\\\1", one_line(text, limit))


def fenced(text: str, language: str = "") -> list[str]:
    """The text as a code block that nothing in it can close."""
    longest = max((len(ticks) for ticks in _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return [fence + language, text.rstrip("\n"), fence]


def quoted(text: str) -> list[str]:
    return [f"> {line}".rstrip() for line in text.rstrip().splitlines()]


def table_lines(found: RowTable) -> Iterator[str]:
    yield _line(found.columns)
    yield "|---" * len(found.columns) + "|"
    yield from (_line(map(cell_text, row)) for row in found.rows[:SHOWN_ROWS])
    if len(found.rows) > SHOWN_ROWS:
        yield from ("", f"*The first {SHOWN_ROWS} of {len(found.rows):,} rows.*")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(plain(cell) for cell in cells)} |"


def pretty(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def linked(words: str, runs: str) -> str:
    """The words with a link for each run that they name."""
    return _RUN.sub(rf"[run \1]({runs}\1)", words) if runs else words
