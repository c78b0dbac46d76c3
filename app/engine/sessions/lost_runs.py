"""Runs that a kill kept out of the lists: they had begun on disk before their row, or their session, said so."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.domain.errors import NotFound, WorkbenchError
from app.domain.events import Entry, MessageAdded, RunStarted
from app.domain.sessions import Session
from app.domain.trace import RunRow, run_row
from app.engine.sessions.chat import Chat
from app.engine.sessions.turns import with_run

log = logging.getLogger(__name__)

MOST_LOST = 200
"""That are looked at in one start: a kill leaves no more than those that began at that moment."""


@dataclass(frozen=True)
class LostRuns:
    chat: Chat
    stored: Callable[[], Awaitable[list[str]]]
    """The runs that have a trace."""
    has_row: Callable[[str], bool]
    """Whether there is or was a row of the run."""

    async def find(self) -> None:
        """Give each of them its row again, and its place in its session where that is certain."""
        try:
            stored = await self.stored()
        except WorkbenchError as problem:
            log.warning("Runs without a row were not looked for: %s", problem)
            return
        lost = [run_id for run_id in stored if not self.has_row(run_id) and not self.chat.runs.is_taken(run_id)]
        for run_id in lost[:MOST_LOST]:
            await self._give_row(run_id)
        for row in await self.chat.runs.left():
            await self._give_place(row)

    async def _give_row(self, run_id: str) -> None:
        runs = self.chat.runs
        try:
            entries = (await runs.trace(run_id)).entries
            begun = bool(entries) and isinstance(entries[0].event, RunStarted)
            if not begun or self._is_copy(run_row(entries, alive=False)):
                return
        except WorkbenchError as problem:
            log.warning("Run %s has no row, and none can be made: %s", run_id, problem)
            return
        if self.has_row(run_id) or runs.is_taken(run_id):
            return
        await runs.interrupted_runs.store(entries)
        if (stored := runs.rows.get(run_id)) is not None and stored.status == "running":
            await runs.interrupted_runs.settled(stored)

    def _is_copy(self, row: RunRow) -> bool:
        """What is older than its session was being copied into it, by a fork or an import.

        That had not begun yet where the session does not know of it.
        """
        try:
            session = self.chat.sessions.get(row.session_id)
        except NotFound:
            return True
        return row.started_at < session.created_at and row.run_id not in session.runs

    async def _give_place(self, row: RunRow) -> None:
        """Make it a turn of its session, which was not told of it."""
        try:
            session = self.chat.sessions.get(row.session_id)
            if row.run_id in session.runs or session.deleted_at is not None or row.started_at <= session.updated_at:
                return  # it is one, or was one until it was sent again
            branches = self.chat.runs.branches(session)
            if row.follows is None or (row.follows and row.follows not in branches.follows):
                log.warning("Nobody can say which turn of its session run %s is", row.run_id)
                return
            before = branches.up_to(row.run_id)[:-1]
            entries = (await self.chat.runs.trace(row.run_id)).entries
            await self.chat.sessions.change(session.id, lambda newest: _with_turn(newest, session, before, entries))
        except WorkbenchError as problem:
            log.warning("Run %s is no turn of its session: %s", row.run_id, problem)


def _with_turn(newest: Session, seen: Session, before: tuple[str, ...], entries: list[Entry]) -> Session:
    """The session with the run as its turn behind `before`; the words that began it wait no more."""
    added = next((entry.event for entry in entries if isinstance(entry.event, MessageAdded)), None)
    if newest.runs != seen.runs or added is None:
        return newest
    words, queued = added.message.text, ""
    if added.origin == "queued":
        queued = next((waiting.id for waiting in newest.queue if waiting.text == words), "")
    typed = newest.composer.strip() == words.strip()
    return with_run(newest, before, entries[0].run_id, added.message.headline, queued, typed=typed)
