"""Messages for a session whose run goes on: they wait for its end, or break into it."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from app.domain.agents import LimitName, PromptBehaviour, WorkflowBehaviour
from app.domain.branches import FIRST
from app.domain.errors import Conflict, NotFound, StorageError, WorkbenchError
from app.domain.events import Entry, LimitReached
from app.domain.messages import Attachment, user_message
from app.domain.provenance import Trigger
from app.domain.sessions import (
    QueuedMessage,
    Session,
    behaviour_of,
    check_not_deleted,
    queued_message,
    with_queued,
    without_queued,
)
from app.domain.trace import finished
from app.domain.values import new_id, now
from app.engine.run.run import Run
from app.engine.runs.unbroken import Unbroken
from app.engine.sessions.chat import FROM_PAGE, Chat
from app.engine.sessions.turns import checked

log = logging.getLogger(__name__)

MOST_QUEUED = 20
OF_ALL_RUNS: frozenset[LimitName] = frozenset({"session_cost", "day_cost", "app_day_cost", "app_month_cost"})
"""Limits at which the next run would end as well."""
SOON = 0.3
"""Seconds within which a message that breaks in is a turn of its run, unless it waits for a tool."""

UNSTEERED = (
    "Nothing breaks into a workflow: several of its nodes may be at work. Let the message wait for its end, or stop it."
)


@dataclass
class Queue:
    """The queue lives in the session; its head becomes the next run when the run before has come to its end.

    After a run that failed, was stopped or met a ceiling of all runs, and after a restart, they wait until somebody
    sends one.
    """

    chat: Chat

    def __post_init__(self) -> None:
        self._sessions = self.chat.sessions
        self._runs = self.chat.runs
        self._afterwards = Unbroken()
        self._breaking: set[str] = set()
        self._runs.on_end.append(self._run_ended)

    async def add(
        self, session_id: str, text: str, attachments: tuple[Attachment, ...] = (), *, trigger: Trigger = FROM_PAGE
    ) -> QueuedMessage:
        """Put the message behind those that wait; where no run goes on the first of them is sent at once.

        Raises `WorkbenchError` for an empty message, `TooLarge`, `Conflict` when too many wait or where the session was
        deleted.
        """
        check_not_deleted(self._sessions.get(session_id))
        message = _queued(text, attachments, trigger)
        await self._keep(session_id, message)
        if self._runs.of_session(session_id) is None:
            await self._send_next(session_id, at_once=message.id)
        return message

    async def edit(self, session_id: str, message_id: str, text: str) -> None:
        """Let it say something else, in its place. Raises `NotFound` when it does not wait any more."""

        def change(session: Session) -> Session:
            waiting = queued_message(session, message_id)
            changes = {"text": checked(text, waiting.attachments), "refusal": ""}
            return with_queued(session, waiting.model_copy(update=changes))

        await self._sessions.change(session_id, change)

    async def drop(self, session_id: str, message_id: str) -> None:
        """Take it away unsent. Raises `NotFound` when it does not wait any more."""

        def change(session: Session) -> Session:
            queued_message(session, message_id)
            return without_queued(session, message_id)

        await self._sessions.change(session_id, change)

    async def send_now(self, session_id: str, message_id: str) -> None:
        """Let it wait no longer: break into the run that goes on, or begin one. Raises `NotFound`, `Conflict`."""
        check_not_deleted(session := self._sessions.get(session_id))
        waiting = queued_message(session, message_id)
        if self.breaking_in(message_id):
            raise Conflict("This message is on its way into the answer already.")
        if (live := self._runs.of_session(session_id)) is not None:
            self._check_steered(session_id)
            await self._break_in(live, waiting, is_new=False)
        else:
            await self.chat.send_queued(session_id, message_id)

    async def steer(
        self, session_id: str, text: str, attachments: tuple[Attachment, ...] = (), *, trigger: Trigger = FROM_PAGE
    ) -> None:
        """Break into the run that goes on: its answer is cut off, and the message is its next turn.

        Returns when it is, or when it waits among the queued messages: for a tool that may not be cancelled, or for
        the next run because this one ended before. Raises what `add` raises, `Conflict` where no run goes on.
        """
        message = _queued(text, attachments, trigger)
        self._check_steered(session_id)
        if (live := self._runs.of_session(session_id)) is None:
            raise Conflict("The run has ended, so nothing can break into it. Send the message to its session instead.")
        await self._break_in(live, message, is_new=True)

    def _check_steered(self, session_id: str) -> None:
        """Raises `WorkbenchError` for a workflow: there is no one answer that could be cut off."""
        check_not_deleted(session := self._sessions.get(session_id))
        try:
            agent = self.chat.agents.get(session.agent_id)
        except NotFound:  # of a run that came from elsewhere, which a model answers
            return
        match behaviour_of(session, agent):
            case PromptBehaviour():
                return
            case WorkflowBehaviour():
                raise WorkbenchError(UNSTEERED)
            case other:
                assert_never(other)

    def breaking_in(self, message_id: str) -> bool:
        """Whether it waits for nothing but a tool that may not be cancelled."""
        return message_id in self._breaking

    async def close(self) -> None:
        """Called once all runs are left: what did not get into its run is kept in its session."""
        await self._afterwards.close(patience=1)

    async def _break_in(self, live: Run, message: QueuedMessage, *, is_new: bool) -> None:
        """Steer with the message; a new one is on disk then, in the run or in the queue."""
        self._breaking.add(message.id)
        said = user_message(message.text, *message.attachments)
        landed = live.control.steer(said, None if is_new else message).landed
        try:
            await asyncio.wait([landed], timeout=SOON)
            if landed.done() and landed.result():
                await _on_disk(live)
                if is_new:
                    await self._sessions.change(live.started.session_id, partial(_typed_is_sent, message=message))
            elif is_new:
                follows = message.model_copy(update={"follows": live.run_id})
                await self._keep(live.started.session_id, follows, first=True)
        finally:
            self._afterwards.begin(self._settled(live, message, landed))

    async def _settled(self, live: Run, message: QueuedMessage, landed: asyncio.Future[bool]) -> None:
        """Take the message out of the queue once it is a turn of the run; else it waits there for the next run."""
        session_id = live.started.session_id
        try:
            if await landed:
                await _on_disk(live)
                if any(waiting.id == message.id for waiting in self._sessions.get(session_id).queue):
                    await self._sessions.change(session_id, lambda session: without_queued(session, message.id))
                return
        finally:
            self._breaking.discard(message.id)
        await live.ended()
        await self._after(live)

    async def _keep(self, session_id: str, message: QueuedMessage, *, first: bool = False) -> None:
        def change(session: Session) -> Session:
            if len(session.queue) >= MOST_QUEUED and not first:
                raise Conflict(f"{MOST_QUEUED} messages wait already. Send one of them, or take some away.")
            follows = message.follows or (session.runs[-1] if session.runs else FIRST)
            waits = with_queued(session, message.model_copy(update={"follows": follows}), first=first)
            return _typed_is_sent(waits, message=message)

        await self._sessions.change(session_id, change)

    def _run_ended(self, live: Run) -> None:
        self._afterwards.begin(self._after(live))

    async def _after(self, live: Run) -> None:
        if may_start_next(live.entries):
            await self._send_next(live.started.session_id)

    async def _send_next(self, session_id: str, *, at_once: str = "") -> None:
        """`at_once`: the message that has only just been put there."""
        session = self._sessions.get(session_id)
        if not session.queue or session.deleted_at is not None or self._runs.of_session(session_id) is not None:
            return
        head = session.queue[0]
        try:
            await self.chat.send_queued(session_id, head.id, at_once=head.id == at_once)
        except (NotFound, Conflict):
            log.debug("Queued message %s was sent, changed or taken away, or waits for another run", head.id)
            if self._sessions.get(session_id).queue[:1] not in ((), (head,)):
                await self._send_next(session_id)
        except WorkbenchError as error:
            await self._sessions.change(session_id, partial(_refused, head=head, why=str(error)))


def _typed_is_sent(session: Session, *, message: QueuedMessage) -> Session:
    """The session, where what was typed is no draft any more once it is a message."""
    sent = {"composer": "", "composer_attachments": ()}
    return session.model_copy(update=sent) if message.trigger.kind == "page" else session


def _refused(newest: Session, *, head: QueuedMessage, why: str) -> Session:
    """The session, where the message still waits as it was when it was tried."""
    return with_queued(newest, head.model_copy(update={"refusal": why})) if head in newest.queue else newest


async def _on_disk(live: Run) -> None:
    """Returns when the run is, so that a message is in no other place any more only when it is there."""
    try:
        await live.recorder.flush()
    except StorageError as problem:
        log.warning("A message that broke into run %s is not on disk yet: %s", live.run_id, problem)


def may_start_next(entries: Sequence[Entry]) -> bool:
    """Whether the next message may follow by itself: the run came to its end, and no ceiling stops the next one too."""
    end = finished(entries)
    if end is None or end.status not in ("completed", "limited"):
        return False
    return not any(isinstance(entry.event, LimitReached) and entry.event.limit in OF_ALL_RUNS for entry in entries[-2:])


def _queued(text: str, attachments: tuple[Attachment, ...], trigger: Trigger) -> QueuedMessage:
    text = checked(text, attachments)
    return QueuedMessage(id=new_id(), text=text, attachments=attachments, created_at=now(), trigger=trigger)
