"""What waits for a person: pauses with all that is asked, runs that were left, jobs that failed lately."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from app.domain.errors import WorkbenchError
from app.domain.events import Entry, PauseRequested, RunStarted
from app.domain.provenance import BEHIND, AgentRef
from app.domain.tools import ToolSpec
from app.domain.trace import RunFilter, RunRow, open_pauses
from app.domain.values import now
from app.engine.sessions.jobs import Jobs
from app.engine.sessions.pauses import Pauses

FAILED_DAYS = 7
"""Jobs that failed longer ago wait for nobody."""
MOST_FAILED = 50


@dataclass(frozen=True)
class OpenPause:
    """A pause of a run, with what its card shows."""

    run_id: str
    session_id: str
    agent: AgentRef
    pause: PauseRequested
    spec: ToolSpec | None
    """The tool that is to be called, where it is one of the agent's."""
    alive: bool
    """Whether this process works on the run."""


@dataclass
class Attending:
    jobs: Jobs
    deciding: Pauses
    _left: dict[str, list[OpenPause]] = field(default_factory=dict)
    """By run that an earlier process left: nothing changes its trace but that it is gone on with."""
    _failed_before: list[RunRow] | None = None

    def __post_init__(self) -> None:
        self._runs = self.jobs.chat.runs
        self._sessions = self.jobs.chat.sessions

    async def pauses(self) -> list[OpenPause]:
        """The pauses that wait for a decision: of runs that go on here, then of those that were left."""
        found: list[OpenPause] = []
        for live in self._runs.live_runs():
            if live.control.waits:
                shown = _open(live.run_id, live.entries, alive=True)
                found += (one for one in shown if live.control.expects(one.pause.pause_id))
        left = {row.run_id for row in await self._runs.left() if row.status == "paused" and self.deciding.is_last(row)}
        self._left = {run_id: pauses for run_id, pauses in self._left.items() if run_id in left}
        for run_id in left - self._left.keys():
            try:
                entries = (await self._runs.trace(run_id)).entries
            except WorkbenchError:  # its page says what is wrong with it
                entries = []
            self._left[run_id] = await asyncio.to_thread(_open, run_id, entries, alive=False)
        return [*found, *(pause for pauses in self._left.values() for pause in pauses)]

    async def interrupted(self) -> list[RunRow]:
        """Runs that an earlier process left in the middle, as the last of their branch; the newest first."""
        left = [row for row in await self._runs.left() if row.status == "interrupted" and row.purpose not in BEHIND]
        found = [row for row in left if row.parent is None and self.deciding.is_last(row)]
        return sorted(found, key=lambda row: row.started_at, reverse=True)

    async def failed(self) -> list[RunRow]:
        """Jobs of the last days that failed or met a limit, and after which their session did not go on.

        Rows of earlier processes are looked for once, off the event loop. The newest first.
        """
        if self._failed_before is None:
            self._failed_before = await asyncio.to_thread(self._failed_so_far)
        known = {row.run_id: row for row in (*self._failed_before, *self.jobs.ended) if _failed(row)}
        found = [row for row in known.values() if self._stands_there(row)]
        return sorted(found, key=lambda row: row.started_at, reverse=True)

    def _failed_so_far(self) -> list[RunRow]:
        since = now() - timedelta(days=FAILED_DAYS)
        wanted = [RunFilter(background=True, status=status, since=since) for status in ("failed", "limited")]
        return [row for one in wanted for row in self._runs.rows.find(one, limit=MOST_FAILED).rows]

    def _stands_there(self, row: RunRow) -> bool:
        """Whether it is there, and the session stands on it."""
        if row.parent is not None or self._runs.rows.get(row.run_id) is None:
            return False
        try:
            session = self._sessions.get(row.session_id)
        except WorkbenchError:
            return False
        return session.deleted_at is None and session.runs[-1:] == (row.run_id,)


def _failed(row: RunRow) -> bool:
    return row.status in ("failed", "limited") and row.started_at > now() - timedelta(days=FAILED_DAYS)


def _open(run_id: str, entries: list[Entry], *, alive: bool) -> list[OpenPause]:
    if not entries or not isinstance(started := entries[0].event, RunStarted):
        return []
    specs = {tool.spec.name: tool.spec for tool in started.tools}
    return [
        OpenPause(run_id, started.session_id, started.agent, pause, specs.get(pause.name), alive=alive)
        for pause in open_pauses(entries)
    ]
