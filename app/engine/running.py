"""Runs and all that listens to them: none of them is there without the others, or a run would not be heard."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from app.engine.ports import AgentStore, SessionStore, Toolbox, ViewServer
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat, MayVary
from app.engine.sessions.jobs import Jobs
from app.engine.sessions.pauses import Pauses
from app.engine.sessions.queue import Queue
from app.engine.sessions.spawning import MayUse
from app.engine.sessions.views import Views


@dataclass(frozen=True)
class Running:
    runs: Runs
    chat: Chat
    queue: Queue
    pauses: Pauses
    jobs: Jobs
    views: Views

    @classmethod
    def of(
        cls,
        runs: Runs,
        agents: AgentStore,
        sessions: SessionStore,
        toolbox: Toolbox,
        view_server: Callable[[str], ViewServer | None],
        *,
        may_use: MayUse,
        may_vary: MayVary,
    ) -> Self:
        """`view_server` is whom views ask; `may_use` and `may_vary` say what who started a run may."""
        chat = Chat(agents, sessions, runs, toolbox, may_vary)
        return cls(runs, chat, Queue(chat), Pauses(chat), Jobs(chat, may_use), Views(chat, view_server))

    async def close(self) -> None:
        """End the runs, so that they can be resumed; then what waits for them."""
        try:
            await self.views.close()
            await self.runs.close()
        finally:
            await self.queue.close()
