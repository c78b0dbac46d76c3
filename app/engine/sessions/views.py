"""Calls that the views of MCP Apps make: through the same gates as the model's, in a run below the one they belong to.

They never join the messages of that run: whatever becomes of it, a view that is open goes on. Their own run ends when
the view has been quiet for a while, and the next call begins another one.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.apps import AppContext, ViewOf
from app.domain.errors import ToolError
from app.domain.events import PauseRequested, RunFinished, RunStarted
from app.domain.messages import ToolCall, user_message
from app.domain.provenance import Parent, Trigger
from app.domain.sessions import Session
from app.domain.tools import CallContext, GrantedTool, ToolOutput, ToolSpec
from app.domain.trace import LeftCall, open_pauses
from app.domain.values import new_id
from app.engine.loop.asking_people import withdraw
from app.engine.loop.calling import begin_call, outcome_of, returned
from app.engine.loop.outcomes import Outcome
from app.engine.loop.permission import permitted
from app.engine.loop.results import offload_large_result
from app.engine.ports import Toolset, ViewServer
from app.engine.run.run import Run
from app.engine.run.stopwatch import Stopwatch
from app.engine.sessions.chat import Chat

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redaction

AT_ONCE = 4
"""Calls of one view that go on; others wait for their turn."""
MOST_WAITING = 32
A_SECOND = 20
LARGEST_ARGUMENTS = 256 * 1024
LARGEST_RESULT = 1024 * 1024
"""Characters as JSON."""
QUIET_SECONDS = 20.0
"""After which the run that holds a view's calls ends."""
COUNTED_SECONDS = 60.0
"""How long the same call made again and again is only counted before it is told again."""
AT_MOST = 30 * 24 * 3600.0
"""Seconds that a run holds the calls of a view that is never quiet."""
GONE = "The app was closed before this call was over."
Json = dict[str, JsonValue]


@dataclass
class _Counted:
    """The last call that went well, and how often it was made again with the same arguments."""

    call: ToolCall
    told: float
    outcome: Outcome | None = None
    times: int = 0


@dataclass(eq=False)
class _Open:
    """A view as long as this process runs: how much it asks, what it was allowed, and the run that holds its calls."""

    at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    beginning: asyncio.Lock = field(default_factory=asyncio.Lock)
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=A_SECOND))
    allowed: set[str] = field(default_factory=set)
    """Tools for views only that somebody let it call."""
    run: Run | None = None
    runs: list[str] = field(default_factory=list)
    calls: set[asyncio.Task[Json]] = field(default_factory=set)
    waiting: int = 0
    made: int = 0
    counted: _Counted | None = None
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by every call, and when the app ends."""


class Views:
    def __init__(
        self,
        chat: Chat,
        server: Callable[[str], ViewServer | None],
        *,
        quiet: float = QUIET_SECONDS,
    ) -> None:
        """`server` gives the one that is called so now; `quiet` is in seconds."""
        self._chat, self._runs, self._server, self._quiet = chat, chat.runs, server, quiet
        self._open: dict[tuple[str, str], _Open] = {}
        self._closed = False

    async def call(self, view: ViewOf, name: str, arguments: Json) -> Json:
        """All that the server's tool of that name returned. Cancelling it cancels the call.

        Raises `ToolError` where the view may not make it, or a person does not let it.
        """
        place = self._place(view)
        self._check_rate(place)
        if len(json.dumps(arguments)) > LARGEST_ARGUMENTS:
            raise ToolError(f"The arguments have more than {LARGEST_ARGUMENTS // 1024} KiB.")
        started = await self._started(view)
        server = self._served(view)
        if (spec := server.for_apps(name)) is None:
            raise ToolError(f"{view.server} has no tool {name[:100]!r} that its apps may call, or is not connected.")
        tool = self._granted(place, started, spec)
        place.waiting += 1
        try:
            async with place.at_once:
                run = await self._running(view, place, started)
                task = asyncio.create_task(self._called(place, run, server, tool, arguments))
                place.calls.add(task)
                task.add_done_callback(place.calls.discard)
                return await _result(task)
        finally:
            place.waiting -= 1
            place.moved.set()

    async def ask(self, view: ViewOf, method: str, params: Json) -> Json:
        """What the view's server answers to anything but a call. Raises `ToolError`."""
        self._check_rate(self._place(view))
        await self._started(view)
        return await self._served(view).asked(method, params)

    async def tell(self, view: ViewOf, text: str) -> None:
        """Keep what the view wants the model to know with the next message, in place of what it said before.

        Empty words take it back. Raises `WorkbenchError`.
        """
        self._check_rate(self._place(view))
        started = await self._started(view)
        context = AppContext(**view.model_dump(), text=text) if text.strip() else None

        def told(session: Session) -> Session:
            others = [one for one in session.app_contexts if (one.run_id, one.call_id) != (view.run_id, view.call_id)]
            return session.model_copy(update={"app_contexts": (*others, *([context] if context else []))})

        await self._chat.sessions.change(started.session_id, told)

    def asked(self, view: ViewOf) -> tuple[str, list[PauseRequested]]:
        """What a person has to decide for the view now, and the run that waits for that; no run where there is none."""
        place = self._open.get((view.run_id, view.call_id))
        if place is None or place.run is None:
            return "", []
        run = place.run
        return run.run_id, [one for one in open_pauses(run.entries) if run.control.expects(one.pause_id)]

    def made(self, view: ViewOf) -> int:
        """How many calls the view made since the app was started."""
        place = self._open.get((view.run_id, view.call_id))
        return place.made if place else 0

    async def close(self) -> None:
        """End the runs that hold calls of views, as they never go on later."""
        self._closed = True
        places = list(self._open.values())
        for place in places:
            for task in place.calls:
                task.cancel()
            place.moved.set()
        for run in [place.run for place in places if place.run is not None]:
            await run.ended()

    def _place(self, view: ViewOf) -> _Open:
        return self._open.setdefault((view.run_id, view.call_id), _Open())

    def _check_rate(self, place: _Open) -> None:
        now = time.monotonic()
        if len(place.recent) == A_SECOND and now - place.recent[0] < 1:
            raise ToolError(f"The app asks more than {A_SECOND} times a second.")
        if place.waiting >= MOST_WAITING:
            raise ToolError(f"{MOST_WAITING} calls of the app wait already.")
        place.recent.append(now)

    async def _started(self, view: ViewOf) -> RunStarted:
        """How the run began that brought the view."""
        trace = await self._runs.trace(view.run_id)
        started = trace.entries[0].event if trace.entries else None
        if not isinstance(started, RunStarted):
            raise ToolError("The run of this app cannot be read any more.")
        if started.imported is not None:
            raise ToolError("This app came with an imported run: it is shown as it was, and can call nothing here.")
        return started

    def _served(self, view: ViewOf) -> ViewServer:
        if (server := self._server(view.server)) is None:
            raise ToolError(f"There is no MCP server {view.server!r} any more.")
        return server

    def _granted(self, place: _Open, started: RunStarted, spec: ToolSpec) -> GrantedTool:
        """The tool under the policy that holds for the model; one that is for views only asks, once for each view."""
        session = self._chat.sessions.get(started.session_id)
        unasked = {*session.tools_allowed, *place.allowed}
        if "model" not in spec.callers:
            return GrantedTool(spec=spec, policy="auto" if spec.name in unasked else "ask")
        known = next((tool for tool in started.tools if tool.spec.name == spec.name), None)
        if known is None:
            raise ToolError(f"The agent has no tool {spec.name}, so its apps do not have it either.")
        off = {spec.name, spec.kit} & set(session.tools_off)
        if off or not self._chat.toolbox.specs((spec.name,)):
            raise ToolError(f"The tool {spec.name} is switched off.")
        return known.model_copy(update={"spec": spec, "policy": "auto" if spec.name in unasked else known.policy})

    async def _running(self, view: ViewOf, place: _Open, started: RunStarted) -> Run:
        """The run that holds the view's calls."""
        async with place.beginning:
            if self._closed:
                raise ToolError("The app is being closed.")
            if place.run is None or place.run.control.stopped or not place.run.alive:
                place.counted = None
                place.run = await self._runs.unbroken(self._begun(view, place, started))
            return place.run

    async def _begun(self, view: ViewOf, place: _Open, above: RunStarted) -> Run:
        session = await self._chat.new_session(above.agent.id, above.agent.variant or None, parent=view.run_id)
        started = RunStarted(
            session_id=session.id,
            agent=above.agent,
            model=above.model,
            limits=above.limits,
            tools=above.tools,
            trigger=Trigger(kind="app", name=view.server),
            purpose=above.purpose,
            parent=Parent(run_id=view.run_id, call_id=view.call_id),
            depth=above.depth + 1,
        )
        run_id = new_id()
        words = user_message(f"Calls of the app of {view.tool}")
        run = await self._runs.start(
            started, words, origin="app", run_id=run_id, work=lambda live: self._hold(place, live)
        )
        place.runs.append(run_id)
        await self._chat.sessions.change(session.id, lambda newest: newest.model_copy(update={"runs": (run_id,)}))
        return run

    async def _hold(self, place: _Open, run: Run) -> None:
        """The work of the run: to be there until the view is quiet."""
        run.stopwatch = Stopwatch(AT_MOST)
        try:
            async with run.stopwatch.timer:
                await self._quiet_at_last(place)
            await asyncio.gather(*place.calls, return_exceptions=True)
            _tell_counted(run, place)
            run.recorder.record(RunFinished(status="completed"))
        finally:
            for task in place.calls:
                task.cancel()
            if place.calls:
                await asyncio.wait(place.calls)
            if place.run is run:
                place.run = None
            run.control.close()

    async def _quiet_at_last(self, place: _Open) -> None:
        """Return when the view has asked nothing for a while, or the app is closed."""
        while not self._closed:
            place.moved.clear()
            try:
                async with asyncio.timeout(None if place.waiting else self._quiet):
                    await place.moved.wait()
            except TimeoutError:
                if place.waiting == 0:
                    return

    async def _called(
        self, place: _Open, run: Run, server: ViewServer, tool: GrantedTool, arguments: Mapping[str, JsonValue]
    ) -> Json:
        place.made += 1
        call = ToolCall(call_id=new_id(), name=tool.spec.name, arguments=dict(arguments))
        asks = tool.policy == "ask" and tool.spec.name not in run.allowed
        if not asks and (counted := _same(place, call)) is not None:
            return await self._called_again(place, run, server, counted, tool)
        _tell_counted(run, place)
        toolset = _ToolsOfView(run.toolset, server)
        try:
            allowed = await permitted(run, LeftCall(call), tool)
            if isinstance(allowed, Outcome):
                returned(run, call, allowed)
                raise ToolError(allowed.text)
            await self._note_allowed(place, run, tool, asked=asks)
            await begin_call(run, allowed.call, tool)
            outcome = await outcome_of(_with_tools(run, toolset), allowed.call, tool)
            parts = await offload_large_result(outcome.parts, run.artifacts, filename=f"{call.name}-result.txt")
        except asyncio.CancelledError:
            for pause in open_pauses(run.entries):
                if pause.call_id == call.call_id:
                    withdraw(run, pause)
            returned(run, call, Outcome.of("cancelled", GONE))
            raise
        returned(run, call, replace(outcome, parts=parts))
        if outcome.status == "ok":
            place.counted = _Counted(allowed.call, time.monotonic())
        return await _answer(run, toolset, outcome)

    async def _called_again(
        self, place: _Open, run: Run, server: ViewServer, counted: _Counted, tool: GrantedTool
    ) -> Json:
        """The same as before: counted, and told from time to time."""
        toolset = _ToolsOfView(run.toolset, server)
        counted.outcome = await outcome_of(_with_tools(run, toolset), counted.call, tool)
        counted.times += 1
        if counted.outcome.status != "ok" or time.monotonic() - counted.told > COUNTED_SECONDS:
            _tell_counted(run, place)
        return await _answer(run, toolset, counted.outcome)

    async def _note_allowed(self, place: _Open, run: Run, tool: GrantedTool, *, asked: bool) -> None:
        """What a person let it do holds for the view; what they let it do always, for its session."""
        name, above = tool.spec.name, run.started.parent
        if asked and "model" not in tool.spec.callers:
            place.allowed.add(name)
        if not asked or name not in run.allowed or above is None or (row := self._runs.rows.get(above.run_id)) is None:
            return
        place.allowed.add(name)

        def allow(session: Session) -> Session:
            return session.model_copy(update={"tools_allowed": tuple(dict.fromkeys((*session.tools_allowed, name)))})

        await self._chat.sessions.change(row.session_id, allow)


async def _result(task: asyncio.Task[Json]) -> Json:
    """What the call gives; `ToolError` where it was not the caller who cancelled it."""
    try:
        return await task
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            raise
        raise ToolError("The call was stopped.") from None


def _same(place: _Open, call: ToolCall) -> _Counted | None:
    """The last call, if this is the same again."""
    last = place.counted
    same = last is not None and (last.call.name, last.call.arguments) == (call.name, call.arguments)
    return last if same else None


def _tell_counted(run: Run, place: _Open) -> None:
    """Put into the trace how often the last call was made again."""
    counted = place.counted
    if counted is None or counted.outcome is None or counted.times == 0:
        return
    call = counted.call.model_copy(update={"call_id": new_id()})
    returned(run, call, counted.outcome, times=counted.times)
    place.counted = _Counted(counted.call, time.monotonic()) if counted.outcome.status == "ok" else None


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
        return self._toolset.label(name)

    def release(self) -> None:
        """The run's own toolset is released with it."""


def _with_tools(run: Run, toolset: _ToolsOfView) -> Run:
    return replace(run, toolset=toolset)


async def _answer(run: Run, toolset: _ToolsOfView, outcome: Outcome) -> Json:
    """For the view: all that was returned, without the secrets that the app knows."""
    if outcome.status not in ("ok", "error"):
        raise ToolError(outcome.text)
    if outcome.status == "error":
        return {"content": [{"type": "text", "text": outcome.text}], "isError": True}
    redactions = run.recorder.redactions
    return await asyncio.to_thread(_clean, toolset.whole, redactions.read if redactions else None)


def _clean(whole: Json, redaction: "Redaction | None") -> Json:
    written = json.dumps(whole)
    if len(written) > LARGEST_RESULT:
        raise ToolError(f"The result has more than {LARGEST_RESULT // 1024} KiB, which an app is not given.")
    cleaned: Json = json.loads(redaction.text(written)) if redaction else whole
    return cleaned
