"""Which runs belong to an agent, a session or the run that started them, without a look at all rows for each."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from functools import cached_property

from app.domain.trace import RunRow
from app.store.journal.documents import number
from app.store.journal.frames import Document
from app.store.runs.stored_row import agent_field, parent_of, row_field


class Kin:
    """Each of these is made when it is first asked for."""

    def __init__(self, documents: Callable[[], list[Document]]) -> None:
        self._documents = documents

    @cached_property
    def by_agent(self) -> defaultdict[str, list[tuple[float, str]]]:
        """By agent: when each run started and its id, oldest first."""
        found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
        for document in self._documents():
            found[agent_field(document, "id")].append((number(document.get("started")), str(document.get("id"))))
        for runs in found.values():
            runs.sort()
        return found

    @cached_property
    def by_session(self) -> defaultdict[str, set[str]]:
        """By session: its runs, also those that left it."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for document in self._documents():
            found[str(row_field(document, "session_id"))].add(str(document.get("id")))
        return found

    @cached_property
    def by_parent(self) -> defaultdict[str, set[str]]:
        """By run: those that it started."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for document in self._documents():
            if parent := parent_of(document):
                found[parent].add(str(document.get("id")))
        return found

    def add(self, row: RunRow) -> None:
        """Know the run, be it for the second time."""
        self.by_session[row.session_id].add(row.run_id)
        if row.parent is not None:
            self.by_parent[row.parent.run_id].add(row.run_id)
        runs, entry = self.by_agent[row.agent.id], (row.started_at.timestamp(), row.run_id)
        place = bisect_left(runs, entry)
        if runs[place : place + 1] != [entry]:
            runs.insert(place, entry)
