"""A run of this process, for whoever looks at it or has a hand in it."""

import asyncio
from collections.abc import AsyncIterator

from pydantic import JsonValue

from app.domain.events import Decision, Entry, RunStarted
from app.domain.messages import Message
from app.domain.streaming import Draft
from app.domain.tools import Progress
from app.domain.trace import RunStatus, status
from app.engine.run.control import Steer
from app.engine.run.deciding import decision_for, open_pause
from app.engine.run.run import Run


class LiveRun:
    """A run of this process: its trace as it grows, and the hand on its control."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.work: asyncio.Task[None] | None = None
        """The agent loop; Stop cancels it."""
        self.task: asyncio.Task[None] | None = None
        """Goes on until what came of that is stored, and belongs to the process: no page and no Stop cancels it."""
        self.unsaved: str | None = None
        """Why the newest part of the trace is not on disk, in words; it is tried again until it is."""
        self._at_rest = asyncio.Event()

    @property
    def run_id(self) -> str:
        return self.run.recorder.run_id

    @property
    def started(self) -> RunStarted:
        return self.run.started

    @property
    def entries(self) -> list[Entry]:
        return self.run.recorder.entries

    @property
    def draft(self) -> Draft:
        """The message being written, empty between messages."""
        return self.run.recorder.draft

    @property
    def printed(self) -> dict[str, str]:
        """By call id: what running tools have printed so far."""
        return self.run.recorder.printed

    @property
    def progress(self) -> dict[str, Progress]:
        """By call id: how far running tools say they are."""
        return self.run.recorder.progress

    @property
    def alive(self) -> bool:
        return self.task is not None and not self.task.done()

    @property
    def status(self) -> RunStatus:
        return status(self.entries, alive=self.alive)

    def since(self, seq: int) -> list[Entry]:
        return self.run.recorder.since(seq)

    def follow(self, seq: int = 0) -> AsyncIterator[Entry]:
        return self.run.recorder.follow(seq)

    async def ended(self) -> None:
        """Return when the run has ended, and is stored or cannot be for now; never raises what ended it."""
        if self.task is not None:
            await self._at_rest.wait()

    def go_on(self, task: asyncio.Task[None]) -> None:
        """Live as long as that task."""
        self.task = task
        task.add_done_callback(lambda _: self._at_rest.set())

    def say_unsaved(self, why: str) -> None:
        """Nobody has to wait until the disk takes it."""
        self.unsaved = why
        self._at_rest.set()

    def stop(self) -> None:
        """End the run within a second: the provider's connection and running tools are cancelled, the text is kept.

        Nothing happens where its end is recorded already.
        """
        if self.work is not None and not self.work.done() and not self.run.control.stopped:
            self.run.control.stopped = True
            self.work.cancel()

    def leave(self) -> None:
        """Break its work off where it stands, with nothing recorded: it can be resumed."""
        if self.work is not None:
            self.work.cancel()

    def let_go(self) -> None:
        """Give back what it works with."""
        self.run.toolset.release()
        self.run.budget.close()

    def steer(self, message: Message) -> Steer:
        """Break into the run with the message: what it writes is cut off, tools that may be are cancelled.

        Its `landed` says when the message has become a turn of the run, or that the run ended before.
        """
        return self.run.control.steer(message)

    @property
    def steered(self) -> bool:
        """True while a message waits to break in, for a tool that may not be cancelled."""
        return self.run.control.steered

    def retry_now(self) -> None:
        """Make the next attempt of a failed model call at once; raises `Conflict` where none waits."""
        self.run.control.retrying.decide(again=True)

    def give_up(self) -> None:
        """Make no further attempt of a failed model call: the run fails by it. Raises `Conflict` where none waits."""
        self.run.control.retrying.decide(again=False)

    def resolve(
        self,
        pause_id: str,
        decision: Decision,
        *,
        arguments: dict[str, JsonValue] | None = None,
        note: str = "",
        by: str = "user",
    ) -> None:
        """Decide on a pause; raises `Conflict` when it waits no more, `WorkbenchError` for a decision that is none."""
        pause = open_pause(self.entries, pause_id)
        self.run.control.resolve(decision_for(pause, decision, arguments=arguments, note=note, by=by))

    @property
    def waits(self) -> bool:
        """True while a person has to decide something."""
        return self.run.control.waits
