"""Runs in the background: begun by a person, over the API or by another agent, and nobody waits for their answer."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.messages import Attachment
from app.domain.provenance import Purpose, Trigger
from app.domain.sessions import Session
from app.domain.trace import UNFINISHED, JobProgress, KeyRuns, RunFilter, RunPage, RunRow, finished, job_progress
from app.engine.run.run import Run
from app.engine.sessions.chat import Chat
from app.engine.sessions.first_messages import begun_or_gone
from app.engine.sessions.spawning import MayUse, Spawning, anybody

KEPT_ENDED = 50
"""Jobs that ended, as they are told to pages that were not looking."""


@dataclass
class Jobs:
    chat: Chat
    may_use: MayUse = anybody
    """Whether whoever started a run may use an agent: those below it reach no other one."""

    def __post_init__(self) -> None:
        self._runs = self.chat.runs
        self.spawning = Spawning(self.chat, self.may_use)
        """Starts the runs that agents hand tasks to."""
        self.ended: deque[RunRow] = deque(maxlen=KEPT_ENDED)
        """The jobs that ended last since the app started, the newest at the end, whoever stopped them.

        A run that another run began is none of them while that goes on: it gets the answer.
        """
        self.ended_count = 0
        """How many were ever put into `ended`: a page that remembers it sees what it has not told yet."""
        self._runs.on_end.append(self._run_ended)

    async def start(
        self,
        agent_id: str,
        text: str,
        attachments: tuple[Attachment, ...] = (),
        *,
        variant: int | None = None,
        model: str | None = None,
        variables: Mapping[str, str] | None = None,
        tools_off: tuple[str, ...] = (),
        trigger: Trigger,
        run_id: str | None = None,
    ) -> Run:
        """Begin a run in a session of its own, and return while it goes on.

        `run_id` is its id where somebody has noted it before. Raises `NotFound` for an agent or variant there is not,
        and what `Chat.send` raises.
        """
        session = await self.chat.new_session(agent_id, variant, model=model, variables=variables, tools_off=tools_off)
        purpose: Purpose = "chat" if trigger.kind == "page" else "api"
        async with begun_or_gone(self.chat, session):
            return await self.chat.send(
                *(session.id, text, attachments),
                trigger=trigger,
                purpose=purpose,
                run_id=run_id,
                begun_as=lambda started: started.model_copy(update={"background": True}),
            )

    async def page(
        self, *, offset: int = 0, limit: int = 50, live: bool | None = None, of_key: KeyRuns | None = None
    ) -> RunPage:
        """One page of the jobs, newest first, as they really stand; those of an API key, or all.

        `live`: only those without an end, which run, wait, or were left by an app that ended; or only those with one.
        """
        jobs = RunFilter(background=True, of_key=of_key)
        if live is None:
            return await self._runs.lists.page(jobs, offset=offset, limit=limit)
        unfinished = await self._runs.lists.unfinished(jobs)
        if live:
            return RunPage(unfinished[offset : offset + limit], len(unfinished))
        every = await self._runs.lists.page(jobs, limit=offset + limit + len(unfinished))
        ended = [row for row in every.rows if row.status not in UNFINISHED]
        return RunPage(ended[offset : offset + limit], every.total - len(unfinished))

    def running(self) -> int:
        """How many go on in this process, those that wait for a person included."""
        return sum(live.started.background for live in self._runs.live_runs())

    def progress(self, run_id: str) -> JobProgress | None:
        """How far the job is, `None` where it does not go on in this process."""
        live = self._runs.live(run_id)
        return None if live is None else job_progress(live.entries)

    async def opened(self, run_id: str) -> Session:
        """The session of a job, from now on listed among the sessions. Raises `NotFound`."""
        row = self._runs.row(run_id)
        return await self.chat.sessions.change(row.session_id, _listed)

    def _run_ended(self, live: Run) -> None:
        parent = live.started.parent
        waited_for = parent is not None and self._runs.live(parent.run_id) is not None
        if not live.started.background or waited_for or finished(live.entries) is None:
            return
        if (row := self._runs.rows.get(live.run_id)) is not None:  # else it was deleted meanwhile
            self.ended.append(row)
            self.ended_count += 1


def _listed(session: Session) -> Session:
    return session.model_copy(update={"parent": ""}) if session.parent else session
