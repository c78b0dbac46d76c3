"""One call of a view: decided like the model's, recorded in the run that holds the view's calls, answered whole."""

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.domain.events import RunStarted, ToolCalled
from app.domain.media_types import media_type_of
from app.domain.messages import FilePart, ImagePart, TextPart, ToolCall
from app.domain.tools import CallContext, GrantedTool, ToolOutput
from app.domain.trace import LeftCall, open_pauses
from app.domain.values import new_id
from app.engine.loop.asking_people import withdraw
from app.engine.loop.attachments import kept
from app.engine.loop.calling import begin_call, outcome_of, returned
from app.engine.loop.outcomes import Outcome
from app.engine.loop.permission import Permitted, permitted
from app.engine.loop.results import offload_large_result, whole_name
from app.engine.ports import Toolset, ViewServer
from app.engine.run.run import Run

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redaction

AT_ONCE = 4
"""Calls of one view that go on; others wait for their turn."""
A_SECOND = 20
LARGEST_RESULT = 2 * 1024 * 1024
"""Characters as JSON: a mebibyte of content is a third more in base64."""
COUNTED_SECONDS = 60.0
"""How long the same call made again and again is only counted before it is told again."""
SAVE = "ui/download-file"
"""What a view calls that in which it wants a file to be saved."""
GONE = "The app was closed before this call was over."
Json = dict[str, JsonValue]


@dataclass
class Counted:
    """The last call that went well, and how often it was made again with the same arguments."""

    call: ToolCall
    told: float
    outcome: Outcome | None = None
    times: int = 0


@dataclass(eq=False)
class OpenView:
    """A view as long as this process runs: how much it asks, what it was allowed, and the run that holds its calls."""

    at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    beginning: asyncio.Lock = field(default_factory=asyncio.Lock)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=A_SECOND))
    started: RunStarted | None = None
    """How the run began that brought it, once that is known: no ended run changes."""
    allowed: set[str] = field(default_factory=set)
    """Tools that somebody let it call without being asked again."""
    run: Run | None = None
    last_run: str = ""
    calls: set[asyncio.Task[Json]] = field(default_factory=set)
    waiting: int = 0
    made: int = 0
    counted: Counted | None = None
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by every call, and when the app ends."""

    def tell_counted(self, run: Run) -> None:
        """Put into the trace how often the last call was made again."""
        counted = self.counted
        if counted is None or counted.outcome is None or counted.times == 0:
            return
        call = counted.call.model_copy(update={"call_id": new_id()})
        returned(run, call, counted.outcome, times=counted.times)
        self.counted = Counted(counted.call, time.monotonic()) if counted.outcome.status == "ok" else None


@dataclass(frozen=True)
class ViewCall:
    """The call of that tool by the view, in that run."""

    view: OpenView
    run: Run
    server: ViewServer
    tool: GrantedTool
    arguments: Mapping[str, JsonValue]
    always: Callable[[str], Awaitable[None]]
    """Lets the tool be called without asking from now on, in the session."""

    async def answer(self) -> Json:
        """All that the tool returned. Raises `ToolError` where it was not called, or took too long."""
        self.view.made += 1
        tools = _ToolsOfView(self.run.toolset, self.server)
        run = replace(self.run, toolset=tools)
        call = ToolCall(call_id=new_id(), name=self.tool.spec.name, arguments=dict(self.arguments))
        last = self.view.counted
        if last and (last.call.name, last.call.arguments) == (call.name, call.arguments) and not self._asks:
            outcome = await self._again(run, last)
        else:
            self.view.tell_counted(run)
            outcome = await self._recorded(run, call)
        return await _answer(run, tools, outcome)

    @property
    def _asks(self) -> bool:
        return self.tool.policy == "ask" and self.tool.spec.name not in self.run.allowed | self.view.allowed

    async def _recorded(self, run: Run, call: ToolCall) -> Outcome:
        try:
            allowed = await self._decided(run, call)
            if isinstance(allowed, Outcome):
                returned(run, call, allowed)
                return allowed
            await begin_call(run, allowed.call, self.tool)
            outcome = await outcome_of(run, allowed.call, self.tool)
            parts = await offload_large_result(outcome.parts, run.artifacts, filename=whole_name(call.name))
        except asyncio.CancelledError:
            for pause in open_pauses(run.entries):
                if pause.call_id == call.call_id:
                    withdraw(run, pause)
            returned(run, call, Outcome.of("cancelled", GONE))
            raise
        returned(run, call, replace(outcome, parts=parts))
        self.view.tell_counted(run)  # what was made again while this one went on
        self.view.counted = Counted(allowed.call, time.monotonic()) if outcome.status == "ok" else None
        return outcome

    async def _decided(self, run: Run, call: ToolCall) -> Permitted | Outcome:
        """One question at a time: what is allowed by it may answer those that wait."""
        async with self.view.asking if self._asks else nullcontext():
            asked = self._asks
            tool = self.tool if asked else self.tool.model_copy(update={"policy": "auto"})
            allowed = await permitted(run, LeftCall(call), tool)
        if asked and isinstance(allowed, Permitted):
            if call.name in run.allowed:
                await self.always(call.name)
            if "model" not in self.tool.spec.callers:
                self.view.allowed.add(call.name)
        return allowed

    async def _again(self, run: Run, last: Counted) -> Outcome:
        """The same as before: counted, and told from time to time."""
        try:
            outcome = await outcome_of(run, last.call, self.tool)
        except asyncio.CancelledError:
            self._told(run, last.call, Outcome.of("cancelled", GONE))
            raise
        if self.view.counted is not last:  # told meanwhile, as another call came between
            self._told(run, last.call, outcome)
            return outcome
        last.outcome, last.times = outcome, last.times + 1
        if outcome.status != "ok" or time.monotonic() - last.told > COUNTED_SECONDS:
            self.view.tell_counted(run)
        return outcome

    def _told(self, run: Run, made: ToolCall, outcome: Outcome) -> None:
        """The call that was made and not counted, as one of its own."""
        call, label = made.model_copy(update={"call_id": new_id()}), run.toolset.label(made.name)
        digest = run.digest_now(self.tool)
        run.recorder.record(
            ToolCalled(call_id=call.call_id, name=call.name, arguments=call.arguments, tool=digest, label=label)
        )
        returned(run, call, outcome)


class _ToolsOfView:
    """The server's tools as a view calls them; `whole` is then all that the call returned."""

    def __init__(self, toolset: Toolset, server: ViewServer) -> None:
        self._toolset, self._server = toolset, server
        self.whole: Json = {}

    async def call(self, call: ToolCall, context: CallContext) -> ToolOutput:
        self.whole, output = await self._server.returned(call.name, call.arguments, context)
        return output

    def reads_outside(self, name: str) -> bool:  # noqa: ARG002  every server is outside
        return True

    def label(self, name: str) -> str:
        return self._server.label_of(name)

    def release(self) -> None:
        """The run's own toolset is released with it."""


async def saved_file(run: Run, name: str, content: bytes) -> ImagePart | FilePart:
    """The content as an artifact, told as a call that a person allowed. Raises `StorageError`."""
    part = await kept(run.artifacts, content, media_type=media_type_of(content, name), filename=name)
    call = ToolCall(call_id=new_id(), name=SAVE, arguments={"name": name})
    run.recorder.record(
        ToolCalled(call_id=call.call_id, name=SAVE, arguments=call.arguments, label="App › Save a file")
    )
    returned(run, call, Outcome("ok", (TextPart(text=f"Saved {name}"), part)))
    return part


async def _answer(run: Run, tools: _ToolsOfView, outcome: Outcome) -> Json:
    """For the view: all that was returned, without the secrets that the app knows."""
    if outcome.status not in ("ok", "error"):
        raise ToolError(outcome.text)
    if outcome.status == "error":
        return {"content": [{"type": "text", "text": outcome.text}], "isError": True}
    redactions = run.recorder.redactions
    return await asyncio.to_thread(_clean, tools.whole, redactions.read if redactions else None)


def _clean(whole: Json, redaction: "Redaction | None") -> Json:
    written = json.dumps(whole)
    if len(written) > LARGEST_RESULT:
        raise ToolError(f"The result has more than {LARGEST_RESULT // 1024} KiB, which an app is not given.")
    cleaned: Json = json.loads(redaction.text(written)) if redaction else whole
    return cleaned
