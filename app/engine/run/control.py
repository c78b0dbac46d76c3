"""What a person tells a run while it goes on: stop, a new message in the middle of it, and decisions on its pauses."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from app.domain.errors import Conflict
from app.domain.events import PauseResolved
from app.domain.messages import Message
from app.domain.sessions import QueuedMessage
from app.engine.run.deciding import DECIDED

STEERED_PAST = "A new message was sent instead of a decision."


class Steered(Exception):
    """What goes on is left unfinished, since a person sent a new message in the middle of it."""


@dataclass(frozen=True, slots=True)
class Steer:
    """A message on its way into a run that goes on."""

    message: Message
    queued: QueuedMessage | None = None
    """The message as it waited in the queue, where it did."""
    landed: "asyncio.Future[bool]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """True once it is a turn of the run, false when the run ended before."""


class Retrying:
    """The wait before a further attempt at a model call, which a person may cut short in either direction."""

    def __init__(self) -> None:
        self._decided: asyncio.Future[bool] | None = None

    async def wait(self, sleep: Coroutine[None, None, None]) -> bool:
        """Return when `sleep` is over or a person has decided: whether it is to be tried again."""
        self._decided = decided = asyncio.get_running_loop().create_future()
        sleeping = asyncio.ensure_future(sleep)
        try:
            await asyncio.wait((sleeping, decided), return_when=asyncio.FIRST_COMPLETED)
            return decided.result() if decided.done() else True
        finally:
            self._decided = None
            sleeping.cancel()

    def decide(self, *, again: bool) -> None:
        """Try again now, or give up; raises `Conflict` when no call waits to be tried again."""
        if self._decided is None or self._decided.done():
            raise Conflict("Nothing waits to be tried again any more.")
        self._decided.set_result(again)


class Control:
    def __init__(self) -> None:
        self.stopped = False
        """True when a person ended the run, rather than the process ending under it."""
        self.retrying = Retrying()
        """The wait before a failed model call is tried again."""
        self._waiting: dict[str, asyncio.Future[PauseResolved]] = {}
        self._ahead: dict[str, PauseResolved] = {}
        self._steers: list[Steer] = []
        self._breakable: dict[asyncio.Task[object], bool] = {}
        """The tasks that a steer breaks off, and whether one did already."""
        self._closed = False

    @property
    def steered(self) -> bool:
        """True while a message waits to go into the run."""
        return bool(self._steers)

    def steer(self, message: Message, queued: QueuedMessage | None = None) -> Steer:
        """Break into the run with the message: open pauses are denied, and all that may be left unfinished is."""
        steer = Steer(message, queued)
        if self._closed:
            steer.landed.set_result(False)
            return steer
        self._steers.append(steer)
        for pause_id, waiting in self._waiting.items():
            if not waiting.done():
                waiting.set_result(PauseResolved(pause_id=pause_id, decision="deny", note=STEERED_PAST, by="steer"))
        for task, broken in self._breakable.items():
            if not broken:
                self._breakable[task] = True
                task.cancel()
        return steer

    @contextmanager
    def breakable(self) -> Iterator[None]:
        """A steer breaks off what the task does inside: that raises `Steered`, at once where a message waits already.

        As `asyncio.timeout` does it: a cancellation that is somebody else's (Stop, a time-out) stays one.
        """
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("Only what a task does can be broken off")
        if self.steered:
            raise Steered
        before = task.cancelling()
        self._breakable[task] = False
        try:
            yield
        except asyncio.CancelledError as cancelled:
            if self._breakable[task] and task.cancelling() == before + 1:
                raise Steered from cancelled
            raise
        finally:
            if self._breakable.pop(task):
                task.uncancel()

    def next_steer(self) -> Steer | None:
        """The oldest message that waits, which is then in the hands of the caller."""
        return self._steers.pop(0) if self._steers else None

    def close(self) -> None:
        """The run has ended: what did not get in by now never will."""
        self._closed = True
        while (steer := self.next_steer()) is not None:
            steer.landed.set_result(False)

    @contextmanager
    def expecting(self, pause_id: str) -> Iterator[asyncio.Future[PauseResolved]]:
        """The decision on that pause, to be awaited; it may be handed over from now on."""
        waiting: asyncio.Future[PauseResolved] = asyncio.get_running_loop().create_future()
        self._waiting[pause_id] = waiting
        if (decided := self._ahead.pop(pause_id, None)) is not None:
            waiting.set_result(decided)
        try:
            yield waiting
        finally:
            del self._waiting[pause_id]

    @property
    def waits(self) -> bool:
        """True while a person has to decide something."""
        return self.awaited is not None

    @property
    def awaited(self) -> str | None:
        """The id of the oldest pause that a person has to decide on."""
        return next((pause_id for pause_id, waiting in self._waiting.items() if not waiting.done()), None)

    def expects(self, pause_id: str) -> bool:
        """Whether somebody waits for the decision on that pause."""
        return pause_id in self._waiting

    def resolve_ahead(self, resolved: PauseResolved) -> None:
        """Hand over the decision, once, before the run that is being resumed waits for it. Raises `Conflict`."""
        if resolved.pause_id in self._ahead:
            raise Conflict(DECIDED)
        self._ahead[resolved.pause_id] = resolved

    def resolve(self, resolved: PauseResolved) -> None:
        """Hand over the decision, once; raises `Conflict` when nothing waits for it any more."""
        waiting = self._waiting.get(resolved.pause_id)
        if waiting is None or waiting.done():
            raise Conflict(DECIDED)
        waiting.set_result(resolved)
