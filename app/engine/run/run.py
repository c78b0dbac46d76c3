"""One run of this process, with everything it works with: its trace as it grows, and the hand on its control."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from app.domain.events import Entry, LimitReached, RunStarted
from app.domain.messages import Message, ToolCall
from app.domain.streaming import Draft, ModelRequest
from app.domain.tools import GrantedTool, ToolSpec
from app.domain.trace import PausesSoFar, RunStatus, sent_conversation, sent_tools, status
from app.engine.ports import Artifacts, Clock, Computing, Models, Spawner, Toolset
from app.engine.run.control import Control
from app.engine.run.limits import Budget, Prompt
from app.engine.run.recorder import Recorder
from app.engine.run.stopwatch import Stopwatch
from app.engine.run.tools_since import ToolsSince

LONG = 2000
"""Entries of a run from which on to go through them takes longer than the loop may wait."""


def nothing_recorded(_call: ToolCall) -> bool:
    """Each call is made."""
    return False


@dataclass(eq=False)
class Run:
    started: RunStarted
    recorder: Recorder
    models: Models
    toolset: Toolset
    artifacts: Artifacts
    budget: Budget
    clock: Clock
    stopwatch: Stopwatch
    files: dict[str, str]
    """Path to sha256 of the session's files, as they are now."""
    control: Control = field(default_factory=Control)
    allowed: set[str] = field(default_factory=set)
    """Tools that a person let be called without being asked again, in the course of the run."""
    tools_since: ToolsSince = field(default_factory=ToolsSince)
    """How the tools differ from those the run began with, where it was resumed."""
    only_recorded: Callable[[ToolCall], bool] = nothing_recorded
    """Whether the call is answered out of a record: nobody is asked for leave to read that."""
    spawner: Spawner | None = None
    """Starts the runs that it hands tasks to."""
    computing: Computing | None = None
    """Reads the expressions of its nodes."""
    walk: "Callable[[Run], Awaitable[LimitReached | None]] | None" = None
    """Takes the place of asking a model: the nodes of a workflow. The limit that ended it; else its answer is there."""
    work_below: "Callable[[Run], Coroutine[None, None, None]] | None" = None
    """What the runs that it starts do, where that is not what runs usually do."""
    voice: Callable[[], Draft | None] | None = None
    """What a run below it says in its name at the moment, if one does."""
    scopes: dict[str, Stopwatch] = field(default_factory=dict)
    """By call: the time that maps and loops have, which go on."""
    dropped: set[str] = field(default_factory=set)
    """Calls of nodes that are not wanted any more: their cancellation is the run's own."""
    ending: bool = False
    """True when all that goes on is cancelled, since the run has come to a limit."""
    prompt: Prompt | None = None
    """What the model is asked next, as it was last counted."""
    work: asyncio.Task[None] | None = None
    """The agent loop; Stop cancels it."""
    task: asyncio.Task[None] | None = None
    """Goes on until what came of that is stored, and belongs to the process: no page and no Stop cancels it."""
    unsaved: str | None = None
    """Why the newest part of the trace is not on disk, in words; it is tried again until it is."""
    pauses: PausesSoFar = field(default_factory=PausesSoFar)
    """Those of its entries that were looked at."""
    _at_rest: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def run_id(self) -> str:
        return self.recorder.run_id

    @property
    def entries(self) -> list[Entry]:
        return self.recorder.entries

    @property
    def draft(self) -> Draft:
        """The message being written, empty between messages."""
        said = self.voice() if self.voice is not None else None
        return self.recorder.draft if said is None else said

    @property
    def alive(self) -> bool:
        return self.task is not None and not self.task.done()

    @property
    def status(self) -> RunStatus:
        return status(self.entries, alive=self.alive, pauses=self.pauses)

    def since(self, seq: int) -> list[Entry]:
        return self.recorder.since(seq)

    def follow(self, seq: int = 0) -> AsyncIterator[Entry]:
        return self.recorder.follow(seq)

    @property
    def cut_short(self) -> bool:
        """True when a cancellation is the run's own: stopped or steered by a person, or out of time.

        What was left unfinished is then recorded; a process that ends records nothing.
        """
        return self.ending or self.control.stopped or self.control.steered or self.stopwatch.timer.expired()

    @contextmanager
    def working(self, call_id: str) -> Iterator[None]:
        """What is done inside by that call of a node goes on beside what others do, and takes time."""
        with ExitStack() as parts:
            for stopwatch in self._timing(call_id):
                parts.enter_context(stopwatch.part())
            yield

    @contextmanager
    def waiting(self, call_id: str) -> Iterator[None]:
        """That call waits for a person inside, which takes no time unless another goes on."""
        with ExitStack() as waits:
            for stopwatch in self._timing(call_id):
                waits.enter_context(stopwatch.standing_still())
            yield

    def _timing(self, call_id: str) -> list[Stopwatch]:
        """The run's, and those of the maps and loops around the node."""
        around = (stopwatch for scope, stopwatch in self.scopes.items() if call_id.startswith(f"{scope}["))
        return [self.stopwatch, *around]

    def granted(self, name: str) -> GrantedTool | None:
        """The tool as it was granted to this run, `None` where it was not."""
        return next((tool for tool in self.started.tools if tool.spec.name == name), None)

    def digest_now(self, tool: GrantedTool) -> str:
        """The digest of the tool's spec as it is called now."""
        return self.tools_since.changed.get(tool.spec.name, tool.spec.digest)

    def request(self) -> ModelRequest:
        """What the model is asked next, without what was left out of the conversation."""
        entries = self.recorder.entries
        return request_of(self.started, tuple(sent_conversation(entries)), sent_tools(entries))

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
        if self.control.stopped or (self.work is not None and self.work.done()):
            return
        self.control.stopped = True
        if self.work is not None:  # else it is cancelled as it begins
            self.work.cancel()

    def leave(self) -> None:
        """Break its work off where it stands, with nothing recorded: it can be resumed."""
        if self.work is not None:
            self.work.cancel()

    def let_go(self) -> None:
        """Give back what it works with: it does not begin."""
        self.toolset.release()
        self.budget.close()
        self.control.close()
        self._at_rest.set()


def request_of(started: RunStarted, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> ModelRequest:
    """What a run that began like this asks when the conversation stands so."""
    return ModelRequest(
        model=started.model,
        messages=messages,
        system=started.system,
        tools=tools,
        parameters=started.parameters,
        output_schema=started.output_schema,
        idle_timeout=started.limits.idle_timeout,
        dispositions=started.attachments,
        session_id=started.session_id,
    )
