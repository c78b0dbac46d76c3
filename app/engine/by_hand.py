"""Tools called by a person, outside any run, under the same rules as in one."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.agents import Limits
from app.domain.errors import Conflict
from app.domain.events import FileChanged
from app.domain.messages import FilePart, ImagePart, ToolCall
from app.domain.tools import Answer, Progress, Question, Workspace
from app.domain.values import new_id
from app.engine.loop.files import CallFiles
from app.engine.loop.outcomes import Outcome, call_once
from app.engine.loop.running_call import RunningCall, Screen
from app.engine.ports import Artifacts, Toolbox, Toolset
from app.engine.run.stopwatch import Stopwatch

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redaction, Redactions

KEPT_FINISHED = 30
"""Calls that stay in memory after their end, since their page shows them."""
KEPT_CHARACTERS = 100_000_000
"""Of text that all of them together may hold; the last one stays, however long its result is."""
TOOL_SECONDS = Limits().tool_timeout


class HandCall:
    """A call by hand: what it shows while it goes on, and its outcome."""

    def __init__(
        self,
        toolset: Toolset,
        call: ToolCall,
        files: CallFiles,
        named: Callable[[], list[str]],
        redaction: "Redaction | None" = None,
    ) -> None:
        """Use `HandCalls.start`."""
        self.call_id = call.call_id
        self.name = call.name
        self.arguments = call.arguments
        self.outcome: Outcome | None = None
        """How it ended, `None` while it goes on."""
        self.question: Question | None = None
        """What the tool asks at the moment."""
        self.changes: list[FileChanged] = []
        """Files that it wrote."""
        self.task: asyncio.Task[Outcome] | None = None
        self.unattended = False
        """True when nobody can answer, so that every question is declined at once."""
        self._call = call
        self._toolset = toolset
        self._screen = Screen({}, {})
        self._answer: asyncio.Future[Answer] | None = None
        self._asking = asyncio.Lock()
        self._began = perf_counter()
        self._running = RunningCall(
            call_id=call.call_id,
            files=replace(files, changed=self.changes.append),
            began_with=Workspace(files=dict(files.files)),
            screen=self._screen,
            person=self,
            named=named,
            stopwatch=Stopwatch(TOOL_SECONDS),
            redaction=redaction,
        )

    @property
    def printed(self) -> str:
        """What it has printed so far; all of it once it has ended."""
        return self.outcome.printed if self.outcome else self._screen.printed.get(self.call_id, "")

    @property
    def progress(self) -> Progress | None:
        """How far it says it is, while it goes on."""
        return self._screen.progress.get(self.call_id)

    def answer(self, answer: Answer) -> None:
        """Answer the open question; raises `Conflict` when there is none any more."""
        if self._answer is None or self._answer.done():
            raise Conflict("This question has been answered already, or its call has ended.")
        self._answer.set_result(answer)

    def cancel(self) -> None:
        """End the call within a second; its outcome is then `cancelled`."""
        if self.task is not None:
            self.task.cancel()

    async def ended(self) -> None:
        """Return when there is an outcome."""
        if self.task is not None:
            await asyncio.wait([self.task])

    async def ask(self, question: Question, until: "asyncio.Future[Answer] | None" = None) -> Answer:
        """Show the question until it is answered; several at once wait for one another."""
        if self.unattended:
            return Answer(decision="decline")
        async with self._asking:
            self.question, self._answer = question, asyncio.get_running_loop().create_future()
            try:
                answers = {self._answer, until} if until is not None else {self._answer}
                done, _ = await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
                return done.pop().result()
            finally:
                self.question = self._answer = None

    def begin(self, *, seconds: float) -> None:
        """Call the tool under that time-out; for `HandCalls`."""
        self._running.stopwatch = Stopwatch(seconds)
        work = call_once(self._toolset, self._call, self._running)
        self.task = asyncio.create_task(work, name=f"by hand: {self.name}")
        # Not behind an await of the task: one that is cancelled before its first step never runs any of it.
        self.task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[Outcome]) -> None:
        if task.cancelled():
            outcome = Outcome.of("cancelled", "This call was cancelled before it finished.", self._running.shown)
        else:
            outcome = task.result()
        self.outcome = replace(outcome, ms=(perf_counter() - self._began) * 1000)
        self._running.end()
        self._toolset.release()


class HandCalls:
    """The calls by hand of this process. They belong to it and to no page, and share one folder of files."""

    def __init__(
        self, toolbox: Toolbox, artifacts: Artifacts, redactions: "Callable[[], Redactions | None]" = lambda: None
    ) -> None:
        """`redactions` take the known secrets out of what calls show and give back, by who makes them."""
        self._redactions = redactions
        self._toolbox = toolbox
        self._artifacts = artifacts
        self._calls: OrderedDict[str, HandCall] = OrderedDict()
        self.files: dict[str, str] = {}
        """Path to sha256 of what these calls have written."""

    def start(
        self,
        name: str,
        arguments: Mapping[str, JsonValue],
        *,
        seconds: float = TOOL_SECONDS,
        unattended: bool = False,
    ) -> HandCall:
        """Call the tool as it is now; `seconds` is its time-out. What goes wrong is its outcome.

        `unattended` when nobody is there to answer what it asks.
        """
        call = ToolCall(call_id=new_id(), name=name, arguments=dict(arguments))
        toolset, redactions = self._toolbox.lease(), self._redactions()
        redaction = redactions.of_tool(reads_outside=toolset.reads_outside(name)) if redactions else None
        files = CallFiles(call.call_id, self.files, self._artifacts, changed=lambda _: None)
        hand_call = HandCall(toolset, call, files, self._named, redaction)
        hand_call.unattended = unattended
        self._forget_old()
        self._calls[call.call_id] = hand_call
        hand_call.begin(seconds=seconds)
        return hand_call

    def get(self, call_id: str) -> HandCall | None:
        """The call, while it goes on and for some time afterwards."""
        return self._calls.get(call_id)

    async def close(self) -> None:
        """Cancel what goes on."""
        tasks = [call.task for call in self._calls.values() if call.task is not None and call.outcome is None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2)

    def _forget_old(self) -> None:
        """Make room for one more."""
        finished = [(call_id, len(call.outcome.text)) for call_id, call in self._calls.items() if call.outcome]
        room = KEPT_CHARACTERS
        for place, (call_id, length) in enumerate(reversed(finished), 1):
            room -= length
            if place >= KEPT_FINISHED or (room < 0 and place > 1):
                del self._calls[call_id]

    def _named(self) -> list[str]:
        """What the files and the finished calls name."""
        outcomes = [call.outcome for call in self._calls.values() if call.outcome is not None]
        parts = (part for outcome in outcomes for part in outcome.parts)
        return [*self.files.values(), *(part.artifact for part in parts if isinstance(part, ImagePart | FilePart))]


class LastCalls:
    """What was last typed and called by hand, tool by tool, while the app runs."""

    def __init__(self, calls: HandCalls) -> None:
        self._calls = calls
        self._arguments: dict[str, dict[str, JsonValue]] = {}
        self._called: dict[str, str] = {}

    def arguments(self, tool: str) -> dict[str, JsonValue] | None:
        """What stood in the tool's form last, `None` when nobody typed anything."""
        return self._arguments.get(tool)

    def keep(self, tool: str, arguments: Mapping[str, JsonValue]) -> None:
        self._arguments[tool] = dict(arguments)

    def forget(self, tool: str) -> None:
        """Let the form begin with the defaults again."""
        self._arguments.pop(tool, None)

    def start(self, tool: str, arguments: Mapping[str, JsonValue]) -> HandCall:
        """Call the tool by hand, and remember it."""
        self.keep(tool, arguments)
        call = self._calls.start(tool, arguments)
        self._called[tool] = call.call_id
        return call

    def of(self, tool: str) -> HandCall | None:
        """The tool's last call, as long as it is kept."""
        return self._calls.get(self._called.get(tool, ""))
