"""The rows of all runs: filtered, sorted and paged as they are stored; only the page that is shown is parsed."""

import asyncio
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property

from pydantic import JsonValue

from app.domain.trace import RunFilter, RunPage, RunRow, SortKey, ToolStats, Week
from app.domain.values import now
from app.store.database import JournalDB
from app.store.documents import Documents, Marks, number
from app.store.frames import Document
from app.store.tool_figures import ToolFigures

_Test = Callable[[Document], bool]


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
    ) -> RunPage:
        """The rows that the filter lets through, sorted, `limit` of them from `offset` on."""
        found = self._found(wanted)
        found.sort(key=_SORT_KEYS[sort], reverse=descending)
        page = found[offset : offset + limit]
        return RunPage([self._documents.parsed(document) for document in page], len(found))

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
        return sum(number(_field(doc, "cost")) for doc in documents if number(doc.get("started")) >= start)

    def cost_of_session(self, session_id: str) -> float:
        """US dollars of the session's runs, deleted and replaced ones included: the money is spent."""
        documents = self._documents.documents()
        return sum(number(_field(doc, "cost")) for doc in documents if _field(doc, "session_id") == session_id)

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
                runs, cost = runs + 1, cost + number(_field(document, "cost"))
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
        await self._documents.mark(run_ids, {"deleted": True})

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

    def _found(self, wanted: RunFilter) -> list[Document]:
        found = self._shown()
        for test in _tests(wanted):
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


def _agent_field(document: Document, field: str) -> str:
    agent = _field(document, "agent")
    return str(agent.get(field)) if isinstance(agent, dict) else ""


def _tests(wanted: RunFilter) -> list[_Test]:
    """One test for each field of the filter that is set."""
    tests: list[_Test] = [
        _equals(field, value)
        for field, value in (("status", wanted.status), ("model", wanted.model), ("session_id", wanted.session_id))
        if value
    ]
    if wanted.agent:
        tests.append(lambda document: _agent_field(document, "slug") == wanted.agent)
    if wanted.variant is not None:
        tests.append(lambda document: _agent_field(document, "variant") == str(wanted.variant))
    if wanted.background is not None:
        tests.append(lambda document: bool(_field(document, "background")) == wanted.background)
    if wanted.since is not None:
        since = wanted.since.timestamp()
        tests.append(lambda document: number(document.get("started")) >= since)
    if wanted.until is not None:
        until = wanted.until.timestamp()
        tests.append(lambda document: number(document.get("started")) <= until)
    tests.extend(_says(word) for word in wanted.text.casefold().split())
    return tests


def _equals(field: str, value: str) -> _Test:
    return lambda document: _field(document, field) == value


def _says(word: str) -> _Test:
    return lambda document: word in str(document.get("text"))


_SORT_KEYS: dict[SortKey, Callable[[Document], float]] = {
    "started_at": lambda document: number(document.get("started")),
    "duration_ms": lambda document: number(_field(document, "duration_ms")),
    "cost": lambda document: number(_field(document, "cost")),
    "total_tokens": lambda doc: number(_field(doc, "input_tokens")) + number(_field(doc, "output_tokens")),
    "model_calls": lambda document: number(_field(document, "model_calls")),
}
