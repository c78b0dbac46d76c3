"""Old runs are deleted when their owner wants that: whole sessions at a time, never a part of a conversation."""

import asyncio
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from app.domain.errors import WorkbenchError
from app.domain.sessions import Session
from app.domain.values import now
from app.store.records.sessions import Sessions
from app.store.runs.rows import Rows


@dataclass(frozen=True, slots=True)
class Expired:
    """What would be deleted."""

    runs: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()


class Retention:
    def __init__(self, rows: Rows, sessions: Sessions, going_on: Callable[[], Collection[str]]) -> None:
        """`going_on` gives the runs that may not be deleted, as somebody works with them."""
        self._rows = rows
        self._sessions = sessions
        self._going_on = going_on

    def expired(self, *, days: int, runs: int) -> Expired:
        """What is older than so many days, or comes before the newest so many runs; 0 asks for neither.

        A session stays as long as one of its runs does, and when it is pinned or something waits in it. Days are
        counted back from the newest run where the clock says a later time: one that is wrong deletes nothing.
        """
        by_age = self._rows.by_age()
        if not by_age or not (days or runs):
            return Expired()
        oldest = min(now(), by_age[0].started_at) - timedelta(days=days)
        kept = {
            run.run_id
            for place, run in enumerate(by_age)
            if not ((days and run.started_at < oldest) or (runs and place >= runs))
        } | set(self._going_on())
        sessions = [one for one in self._turned(run.session_id for run in by_age) if _may_go(one, kept)]
        ends_with_session = {run for session in sessions for run in session.runs}
        gone = [
            run.run_id
            for run in by_age
            if run.run_id not in kept and not self._sessions.holds(run.session_id, run.run_id)
        ]
        old = [run.run_id for run in by_age if run.run_id in ends_with_session]
        return Expired(tuple(dict.fromkeys([*old, *gone])), tuple(session.id for session in sessions))

    async def looked_through(self, *, days: int, runs: int) -> Expired:
        """The same off the event loop, as there may be tens of thousands."""
        await self._rows.warm()
        return await asyncio.to_thread(self.expired, days=days, runs=runs)

    async def remove(self, expired: Expired) -> None:
        """Delete them as a person would: they are gone for good only after the next start. Raises `StorageError`."""
        for session_id in expired.sessions:
            await self._sessions.delete(session_id)
        if expired.runs:
            await self._rows.delete(expired.runs)

    def _turned(self, session_ids: Iterable[str]) -> list[Session]:
        """The sessions that are there, not deleted, and can be read."""
        found = []
        for session_id in dict.fromkeys(session_ids):
            with suppress(WorkbenchError):
                found.append(self._sessions.get(session_id))
        return [session for session in found if session.deleted_at is None]


def _may_go(session: Session, kept: set[str]) -> bool:
    waits = session.pinned or session.queue or session.composer.strip() or session.comparison
    return not waits and not kept.intersection(session.runs)
