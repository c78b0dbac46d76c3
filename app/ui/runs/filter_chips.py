"""What is filtered by, as chips that are taken away one by one."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import NamedTuple, TypeVar

from nicegui import ui

from app.domain.failure_words import WORDS
from app.domain.provenance import BACKGROUND_TITLES, PURPOSE_TITLES, variant_words
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import dollars, duration
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.status_pill import status_words
from app.ui.runs.trace_query import MARKS, RunsQuery

Edge = TypeVar("Edge")
_ALONE = frozenset(
    (
        *("text", "status", "variant", "model", "provider", "tool", "purpose", "unpriced"),
        *("failure", "rating", "noted", "voted", "tag", "behind", "background"),
    )
)
"""Fields that have a chip of their own."""


class Chip(NamedTuple):
    field: str
    """What it sets; `all` takes everything away."""
    words: str


class FilterChips:
    """`ask` is called with the query that is left when a chip was taken away."""

    def __init__(self, names: Mapping[str, str], ask: Callable[[RunsQuery], None]) -> None:
        """`names`: what each agent's slug is called."""
        self._names = names
        self._ask = ask
        self._query = RunsQuery()
        self._place = ui.html(sanitize=False).classes("runs-chips").props('role=group aria-label="Filters in use"')
        on_click_of(self._place, "field", lambda field: self._ask(without(self._query, field)))

    def show(self, query: RunsQuery) -> None:
        self._query = query
        found = chips(query, self._names)
        self._place.visible = bool(found)
        self._place.set_content(joined(*map(_chip, found), _clear()) if found else Html(""))


def chips(query: RunsQuery, names: Mapping[str, str]) -> list[Chip]:
    """A chip for each field that is set."""
    said = {
        "text": f"Text: {query.text}" if query.text.strip() else "",
        "status": status_words(query.status) if query.status else "",
        "agent": names.get(query.agent, query.agent),
        "variant": "" if query.filter.variant is None else variant_words(query.filter.variant).capitalize(),
        "model": query.model,
        "provider": f"Provider: {query.provider}" if query.provider else "",
        "tool": f"Called {query.tool}" if query.tool else "",
        "purpose": PURPOSE_TITLES[query.purpose] if query.purpose else "",
        "background": "" if query.background is None else BACKGROUND_TITLES[query.background],
        "unpriced": "Unpriced" if query.unpriced else "",
        "failure": WORDS[query.failure].title if query.failure else "",
        "rating": MARKS.get(query.rating or "", ""),
        "noted": MARKS["noted"] if query.noted else "",
        "voted": MARKS["voted"] if query.voted else "",
        "tag": f"Tag: {query.tag}" if query.tag else "",
        "days": _range("", _words(query.first_day, _edge), _words(query.last_day, _edge)),
        "cost": _range("Cost ", _words(query.min_cost, dollars), _words(query.max_cost, dollars)),
        "seconds": _range("Took ", _words(query.min_seconds, _seconds), _words(query.max_seconds, _seconds)),
    }
    said["behind"] = "With experiments, judges and tries" if query.behind else ""
    return [Chip(field, words) for field, words in said.items() if words]


def without(query: RunsQuery, field: str) -> RunsQuery:
    """The query without what that chip says, at its first page."""
    none = query.unfiltered
    match field:
        case "all":
            return none
        case "agent":
            gone = ["agent", "variant"]
        case "days":
            gone = ["first_day", "last_day"]
        case "cost" | "seconds":
            gone = [f"min_{field}", f"max_{field}"]
        case _ if field in _ALONE:
            gone = [field]
        case _:
            return query
    return query.model_copy(update={"page": 1} | {name: getattr(none, name) for name in gone})


def _chip(chip: Chip) -> Html:
    close = icon("close")
    label = f"Take away: {chip.words}"
    return tag("button", tag("span", chip.words), close, cls="runs-chip", data_field=chip.field,
               data_testid="filter-chip", aria_label=label, title=label)  # fmt: skip


def _clear() -> Html:
    return tag("button", "Clear all", cls="runs-clear", data_field="all", data_testid="clear-filters")


def _range(before: str, least: str | None, most: str | None) -> str:
    match least, most:
        case (str(), str()):
            return f"{before}{least} to {most}"
        case (str(), None):
            return f"{before}from {least}".capitalize() if not before else f"{before}at least {least}"
        case (None, str()):
            return f"up to {most}".capitalize() if not before else f"{before}at most {most}"
        case _:
            return ""


def _words(edge: Edge | None, said: Callable[[Edge], str]) -> str | None:
    return None if edge is None else said(edge)


def _edge(edge: datetime | date) -> str:
    return f"{edge.astimezone():%Y-%m-%d %H:%M}" if isinstance(edge, datetime) else str(edge)


def _seconds(seconds: float) -> str:
    return duration(seconds * 1000)
