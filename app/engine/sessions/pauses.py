"""What people decide on runs that wait for them, whether these go on in this process or were left by an earlier one."""

import contextlib
import logging
from dataclasses import dataclass

from pydantic import JsonValue

from app.domain.errors import Conflict, WorkbenchError
from app.domain.events import Decision, PauseRequested, PauseResolved
from app.domain.sessions import Session
from app.domain.trace import RunRow, open_pauses
from app.engine.run.deciding import decision_for, open_pause
from app.engine.run.run import Run
from app.engine.sessions.chat import Chat

log = logging.getLogger(__name__)


@dataclass
class Pauses:
    chat: Chat

    def __post_init__(self) -> None:
        self._runs = self.chat.runs
        self._sessions = self.chat.sessions

    async def decide(
        self,
        run_id: str,
        asked: str,
        decision: Decision,
        *,
        arguments: dict[str, JsonValue] | None = None,
        note: str = "",
        by: str = "user",
        subject: str = "",
    ) -> Run:
        """Decide on an open pause, by its id or that of its call; a run that was left at it goes on by that.

        `subject` is that of the pause as the person saw it. Raises `NotFound`; `Conflict` when it waits no more, or the
        decision is on something else than was asked; `WorkbenchError` for a decision that is no answer to it.
        """
        live = self._runs.live(run_id)
        entries = live.entries if live is not None else (await self._runs.trace(run_id)).entries
        pause = open_pause(entries, asked)
        resolved = decision_for(pause, decision, arguments=arguments, note=note, by=by, subject=subject)
        return await self._runs.unbroken(self._decided(run_id, live, pause, resolved))

    async def signed_in(self, server: str) -> None:
        """Let every run go on that waits for a sign-in at that MCP server, those that were left too."""
        left = [row.run_id for row in await self._runs.left() if row.status == "paused"]
        for run_id in (*(live.run_id for live in self._runs.live_runs()), *left):
            try:
                entries = (await self._runs.trace(run_id)).entries
                for pause in open_pauses(entries):
                    if pause.reason == "oauth" and pause.arguments.get("server") == server:
                        await self._signed_in(run_id, pause)
            except WorkbenchError as problem:  # one that cannot go on holds up no other
                log.info("Run %s does not go on by itself after the sign-in: %s", run_id, problem)

    async def _signed_in(self, run_id: str, pause: PauseRequested) -> None:
        resolved, live = decision_for(pause, "answer", by="app"), self._runs.live(run_id)
        if live is None:
            await self._runs.unbroken(self._decided(run_id, None, pause, resolved))
        else:
            with contextlib.suppress(Conflict):  # it was told already
                _tell(live, resolved)

    async def _decided(self, run_id: str, live: Run | None, pause: PauseRequested, resolved: PauseResolved) -> Run:
        """What was decided holds, in the run and in its session."""
        if live is None:
            live = await self.chat.resume(run_id, decided=resolved, by=resolved.by)
            if pause.reason == "approval" and (changed := live.tools_since.about(pause.name)):
                raise Conflict(f"{changed} The run goes on without your decision, and asks again where it has to.")
        else:
            _tell(live, resolved)
        if resolved.decision == "always":
            await self._allow(live, pause)
        return live

    async def stop(self, run_id: str) -> None:
        """End a run that goes on, or give up one that was left. Raises what `Runs.end` does."""
        if (live := self._runs.live(run_id)) is not None:
            live.stop()
        else:
            await self._runs.end(run_id)

    async def ask_again(self, session_id: str, name: str) -> None:
        """Take back that the session calls the tool without asking; the run in which that was said asks again too."""

        def changed(session: Session) -> Session:
            left = tuple(allowed for allowed in session.tools_allowed if allowed != name)
            return session.model_copy(update={"tools_allowed": left})

        await self._sessions.change(session_id, changed)
        if (live := self._runs.of_session(session_id)) is not None:
            live.allowed.discard(name)

    async def waiting(self) -> frozenset[str]:
        """For each run that waits for a person what it waits with: another pause is another one.

        Those that go on, and those that were left as the last of their branch.
        """
        awaited = [live.control.awaited for live in self._runs.live_runs()]
        left = [row for row in await self._runs.left() if row.status == "paused"]
        return frozenset([*filter(None, awaited), *(row.run_id for row in left if self.is_last(row))])

    async def _allow(self, live: Run, pause: PauseRequested) -> None:
        """From now on the tool is called without asking, in the session and where the run waits for it already."""
        for other in open_pauses(live.entries):
            same = other.reason == "approval" and other.name == pause.name and not other.begun
            if same and other.pause_id != pause.pause_id and live.control.expects(other.pause_id):
                live.control.resolve(decision_for(other, "always"))

        def allow(session: Session) -> Session:
            names = dict.fromkeys((*session.tools_allowed, pause.name))
            return session.model_copy(update={"tools_allowed": tuple(names)})

        await self._sessions.change(live.started.session_id, allow)

    def is_last(self, row: RunRow) -> bool:
        """Whether nothing follows the run in its session, which is there."""
        try:
            session = self._sessions.get(row.session_id)
        except WorkbenchError:
            return False
        return session.deleted_at is None and self.chat.runs.branches(session).is_last(row.run_id)


def _tell(live: Run, resolved: PauseResolved) -> None:
    """Hand the decision to a run that goes on. Raises `Conflict` where another one was there first."""
    if live.control.expects(resolved.pause_id):
        live.control.resolve(resolved)
        return
    open_pause(live.entries, resolved.pause_id)  # else it was decided since it was looked for
    live.control.resolve_ahead(resolved)  # the run was left at it, and has not come back to it yet
