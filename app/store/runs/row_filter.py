"""Which runs a filter lets through: told from their heads, and of a search from what their rows say."""

from collections.abc import Callable, Container, Iterator
from math import inf

from pydantic_core import to_json

from app.domain.provenance import BEHIND
from app.domain.trace import KeyRuns, RunFilter
from app.domain.trace.model_tallies import provider_of
from app.store.journal.packed import Packed
from app.store.runs.heads import Heads, Kind
from app.store.runs.search_words import terms

Condition = Callable[[int], bool]
"""Of the run at that position."""


def found(heads: Heads, rows: Packed, wanted: RunFilter, matching: Container[str]) -> list[int]:
    """The positions of the runs; `matching` are those whose trace says the filter's text."""
    positions = heads.those(lambda kind: _fits(kind, wanted))
    for holds in _conditions(heads, rows, wanted, matching):
        positions = [position for position in positions if holds(position)]
    return positions


def is_of_key(heads: Heads, position: int, wanted: KeyRuns) -> bool:
    """Whether the run is one of these: it says the key's id, or began under its name when runs said no more."""
    kind = heads.kind_of(position)
    return may_be_of_key(kind, wanted) and (bool(kind.key) or _has_name(heads.started[position], wanted))


def may_be_of_key(kind: Kind, wanted: KeyRuns) -> bool:
    """Whether runs of that kind are, if they began when they must have."""
    named = kind.trigger == "api_key" and kind.caller == wanted.name
    started = kind.key == wanted.key if kind.key else named
    return started and kind.agent in wanted.agents and not kind.imported


def _has_name(started: float, wanted: KeyRuns) -> bool:
    return wanted.since is not None and started >= wanted.since.timestamp()


def _fits(kind: Kind, wanted: RunFilter) -> bool:
    beside = wanted.parent or wanted.session_id  # calls of apps are seen where their app is
    return (
        not kind.deleted
        and (bool(beside) or not kind.of_app)
        and (bool(beside) or wanted.behind or wanted.purpose in BEHIND or not kind.behind)
        and wanted.purpose in (None, "", kind.purpose)
        and (not wanted.unpriced or kind.unpriced)
        and wanted.status in (None, kind.status)
        and wanted.failure in (None, kind.failure)
        and wanted.model in ("", kind.model, *(model for model, _ in kind.called))
        and wanted.provider in ("", *providers_of(kind))
        and (not wanted.tool or wanted.tool in kind.tools)
        and wanted.agent in ("", kind.slug)
        and (wanted.variant is None or kind.variant == str(wanted.variant))
        and wanted.background in (None, kind.background)
        and (wanted.of_key is None or may_be_of_key(kind, wanted.of_key))
    )


def providers_of(kind: Kind) -> list[str]:
    """Of the models that were called; where there was none, of the name of the run's."""
    return [provider for _, provider in kind.called] or [provider_of(kind.model)]


def _conditions(heads: Heads, rows: Packed, wanted: RunFilter, matching: Container[str]) -> Iterator[Condition]:
    """Those that the runs' kinds do not tell."""
    if wanted.session_id:
        session = heads.number(wanted.session_id)
        yield lambda at: heads.session[at] == session
    if wanted.parent:
        parent = heads.number(wanted.parent)
        yield lambda at: heads.parent[at] == parent
    if (of_key := wanted.of_key) is not None:
        yield lambda at: is_of_key(heads, at, of_key)
    for column, least, most in (
        (heads.started, wanted.since and wanted.since.timestamp(), wanted.until and wanted.until.timestamp()),
        (heads.cost, wanted.min_cost, wanted.max_cost),
        (heads.duration, wanted.min_ms, wanted.max_ms),  # one that nobody knows is in no range
    ):
        if least is not None or most is not None:
            low, high = -inf if least is None else least, inf if most is None else most
            yield lambda at, column=column, low=low, high=high: low <= column[at] <= high  # type: ignore[misc]
    if words := [term.text for term in terms(wanted.text.casefold())]:
        yield _says(words, heads, rows, matching)


def _says(words: list[str], heads: Heads, rows: Packed, matching: Container[str]) -> Condition:
    stored = [to_json(word)[1:-1] for word in words]

    def holds(position: int) -> bool:
        if heads.names[heads.run[position]] in matching:
            return True
        row = rows.json(position)
        before = row.partition(b',"value":')[0]  # few are worth parsing
        if not all(word in before for word in stored):
            return False
        text = str(rows.at(position).get("text"))
        return all(word in text for word in words)

    return holds
