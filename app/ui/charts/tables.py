"""Figures without a drawing: tiles side by side, and small tables, whose rows are cards where there is little room."""

from collections.abc import Iterable, Sequence

from app.ui.elements.markup import Html, joined, tag


def tile(title: str, value: str, note: str, address: str, *, testid: str, warn: bool = False) -> Html:
    """One figure, what it means, and a link to the runs behind it."""
    words = joined(tag("dt", title), tag("dd", value))
    look = "tile is-warn" if warn else "tile"
    return tag("a", tag("dl", words), tag("span", note, cls="faint"), href=address, cls=look, data_testid=testid)


def plain_table(name: str, heads: Sequence[str], rows: Iterable[Iterable[Html]], *, testid: str, cls: str = "") -> Html:
    """`name` says what it is of; a column without a head has buttons or links."""
    # The roles are said, as a row that is laid out as a card is none any more for those who cannot see it.
    cells = (tag("th", one or tag("span", "Actions", cls="visually-hidden"), role="columnheader") for one in heads)
    body = (tag("tr", *map(_cell, heads, row), role="row") for row in rows)
    head = tag("thead", tag("tr", *cells, role="row"), role="rowgroup")
    table = tag("table", head, tag("tbody", *body, role="rowgroup"), role="table")
    look = f"plain-table {cls}".strip()
    return tag("div", table, cls=look, role="group", tabindex="0", aria_label=name, data_testid=testid)


def _cell(head: str, content: Html) -> Html:
    return tag("td", content, role="cell", data_head=head or None)
