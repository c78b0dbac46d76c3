"""Figures without a drawing: tiles side by side, and small tables, which are scrolled where they do not fit."""

from collections.abc import Iterable, Sequence

from app.ui.elements.markup import Html, joined, tag


def tile(title: str, value: str, note: str, address: str, *, testid: str, warn: bool = False) -> Html:
    """One figure, what it means, and a link to the runs behind it."""
    words = joined(tag("dt", title), tag("dd", value))
    look = "tile is-warn" if warn else "tile"
    return tag("a", tag("dl", words), tag("span", note, cls="faint"), href=address, cls=look, data_testid=testid)


def plain_table(name: str, heads: Sequence[str], rows: Iterable[Iterable[Html]], *, testid: str, cls: str = "") -> Html:
    """`name` says what it is of; a column without a head has buttons or links."""
    head = (tag("th", one or tag("span", "Actions", cls="visually-hidden"), scope="col") for one in heads)
    body = (tag("tr", *(tag("td", cell) for cell in row)) for row in rows)
    table = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body))
    look = f"plain-table {cls}".strip()
    return tag("div", table, cls=look, role="group", tabindex="0", aria_label=name, data_testid=testid)
