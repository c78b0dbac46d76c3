"""Which rows a filter lets through, looked at as they are stored."""

from collections.abc import Callable, Container
from math import inf

from app.domain.trace import RunFilter
from app.store.journal.documents import number
from app.store.journal.frames import Document
from app.store.runs.search_words import terms
from app.store.runs.stored_row import agent_field, is_of_key, parent_of, row_field

Condition = Callable[[Document], bool]


def conditions(wanted: RunFilter, matching: Container[str]) -> list[Condition]:
    """One for each field of the filter that is set; `matching` are the runs whose trace says its text."""
    found: list[Condition] = [
        _equals(name, value)
        for name, value in (
            ("status", wanted.status),
            ("failure", wanted.failure),
            ("model", wanted.model),
            ("session_id", wanted.session_id),
        )
        if value
    ]
    if wanted.agent:
        found.append(lambda document: agent_field(document, "slug") == wanted.agent)
    if wanted.variant is not None:
        found.append(lambda document: agent_field(document, "variant") == str(wanted.variant))
    if wanted.parent:
        found.append(lambda document: parent_of(document) == wanted.parent)
    if wanted.background is not None:
        found.append(lambda document: bool(row_field(document, "background")) == wanted.background)
    if (of_key := wanted.of_key) is not None:
        found.append(lambda document: is_of_key(document, of_key))
    if wanted.since is not None:
        since = wanted.since.timestamp()
        found.append(lambda document: number(document.get("started")) >= since)
    if wanted.until is not None:
        until = wanted.until.timestamp()
        found.append(lambda document: number(document.get("started")) <= until)
    found.extend(_range("cost", wanted.min_cost, wanted.max_cost))
    found.extend(_range("duration_ms", wanted.min_ms, wanted.max_ms))
    if words := [term.text for term in terms(wanted.text.casefold())]:
        found.append(_says(words, matching))
    return found


def _range(name: str, least: float | None, most: float | None) -> list[Condition]:
    """Whether the number in that field is within these; one that is not there is in no range."""
    if least is None and most is None:
        return []
    low, high = -inf if least is None else least, inf if most is None else most

    def holds(document: Document) -> bool:
        value = row_field(document, name)
        return isinstance(value, (int, float)) and low <= value <= high

    return [holds]


def _equals(name: str, value: str) -> Condition:
    return lambda document: row_field(document, name) == value


def _says(words: list[str], matching: Container[str]) -> Condition:
    def holds(document: Document) -> bool:
        if document.get("id") in matching:
            return True
        text = str(document.get("text"))
        return all(word in text for word in words)

    return holds
