"""JSON to look at: as a tree that opens and closes, and as a table when it is a list of objects."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.ui.elements.format import head, plural
from app.ui.elements.markup import Html, joined, tag

MOST_NODES = 1_500
MOST_ROWS = 200
MOST_COLUMNS = 40
LONGEST_TEXT = 2_000
"""Characters of one text in a tree."""
LONGEST_CELL = 200
"""Characters of one cell of a table."""
OPEN_DEPTH = 2
DEEPEST = 60


@dataclass
class _Budget:
    left: int = MOST_NODES


def json_tree(value: JsonValue) -> Html:
    """The value as a tree; past a number of nodes what is left is counted, not shown."""
    return tag("div", _node("", value, 0, _Budget()), cls="json-tree")


def as_rows(value: JsonValue) -> list[dict[str, JsonValue]]:
    """The objects of a list of nothing but objects; else nothing."""
    if not isinstance(value, list):
        return []
    rows = [one for one in value if isinstance(one, dict)]
    return rows if len(rows) == len(value) else []


def json_table(rows: Sequence[dict[str, JsonValue]]) -> Html:
    """A table of the objects: a column for each name, in the order in which they first appear."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = names[:MOST_COLUMNS]
    header = tag("tr", *(tag("th", name, scope="col") for name in shown))
    lines = (tag("tr", *(_cell(row, name) for name in shown)) for row in rows[:MOST_ROWS])
    table = tag("table", tag("thead", header), tag("tbody", *lines))
    return joined(tag("div", table, cls="json-table", tabindex="0"), _left_out(rows, names))


def _left_out(rows: Sequence[object], names: Sequence[str]) -> Html:
    more = []
    if len(rows) > MOST_ROWS:
        more.append(f"The first {MOST_ROWS} of {plural(len(rows), 'row')}.")
    if len(names) > MOST_COLUMNS:
        more.append(f"The first {MOST_COLUMNS} of {len(names)} columns.")
    words = " ".join(more) or f"{plural(len(rows), 'row')}, {plural(len(names), 'column')}"
    return tag("p", words, cls="faint")


def _cell(row: dict[str, JsonValue], name: str) -> Html:
    if name not in row:
        return tag("td", cls="json-none")
    value = row[name]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return tag("td", _literal(value), cls="json-cell-number")
    text = value if isinstance(value, str) else _literal(value)
    return tag("td", head(text, LONGEST_CELL), title=text[:LONGEST_TEXT] if len(text) > LONGEST_CELL else None)


def _node(name: str, value: JsonValue, depth: int, budget: _Budget) -> Html:
    budget.left -= 1
    label = tag("span", name, cls="json-name") if name else Html("")
    if not isinstance(value, dict | list) or not value:
        return tag("div", label, _leaf(value), cls="json-leaf")
    if depth >= DEEPEST:
        return tag("div", label, tag("code", "…"), cls="json-leaf")
    noun = "value" if isinstance(value, dict) else "item"
    about = tag("span", plural(len(value), noun), cls="json-about")
    inner = tag("div", *_children(value, depth, budget), cls="json-inner")
    return tag("details", tag("summary", label, about), inner, open=depth < OPEN_DEPTH)


def _children(value: dict[str, JsonValue] | list[JsonValue], depth: int, budget: _Budget) -> Iterator[Html]:
    pairs = value.items() if isinstance(value, dict) else ((str(place), one) for place, one in enumerate(value))
    for shown, (name, one) in enumerate(pairs):
        if budget.left <= 0:
            yield tag("p", f"{len(value) - shown:,} more not shown", cls="faint")
            return
        yield _node(name or "“”", one, depth + 1, budget)


def _leaf(value: JsonValue) -> Html:
    if isinstance(value, str):
        more = f"… {len(value):,} characters" if len(value) > LONGEST_TEXT else ""
        return tag("span", f"“{value[:LONGEST_TEXT]}”", more, cls="json-text")
    kind = "json-number" if isinstance(value, int | float) and not isinstance(value, bool) else "json-word"
    return tag("span", _literal(value), cls=kind)


def _literal(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
