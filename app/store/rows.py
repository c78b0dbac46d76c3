"""The rows of all runs: filtered, sorted and paged as they are stored; only the page that is shown is parsed."""

import asyncio
import logging
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import inf

from pydantic import JsonValue

from app.domain.errors import StorageError
from app.domain.trace import RunFilter, RunPage, RunRow, SortKey, ToolStats, Week
from app.domain.values import now
from app.store.database import JournalDB
from app.store.documents import Documents, Marks, number
from app.store.frames import Document
from app.store.search_words import terms
from app.store.tool_figures import ToolFigures

log = logging.getLogger(__name__)

_Test = Callable[[Document], bool]


@dataclass(frozen=True, slots=True)
class RunAge:
    run_id: str
    session_id: str
    started_at: datetime


class Rows:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "runs", RunRow, noun="run", marks=_marks)

    def get(self, run_id: str) -> RunRow | None:
        """The row, `None` for a run that is not there or deleted."""
        document = self._documents.stored(run_id)
        return None if document is None or document.get("deleted") else self._documents.parsed(document)

    def find(
        self,
        wanted: RunFilter,
        *,
        sort: SortKey = "started_at",
        descending: bool = True,
        offset: int = 0,
        limit: int = 50,
        told: Container[str] = (),
    ) -> RunPage:
        """The rows that the filter lets through, sorted, `limit` of them from `offset` on.

        `told` are the runs whose trace says the filter's text; of all others it is looked for in the row itself.
        """
        found = self._found(wanted, told)
        found.sort(key=_SORT_KEYS[sort], reverse=descending)
        page = found[offset : offset + limit]
        rows = [row for document in page if (row := self._parsed(document)) is not None]
        return RunPage(rows, len(found))

    def stamps(self) -> list[tuple[str, str]]:
        """The id of each run and what tells its state from any other one's, the newest run first."""
        shown = sorted(self._shown(), key=_SORT_KEYS["started_at"], reverse=True)
        return [(str(document.get("id")), _stamp(document)) for document in shown]

    def stamp(self, run_id: str) -> str | None:
        """What tells the run's state from any other one; `None` for a run that is not there or deleted."""
        document = self._documents.stored(run_id)
        return None if document is None or document.get("deleted") else _stamp(document)

    def knows(self, run_id: str) -> bool:
        """Whether there is or was a row of that run: also of a deleted one."""
        return self._documents.stored(run_id) is not None

    def deleted(self, before: datetime) -> list[str]:
        """The runs that were deleted before that, and of which more than what they cost is still kept."""
        documents, moment = self._documents.documents(), before.timestamp()
        gone = [document for document in documents if document.get("deleted") and not document.get("emptied")]
        return [str(document.get("id")) for document in gone if number(document.get("deleted_at")) < moment]

    def session_of(self, run_id: str) -> str:
        """The session of a run, also of a deleted one; empty where it is not known."""
        document = self._documents.stored(run_id)
        return "" if document is None else str(_field(document, "session_id") or "")

    async def empty(self, run_id: str) -> None:
        """Forget for good what was asked in a deleted run; what it cost stays known."""
        document = self._documents.stored(run_id)
        if document is None or not document.get("deleted"):
            return
        if (row := self._parsed(document)) is not None:
            await self.save(row.model_copy(update={"request": ""}))
        await self._documents.mark([run_id], {"emptied": True})

    def by_age(self) -> list[RunAge]:
        """All runs that are not deleted, the newest first."""
        shown = sorted(self._shown(), key=_SORT_KEYS["started_at"], reverse=True)
        return [
            RunAge(
                str(document.get("id")),
                str(_field(document, "session_id") or ""),
                datetime.fromtimestamp(number(document.get("started")), UTC),
            )
            for document in shown
        ]

    def variants(self, agent: str) -> list[int]:
        """The variants of the agent with that slug that have runs, the newest first."""
        found = {_agent_field(doc, "variant") for doc in self._shown() if _agent_field(doc, "slug") == agent}
        return sorted((int(variant) for variant in found if variant.isdecimal()), reverse=True)

    def agents(self) -> list[str]:
        """The slugs of the agents that have runs, sorted."""
        return sorted({_agent_field(document, "slug") for document in self._shown()})

    def models(self) -> list[str]:
        """The models that runs were made with, sorted."""
        return sorted({str(_field(document, "model")) for document in self._shown()})

    def cost_since(self, moment: datetime) -> float:
        """US dollars of the runs that started since then, deleted ones included: the money is spent."""
        start = moment.timestamp()
        documents = self._documents.documents()
        return sum(_paid(doc) for doc in documents if number(doc.get("started")) >= start)

    def cost_of_session(self, session_id: str) -> float:
        """US dollars of the session's runs, deleted and replaced ones included: the money is spent."""
        documents = self._documents.documents()
        return sum(_paid(doc) for doc in documents if _field(doc, "session_id") == session_id)

    def week_of(self, agent_id: str) -> Week:
        """The agent's runs and their cost in the last seven days, and its last run; looks at no more than those."""
        since = (now() - timedelta(days=7)).timestamp()
        runs, cost, last = 0, 0.0, 0.0
        for started, run_id in reversed(self._by_agent.get(agent_id, [])):
            if started < since and last:
                break
            document = self._documents.stored(run_id)
            if document is None or document.get("deleted"):
                continue
            last = last or started
            if started >= since:
                runs, cost = runs + 1, cost + _paid(document)
        return Week(runs, cost, datetime.fromtimestamp(last, UTC) if last else None)

    def tool_stats(self) -> Mapping[str, ToolStats]:
        """By name of each tool that was ever called in a run: how often, how often in vain, how long it took.

        Calls in deleted runs count, they happened. Takes as long as there are tools, however many runs.
        """
        return self._tool_figures.stats()

    async def warm(self) -> None:
        """Read the rows beside the event loop, so that the first look at them does not take the loop's time."""
        await self._documents.warm()
        await asyncio.to_thread(lambda: self._tool_figures)

    async def save(self, row: RunRow) -> None:
        """Insert or replace; a deleted row stays deleted."""
        figures, before = self._tool_figures, self._documents.stored(row.run_id)
        try:
            await self._documents.save(row.run_id, row)
        finally:  # what could not be written yet is known all the same
            stored = self._documents.stored(row.run_id)
            if stored is not None and stored is not before:
                figures.take(stored, before=before)
        runs, entry = self._by_agent[row.agent.id], (row.started_at.timestamp(), row.run_id)
        place = bisect_left(runs, entry)
        if runs[place : place + 1] != [entry]:
            runs.insert(place, entry)

    async def delete(self, run_ids: Iterable[str]) -> None:
        """Take the runs out of the lists; `restore` brings them back."""
        await self._documents.mark(run_ids, {"deleted": True, "deleted_at": now().timestamp()})

    async def restore(self, run_ids: Iterable[str]) -> None:
        await self._documents.mark(run_ids, {"deleted": False})

    @cached_property
    def _by_agent(self) -> defaultdict[str, list[tuple[float, str]]]:
        """By agent: when each run started and its id, oldest first; made when it is first needed."""
        found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
        for document in self._documents.documents():
            found[_agent_field(document, "id")].append((number(document.get("started")), str(document.get("id"))))
        for runs in found.values():
            runs.sort()
        return found

    @cached_property
    def _tool_figures(self) -> ToolFigures:
        """Of all stored rows, the newest first; made when it is first needed."""
        return ToolFigures(reversed(self._documents.documents()))

    def _shown(self) -> list[Document]:
        return [document for document in self._documents.documents() if not document.get("deleted")]

    def _parsed(self, document: Document) -> RunRow | None:
        """The row; `None` for one that cannot be read, which hides no other."""
        try:
            return self._documents.parsed(document)
        except StorageError as problem:
            log.warning("%s", problem)
            return None

    def _found(self, wanted: RunFilter, told: Container[str]) -> list[Document]:
        found = self._shown()
        for test in _tests(wanted, told):
            found = [document for document in found if test(document)]
        return found


def _marks(row: RunRow) -> Marks:
    return {
        "started": row.started_at.timestamp(),
        "text": f"{row.request} {row.agent.name} {row.model}".casefold(),
    }


def _field(document: Document, field: str) -> JsonValue:
    row = document.get("value")
    return row.get(field) if isinstance(row, dict) else None


def _paid(document: Document) -> float:
    """US dollars that the run has cost here: nothing, where it was imported."""
    return 0.0 if _field(document, "imported") else number(_field(document, "cost"))


def _parent(document: Document) -> str:
    """The id of the run that started this one, empty where none did."""
    parent = _field(document, "parent")
    return str(parent.get("run_id")) if isinstance(parent, dict) else ""


def _agent_field(document: Document, field: str) -> str:
    agent = _field(document, "agent")
    return str(agent.get(field)) if isinstance(agent, dict) else ""


def _tests(wanted: RunFilter, told: Container[str]) -> list[_Test]:
    """One test for each field of the filter that is set."""
    tests: list[_Test] = [
        _equals(field, value)
        for field, value in (
            ("status", wanted.status),
            ("failure", wanted.failure),
            ("model", wanted.model),
            ("session_id", wanted.session_id),
        )
        if value
    ]
    if wanted.agent:
        tests.append(lambda document: _agent_field(document, "slug") == wanted.agent)
    if wanted.variant is not None:
        tests.append(lambda document: _agent_field(document, "variant") == str(wanted.variant))
    if wanted.parent:
        tests.append(lambda document: _parent(document) == wanted.parent)
    if wanted.background is not None:
        tests.append(lambda document: bool(_field(document, "background")) == wanted.background)
    if wanted.since is not None:
        since = wanted.since.timestamp()
        tests.append(lambda document: number(document.get("started")) >= since)
    if wanted.until is not None:
        until = wanted.until.timestamp()
        tests.append(lambda document: number(document.get("started")) <= until)
    tests.extend(_range("cost", wanted.min_cost, wanted.max_cost))
    tests.extend(_range("duration_ms", wanted.min_ms, wanted.max_ms))
    if words := [term.text for term in terms(wanted.text.casefold())]:
        tests.append(_says(words, told))
    return tests


def _range(field: str, least: float | None, most: float | None) -> list[_Test]:
    """Whether the number in that field is within these; one that is not there is in no range."""
    if least is None and most is None:
        return []
    low, high = -inf if least is None else least, inf if most is None else most

    def test(document: Document) -> bool:
        value = _field(document, field)
        return isinstance(value, (int, float)) and low <= value <= high

    return [test]


def _equals(field: str, value: str) -> _Test:
    return lambda document: _field(document, field) == value


def _says(words: list[str], told: Container[str]) -> _Test:
    def test(document: Document) -> bool:
        if document.get("id") in told:
            return True
        text = str(document.get("text"))
        return all(word in text for word in words)

    return test


def _stamp(document: Document) -> str:
    return f"{_field(document, 'finished_at') or _field(document, 'status')}"


_SORT_KEYS: dict[SortKey, Callable[[Document], float]] = {
    "started_at": lambda document: number(document.get("started")),
    "duration_ms": lambda document: number(_field(document, "duration_ms")),
    "cost": lambda document: number(_field(document, "cost")),
    "total_tokens": lambda doc: number(_field(doc, "input_tokens")) + number(_field(doc, "output_tokens")),
    "model_calls": lambda document: number(_field(document, "model_calls")),
}
