"""Old runs are deleted when their owner wants that: whole sessions at a time, never a part of a conversation."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.domain.branches import is_turn
from app.domain.errors import WorkbenchError
from app.domain.sessions import Session
from app.domain.values import now
from app.store.records.scores import Scores
from app.store.records.sessions import Sessions
from app.store.runs.rows import Rows
from app.store.runs.search import Search
from app.store.runs.traces import Traces

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Expired:
    """What would be deleted."""

    runs: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()


class Retention:
    def __init__(
        self,
        rows: Rows,
        sessions: Sessions,
        going_on: Callable[[], Collection[str]],
        is_needed: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`going_on` gives the runs that may not be deleted, as somebody works with them.

        `is_needed` says of an experiment whether it is still there: what ran for it stays as long, and counts for none.
        """
        self._rows = rows
        self._sessions = sessions
        self._going_on = going_on
        self._is_needed = is_needed

    def expired(self, *, days: int, runs: int) -> Expired:
        """What is older than so many days, or comes before the newest so many runs; 0 asks for neither.

        A session stays as long as one of its runs does, and when it is pinned or something waits in it. Days are
        counted back from the newest run where the clock says a later time: one that is wrong deletes nothing.
        """
        by_age = self._rows.by_age() if days or runs else []
        turned = {one.id: one for one in self._turned(session_id for session_id, _ in by_age)}
        needed = {one.id for one in turned.values() if one.behind and self._is_needed(one.behind)}
        by_age = [(session_id, turn) for session_id, turn in by_age if session_id not in needed]
        if not by_age:
            return Expired()
        newest = datetime.fromtimestamp(by_age[0][1].started, UTC)
        oldest = (min(now(), newest) - timedelta(days=days)).timestamp()
        kept = {
            turn.run_id
            for place, (_, turn) in enumerate(by_age)
            if not ((days and turn.started < oldest) or (runs and place >= runs))
        } | set(self._going_on())
        turned = {one: session for one, session in turned.items() if one not in needed}
        turns = {one: {*session.runs, *session.trunk} for one, session in turned.items()}
        for session_id, turn in by_age:
            if session_id in turned and is_turn(turned[session_id], turn):
                turns[session_id].add(turn.run_id)
        sessions = [one for one in turned.values() if _may_go(one) and not kept.intersection(turns[one.id])]
        ends_with_session = {run_id for session in sessions for run_id in turns[session.id]}
        gone = [
            turn.run_id
            for session_id, turn in by_age
            if turn.run_id not in kept and not self._sessions.holds(session_id, turn)
        ]
        old = [turn.run_id for _, turn in by_age if turn.run_id in ends_with_session]
        return Expired(tuple(dict.fromkeys([*old, *gone])), tuple(session.id for session in sessions))

    async def looked_through(self, *, days: int, runs: int) -> Expired:
        """The same off the event loop, as there may be tens of thousands."""
        await self._rows.warm()
        return await asyncio.to_thread(self.expired, days=days, runs=runs)

    async def remove(self, expired: Expired) -> None:
        """Delete them as a person would: they are gone for good only after the next start. Raises `StorageError`.

        What somebody went on with since they were looked for stays.
        """
        gone, kept = set(expired.runs), set(self._going_on())
        for session_id in expired.sessions:
            runs = {turn.run_id for turn in self._rows.turns(session_id)}
            if self._is_used(session_id, runs, gone):
                kept |= runs
            else:
                await self._sessions.delete(session_id)
        if left := [run_id for run_id in expired.runs if run_id not in kept]:
            await self._rows.delete(left)

    def _is_used(self, session_id: str, runs: set[str], gone: set[str]) -> bool:
        """Whether it is pinned, written in or gone on with by now."""
        try:
            session = self._sessions.get(session_id)
        except WorkbenchError:
            return False
        new = self._rows.by_session({*session.runs, *session.trunk} - gone)
        return not _may_go(session) or bool(new) or not runs.isdisjoint(self._going_on())

    def _turned(self, session_ids: Iterable[str]) -> list[Session]:
        """The sessions that are there, not deleted, and can be read."""
        found = []
        for session_id in dict.fromkeys(session_ids):
            with suppress(WorkbenchError):
                found.append(self._sessions.get(session_id))
        return [session for session in found if session.deleted_at is None]


class RemovedRuns:
    """Deleted runs, whose traces are removed for good once nothing needs them any more."""

    def __init__(self, rows: Rows, sessions: Sessions, traces: Traces, search: Search, scores: Scores) -> None:
        self._rows = rows
        self._scores = scores
        self._sessions = sessions
        self._traces = traces
        self._search = search
        self._opened_at = now()

    async def remove(self) -> list[str]:
        """Remove the traces of runs that were deleted before this start of the app; which ones these were.

        What is deleted now can be brought back from its page. A run that is a turn of a session stays until its
        session is deleted too. What the runs of a session shared goes with the last of them; what was kept for one that
        never began, where no run on disk could be that one.
        """
        deleted = self._rows.deleted(self._opened_at)
        gone = [turn.run_id for session_id, turn in deleted if not self._sessions.holds(session_id, turn)]
        removed = [run_id for run_id in gone if await self._removed(run_id)]
        if removed:
            await self._search.forget(removed)
        try:
            lost = not all(map(self._rows.knows, await self._traces.ids()))

            def is_over(session_id: str) -> bool:
                left = not self._rows.is_emptied(session_id) and (lost or self._rows.turns(session_id))
                return not left and self._sessions.is_gone(session_id)

            await self._traces.forget_sessions(is_over)
        except WorkbenchError as problem:
            log.warning("What was said in deleted sessions is still on disk: %s", problem)
        return removed

    async def _removed(self, run_id: str) -> bool:
        try:
            await self._traces.delete(run_id)
            await self._scores.forget([run_id])
            await self._rows.empty(run_id)
        except WorkbenchError as problem:
            log.warning("The deleted run %s is still on disk: %s", run_id, problem)
            return False
        return True


def _may_go(session: Session) -> bool:
    return not (session.pinned or session.queue or session.composer.strip() or session.comparison)
