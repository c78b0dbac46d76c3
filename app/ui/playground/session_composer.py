"""The composer of a session: a message begins a run, here or in the background, waits for the end of one, or steers."""

from collections.abc import Awaitable, Callable

from app.domain.errors import Conflict, WorkbenchError
from app.domain.messages import Attachment
from app.domain.sessions import Session
from app.engine.sessions.chat import FROM_PAGE
from app.ui.conversation.attachments import Attachments
from app.ui.conversation.composer import SendAs
from app.ui.conversation.composer_bar import ComposerBar
from app.ui.elements.addresses import JOBS
from app.ui.elements.notices import notify_with_link
from app.ui.playground.debounce import Debounce
from app.ui.playground.queued_messages import QueuedMessages
from app.workbench import Workbench


class SessionComposer(ComposerBar):
    """With what is attached to the message, and above it those that wait; `counting` rests while one is sent."""

    def __init__(
        self,
        workbench: Workbench,
        session: Session,
        *,
        model: str | None,
        counting: Debounce,
        on_sent: Callable[[], Awaitable[None]],
        on_typed: Callable[[str], Awaitable[None]],
        on_stop: Callable[[], object],
    ) -> None:
        self._workbench = workbench
        self._session_id = session.id
        self._counting = counting
        super().__init__(
            key=session.id,
            text=session.composer,
            placeholder=f"Message {workbench.agents.get(session.agent_id).name}",
            hint=hint_of(model),
            on_stop=on_stop,
            on_send=self._send_attached,
            on_sent=on_sent,
            on_typed=on_typed,
        )
        with self.box:
            self.attachments = Attachments(workbench, session, on_change=counting.touch, unsay=self.unsay)
        self.attachments.move(self.box, target_index=0)
        with self.above:
            self.queued = QueuedMessages(workbench, session.id, on_done=on_sent)

    async def _send_attached(self, text: str, how: SendAs) -> None:
        """Begin a run, here or in the background; while one goes on, break into it or wait for its end."""
        attached = self.attachments.ready()
        self._counting.cancel()
        try:
            if how == "background":
                await run_in_background(self._workbench, self._session_id, text, attached)
            elif (live := self._workbench.runs.of_session(self._session_id)) is None:
                await self._begin(text, attached)
            elif how == "steer" and live.run_id in self._workbench.sessions.get(self._session_id).runs:
                await self._workbench.queue.steer(self._session_id, text, attached)
            else:
                await self._workbench.queue.add(self._session_id, text, attached)
        except WorkbenchError:
            self._counting.touch()
            raise
        self.attachments.sent(attached)

    async def _begin(self, text: str, attached: tuple[Attachment, ...]) -> None:
        """Begin a run, or wait for the end of one that began first, such as an answer that is given again."""
        try:
            await self._workbench.chat.send(self._session_id, text, attached)
        except Conflict:
            if self._workbench.runs.of_session(self._session_id) is None:
                raise
            await self._workbench.queue.add(self._session_id, text, attached)


def hint_of(model: str | None) -> str:
    """What stands under the box while that model is asked, or those of a workflow's nodes."""
    hint = "Enter sends, Shift-Enter breaks the line."
    return f"{hint} Scripted demo answers." if model is not None and model.startswith("demo/") else hint


async def run_in_background(
    workbench: Workbench, session_id: str, text: str, attachments: tuple[Attachment, ...]
) -> None:
    """Send it as a session of its own, with the agent, variant, model, variables and tools of the one it is taken from.

    What may be called there without asking is asked for here: that was allowed in that session only. Raises what
    `Jobs.start` does; then what was typed stays.
    """
    session = workbench.sessions.get(session_id)
    await workbench.jobs.start(
        session.agent_id,
        text,
        attachments,
        variant=session.variant,
        model=session.model,
        variables=session.variables,
        tools_off=session.tools_off,
        trigger=FROM_PAGE,
    )
    notify_with_link(
        "Running in the background.", "Open Jobs", JOBS, testid="background-notice", symbol="pending_actions"
    )

    def emptied(newest: Session) -> Session:
        left = tuple(part for part in newest.composer_attachments if part not in attachments)
        return newest.model_copy(update={"composer": "", "composer_attachments": left})

    await workbench.sessions.change(session_id, emptied)
