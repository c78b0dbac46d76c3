"""Taking in a run of another copy of the app, or program: as a run of its own, which has ended and says its origin."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO

from app.domain.agents import Agent
from app.domain.caution import narrowed, tool_from_elsewhere
from app.domain.errors import ErrorInfo, NotFound, StorageError, WorkbenchError
from app.domain.evals.scores import Score
from app.domain.events import ChildFinished, ChildStarted, Entry, Forked, RunFinished, RunStarted
from app.domain.garbage import no_collection
from app.domain.provenance import AgentRef, Imported, Trigger
from app.domain.sessions import Session, title_of
from app.domain.trace import RunRow, finished, run_row
from app.domain.values import new_id, now
from app.export.bundle import Bundle, read_bundle
from app.export.ports import AgentStore, ArtifactStore, RowStore, ScoreStore, SessionStore, TraceStore, TraceWriter
from app.export.received import received
from app.export.words import file_stem, one_line

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?")
NOT_ENDED = "The run had not ended when it was exported. It does not go on here; a fork of it can."


class Importing:
    def __init__(
        self,
        traces: TraceStore,
        rows: RowStore,
        sessions: SessionStore,
        artifacts: ArtifactStore,
        agents: AgentStore,
        *,
        taken_in: Callable[[], None],
        scores: ScoreStore | None = None,
    ) -> None:
        """`taken_in` is called after each run that came in."""
        self._traces = traces
        self._rows = rows
        self._sessions = sessions
        self._artifacts = artifacts
        self._agents = agents
        self._taken_in = taken_in
        self._scores = scores
        self._one_at_a_time = asyncio.Lock()
        self.on_take_over: list[Callable[[str, Sequence[Entry]], None]] = []
        """Told of each run that was made for this app elsewhere, and its entries."""

    async def take_in(self, source: bytes | IO[bytes]) -> str:
        """The id that the run of a bundle, or a trajectory, has here: its own, or a new one where that is taken.

        Raises `WorkbenchError` in words; then nothing was taken in but artifacts that nobody refers to.
        """
        found = await asyncio.to_thread(received, source)
        for wrong in _wrong_ids(found.entries):
            raise WorkbenchError(f"This file names a run {wrong[:80]!r}, which no app would. Nothing was taken in.")
        for artifact in found.artifacts.values():
            await self._artifacts.put(artifact)
        async with self._one_at_a_time:  # two of the same would both find their id free
            run_id = await self._free_id(found.entries[0].run_id)
            session_id = new_id()
            with no_collection(len(found.entries)):
                entries = await asyncio.to_thread(_as_own, found, run_id, session_id)
                await self._store(entries)
                await self._take_scores(found.scores, run_id)
        self._taken_in()
        return run_id

    async def take_over(
        self, source: bytes, run_id: str, begun_as: Callable[[RunStarted], RunStarted]
    ) -> tuple[Entry, ...]:
        """The run of a bundle that another machine made for this app, stored under that id, in a session that is there.

        It is no imported run: it cost what it says, today. It grants nothing, and has ended. Raises `WorkbenchError`.
        """
        found = await asyncio.to_thread(read_bundle, source)
        for wrong in _wrong_ids(found.entries):
            raise WorkbenchError(f"This run names a run {wrong[:80]!r}, which no app would. It was not taken in.")
        for artifact in found.artifacts.values():
            await self._artifacts.put(artifact)
        entries = await asyncio.to_thread(_as_own, found, run_id, "")
        first = entries[0].event
        if not isinstance(first, RunStarted):
            raise TypeError("A run begins with RunStarted")
        started = begun_as(first.model_copy(update={"imported": None}))
        entries[0] = entries[0].model_copy(update={"event": started})
        await (await self._written(run_id, entries, started)).close()
        await self._rows.save(await asyncio.to_thread(run_row, entries, alive=False))
        self._taken_in()
        for tell in self.on_take_over:
            tell(run_id, entries)
        return tuple(entries)

    async def _take_scores(self, scores: Sequence[Score], run_id: str) -> None:
        if self._scores is not None:
            for score in scores:
                await self._scores.save(score.model_copy(update={"id": new_id(), "run_id": run_id}))

    async def _store(self, entries: Sequence[Entry]) -> None:
        first = entries[0].event
        if not isinstance(first, RunStarted):
            raise TypeError("A run begins with RunStarted")
        row = await asyncio.to_thread(run_row, entries, alive=False)
        session = self._session(row, first)
        writer = await self._written(row.run_id, entries, first)
        try:
            await self._sessions.create(session)  # of what could not be stored nobody is told
            await self._rows.save(row)
        except StorageError:
            with suppress(StorageError):  # where the session stays, so does its run: the next start lists it
                await self._sessions.remove(session.id)
                await writer.abandon()
            raise
        finally:
            await writer.close()

    async def _written(self, run_id: str, entries: Sequence[Entry], started: RunStarted) -> TraceWriter:
        """The trace, all of which is on disk; nothing is left of one that is not."""
        writer = await self._traces.create(run_id, started.session_id)
        try:
            await writer.prepare(started)
            for entry in entries:
                writer.append(entry)
                await asyncio.sleep(0)
            await writer.flush()
        except BaseException:
            await writer.abandon()
            raise
        return writer

    async def _free_id(self, run_id: str) -> str:
        """Its own where there is no such run, and never was one whose trace is still here."""
        try:
            await self._traces.read(run_id)
        except NotFound:
            return new_id() if self._rows.get(run_id) else run_id
        except StorageError:
            return new_id()
        return new_id()

    def _session(self, row: RunRow, started: RunStarted) -> Session:
        """Where it stands here; where its agent is not here either, it is found by its run alone."""
        agent = self._agent(started.agent)
        moment = now()
        return Session(
            id=row.session_id,
            agent_id=agent.id if agent else started.agent.id,
            agent_slug=agent.slug if agent else started.agent.slug,
            variant=agent.active if agent else started.agent.variant,
            title=title_of(f"Imported: {one_line(row.request)}"),
            runs=(row.run_id,),
            created_at=moment,
            updated_at=moment,
            deleted_at=None if agent else moment,
        )

    def _agent(self, ref: AgentRef) -> Agent | None:
        agents = self._agents.all()
        by_id = next((agent for agent in agents if agent.id == ref.id), None)
        return by_id or next((agent for agent in agents if agent.slug == ref.slug), None)


def _as_own(found: Bundle, run_id: str, session_id: str) -> list[Entry]:
    """The entries as those of a run of this app that has ended and decides nothing: neither does it go on by itself."""
    own = [entry.model_copy(update={"run_id": run_id}) for entry in found.entries]
    own[0] = own[0].model_copy(update={"event": _started(found, session_id)})
    if finished(own) is None:
        error = ErrorInfo(failure="cancelled", text=NOT_ENDED)
        end = RunFinished(status="cancelled", error=error)
        own.append(Entry(run_id=run_id, seq=len(own), at=own[-1].at, event=end))
    return own


def _started(found: Bundle, session_id: str) -> RunStarted:
    first = found.entries[0]
    started = first.event
    if not isinstance(started, RunStarted):
        raise TypeError("A run begins with RunStarted")
    name = one_line(started.agent.name) or "Agent"
    slug = started.agent.slug if _SLUG.fullmatch(started.agent.slug) else file_stem(name, "agent")
    agent_id = started.agent.id if _ID.fullmatch(started.agent.id) else new_id()
    changes = {
        "session_id": session_id,
        "agent": started.agent.model_copy(update={"id": agent_id, "slug": slug, "name": name}),
        "imported": Imported(run_id=first.run_id, app=found.app, at=now(), notes=found.notes),
        "parent": None,
        "background": False,
        "trigger": Trigger(kind=started.trigger.kind),  # else it would be one of a key's own runs
        "tools": tuple(map(tool_from_elsewhere, started.tools)),
        "limits": narrowed(started.limits),
        "unpriced_agreed": False,
    }
    return started.model_copy(update=changes)


def _wrong_ids(entries: Sequence[Entry]) -> Iterator[str]:
    """Ids of runs that lead elsewhere than to a run."""
    named = [entries[0].run_id]
    for entry in entries:
        match entry.event:
            case ChildStarted(child_run_id=run_id, of_run=other):
                named += [run_id, other or run_id]
            case ChildFinished(child_run_id=run_id) | Forked(run_id=run_id):
                named.append(run_id)
            case _:
                pass
    return (run_id for run_id in named if not _ID.fullmatch(run_id))
