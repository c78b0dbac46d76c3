"""The rows of all runs: filtered, sorted and paged as they are stored; only the page that is shown is parsed."""

import asyncio
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property
from heapq import nlargest

from app.domain.branches import Turn
from app.domain.trace import KeyRuns, RunFilter, RunPage, RunRow, SortKey, ToolStats, Week
from app.domain.values import now
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents, Marks, number
from app.store.journal.frames import Document
from app.store.records.scores import Scores
from app.store.runs.kin import Kin
from app.store.runs.spent_since import SpentSince
from app.store.runs.stored_row import (
    SORT_KEYS,
    agent_field,
    conditions,
    is_behind,
    is_of_app,
    is_of_key,
    paid,
    row_field,
    stamp,
    to_tell,
)
from app.store.runs.tool_figures import ToolFigures
from app.store.runs.usage_figures import UsageFigures


class Rows:
    def __init__(self, database: JournalDB, scores: Scores | None = None) -> None:
        self._documents = Documents(database, "runs", RunRow, noun="run", marks=_marks)
        self._documents.made_of_clean = self._documents.leave_out_defaults = True
        self._scores = scores or Scores(database)
        self._kin = Kin(self._documents.documents)
        self.usage_figures = UsageFigures(database)
        self.spent = SpentSince(self.begun_since)

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
        matching: Container[str] = (),
    ) -> RunPage:
        """The rows that the filter lets through, sorted, `limit` of them from `offset` on.

        `matching`: runs whose trace says the filter's text; of all others it is looked for in the row itself.
        """
        found = self._found(wanted, matching)
        found.sort(key=SORT_KEYS[sort], reverse=descending)
        page = found[offset : offset + limit]
        return RunPage(list(self._documents.values(page)), len(found))

    def is_of_key(self, run_id: str, wanted: KeyRuns) -> bool:
        """Whether the run, be it deleted, is one of these."""
        document = self._documents.stored(run_id)
        return document is not None and is_of_key(document, wanted)

    def is_session_of_key(self, session_id: str, wanted: KeyRuns) -> bool:
        """Whether the session has runs, and all it ever had are of these: what was said in it is nobody else's."""
        runs = self._kin.by_session.get(session_id, ())
        return bool(runs) and all(self.is_of_key(run_id, wanted) for run_id in runs)

    def sessions_of_key(self, wanted: KeyRuns) -> set[str]:
        """The ids of all such sessions."""
        own = (document for document in self._documents.documents() if is_of_key(document, wanted))
        found = {str(row_field(document, "session_id")) for document in own}
        return {session_id for session_id in found if self.is_session_of_key(session_id, wanted)}

    def stamps(self) -> list[tuple[str, str]]:
        """The id of each run and what tells its state from any other one's, the newest run first."""
        shown = sorted(self._shown(), key=SORT_KEYS["started_at"], reverse=True)
        return [(str(document.get("id")), stamp(document)) for document in shown]

    def stamp(self, run_id: str) -> str | None:
        """What tells the run's state from any other one; `None` for a run that is not there or deleted."""
        document = self._documents.stored(run_id)
        return None if document is None or document.get("deleted") else stamp(document)

    def knows(self, run_id: str) -> bool:
        """Whether there is or was a row of that run: also of a deleted one."""
        return self._documents.stored(run_id) is not None

    def deleted(self, before: datetime) -> list[tuple[str, Turn]]:
        """The runs that were deleted before that, and of which more than what they cost is still kept.

        Each with the session it is of.
        """
        documents, moment = self._documents.documents(), before.timestamp()
        gone = [document for document in documents if document.get("deleted") and not document.get("emptied")]
        old = [document for document in gone if number(document.get("deleted_at")) < moment]
        return [(str(row_field(document, "session_id") or ""), _turn(document)) for document in old]

    async def empty(self, run_id: str) -> None:
        """Forget for good what was asked and answered in a deleted run; what it cost stays known."""
        document = self._documents.stored(run_id)
        if document is None or not document.get("deleted"):
            return
        for row in self._documents.values([document]):
            await self.save(row.model_copy(update={"request": "", "answer": ""}))
        await self._documents.mark([run_id], {"emptied": True})

    def by_age(self) -> list[tuple[str, Turn]]:
        """All runs that are not deleted, each with the session it is of, the newest first."""
        shown = sorted(self._shown(), key=SORT_KEYS["started_at"], reverse=True)
        return [(str(row_field(document, "session_id") or ""), _turn(document)) for document in shown]

    def variants(self, agent: str) -> list[int]:
        """The variants of the agent with that slug that have runs, the newest first."""
        found = {agent_field(doc, "variant") for doc in self._listed() if agent_field(doc, "slug") == agent}
        return sorted((int(variant) for variant in found if variant.isdecimal()), reverse=True)

    def agents(self) -> list[str]:
        """The slugs of the agents that have runs, sorted."""
        return sorted({agent_field(document, "slug") for document in self._listed()})

    def models(self) -> list[str]:
        """The models that runs were made with, sorted."""
        return sorted({str(row_field(document, "model")) for document in self._listed()})

    def cost_since(self, moment: datetime) -> float:
        """US dollars of the runs that started since then, deleted ones included: the money is spent."""
        return self.spent.dollars(moment)

    def dearest(self, since: datetime, until: datetime, *, limit: int) -> list[RunRow]:
        """The runs of that time that cost most here, the dearest first; looks at no others."""
        found = (one for one in self.begun_since(since) if number(one.get("started")) < until.timestamp())
        shown = (one for one in found if paid(one) and not one.get("deleted"))
        return list(self._documents.values(nlargest(limit, shown, key=paid)))

    def cost_of_session(self, session_id: str) -> float:
        """US dollars of the session's runs, deleted and replaced ones included: the money is spent."""
        documents = map(self._documents.stored, self._kin.by_session.get(session_id, ()))
        return sum(paid(document) for document in documents if document is not None)

    def below(self, run_id: str) -> list[RunRow]:
        """The runs that it started, the oldest first, each before those that it started; deleted ones left out."""
        found: list[RunRow] = []
        for document in self._below(run_id, {run_id}):
            if not document.get("deleted"):
                found.extend(self._documents.values([document]))
        return found

    def cost_below(self, run_id: str) -> float:
        """US dollars of the runs below it, deleted ones included: the money is spent."""
        return sum(map(paid, self._below(run_id, {run_id}))) if run_id in self._kin.by_parent else 0.0

    def _below(self, run_id: str, met: set[str]) -> Iterator[Document]:
        """`met`: the runs that are not told again, should one say that it is its own ancestor."""
        found = filter(None, map(self._documents.stored, self._kin.by_parent.get(run_id, ())))
        for document in sorted(found, key=SORT_KEYS["started_at"]):
            if (child := str(document.get("id"))) not in met:
                met.add(child)
                yield document
                yield from self._below(child, met)

    def turns(self, session_id: str) -> list[Turn]:
        """The runs that were ever started in the session, deleted ones included, in no order."""
        documents = map(self._documents.stored, self._kin.by_session.get(session_id, ()))
        return [_turn(document) for document in documents if document is not None]

    def by_session(self, run_ids: Iterable[str]) -> dict[str, list[Turn]]:
        """Those of the runs that are not deleted, by their session, the newest first."""
        found: defaultdict[str, list[Turn]] = defaultdict(list)
        for document in map(self._documents.stored, run_ids):
            if document is not None and not document.get("deleted"):
                found[str(row_field(document, "session_id"))].append(_turn(document))
        return {session_id: sorted(turns, key=lambda turn: -turn.started) for session_id, turns in found.items()}

    def week_of(self, agent_id: str) -> Week:
        """The agent's runs and their cost in the last seven days, and its last run; looks at no more than those.

        Without experiments, those in which somebody tried what is no variant, and calls of apps.
        """
        since = (now() - timedelta(days=7)).timestamp()
        runs, cost, last = 0, 0.0, 0.0
        for started, run_id in reversed(self._kin.by_agent.get(agent_id, [])):
            if started < since and last:
                break
            document = self._documents.stored(run_id)
            if document is None or document.get("deleted") or is_behind(document):
                continue
            if is_of_app(document):
                continue
            last = last or started
            if started >= since:
                runs, cost = runs + 1, cost + paid(document)
        return Week(runs, cost, datetime.fromtimestamp(last, UTC) if last else None)

    def begun_since(self, moment: datetime) -> list[Document]:
        """The rows of runs that began since then, as they are stored, deleted ones included; looks at no others."""
        recent = [runs[bisect_left(runs, (moment.timestamp(), "")) :] for runs in list(self._kin.by_agent.values())]
        known = dict.fromkeys(run_id for runs in recent for _, run_id in runs)  # one that began anew is there twice
        found = map(self._documents.stored, known)
        return [document for document in found if document is not None]

    def first_begun(self) -> datetime | None:
        """When the first run of all began."""
        first = min((runs[0][0] for runs in list(self._kin.by_agent.values()) if runs), default=None)
        return None if first is None else datetime.fromtimestamp(first, UTC)

    def tool_stats(self) -> Mapping[str, ToolStats]:
        """By name of each tool that was ever called in a run: how often, how often in vain, how long it took.

        Calls in deleted runs count, they happened. Takes as long as there are tools, however many runs.
        """
        return self._tool_figures.stats()

    async def warm(self) -> None:
        """Read the rows off the event loop, so that the first look at them does not take the loop's time."""
        await self._documents.warm()
        await self.usage_figures.warm()
        await asyncio.to_thread(lambda: self._tool_figures)

    async def settle_usage(self, *, anew: bool = False) -> None:
        """Return when the daily figures are right: after a start they are compared with all rows, or made `anew`."""
        if anew or not self.usage_figures.settled:
            await self._documents.warm()
            await self.usage_figures.settle(self._documents.documents, anew=anew)

    async def to_tell(self, *, all_runs: bool) -> list[str]:
        """The runs, the newest first; without `all_runs` those whose row, of an earlier version, lacks tallies."""
        await self._documents.warm()
        return await asyncio.to_thread(to_tell, self._documents.documents(), all_runs=all_runs)

    async def save(self, row: RunRow) -> None:
        """Insert or replace; a deleted row stays deleted, one of another app stays one."""
        figures, before = self._tool_figures, self._documents.stored(row.run_id)
        if before is not None and row_field(before, "imported"):
            row = row.model_copy(update={"imported": True})
        try:
            await self._documents.save(row.run_id, row)
        finally:  # what could not be written yet is known all the same
            stored = self._documents.stored(row.run_id)
            if stored is not None and stored is not before:
                figures.take(stored, before=before)
                self.usage_figures.take(stored, before=before)
                self.spent.take(stored, before)
        self._kin.add(row)

    async def delete(self, run_ids: Iterable[str]) -> None:
        """Take the runs out of the lists; `restore` brings them back."""
        await self._documents.mark(run_ids, {"deleted": True, "deleted_at": now().timestamp()})

    async def restore(self, run_ids: Iterable[str]) -> None:
        await self._documents.mark(run_ids, {"deleted": False})

    @cached_property
    def _tool_figures(self) -> ToolFigures:
        """Of all stored rows, the newest first; made when it is first needed."""
        return ToolFigures(reversed(self._documents.documents()))

    def _shown(self) -> list[Document]:
        return [document for document in self._documents.documents() if not document.get("deleted")]

    def _listed(self) -> list[Document]:
        """Those that lists show without being asked for more."""
        return [document for document in self._shown() if not is_behind(document)]

    def _found(self, wanted: RunFilter, matching: Container[str]) -> list[Document]:
        found = self._shown()
        if (scored := self._scores.runs_with(wanted)) is not None:
            found = [document for document in found if document.get("id") in scored]
        for holds in conditions(wanted, matching):
            found = [document for document in found if holds(document)]
        return found


def _turn(document: Document) -> Turn:
    follows = row_field(document, "follows")
    return Turn(
        str(document.get("id")),
        None if follows is None else str(follows),
        number(document.get("started")),
        deleted=bool(document.get("deleted")),
    )


def _marks(row: RunRow) -> Marks:
    return {
        "started": row.started_at.timestamp(),
        "text": f"{row.request} {row.agent.name} {row.model}".casefold(),
    }
