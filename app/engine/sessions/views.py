"""Calls that the views of MCP Apps make: through the same gates as the model's, in a run below the one they belong to.

They never join the messages of that run: whatever becomes of it, a view that is open goes on. Their own run ends when
the view has been quiet for a while, and the next call begins another one.
"""

import asyncio
import json
import time
from collections.abc import Callable
from functools import partial

from app.domain.apps import AppContext, ViewOf
from app.domain.errors import ToolError
from app.domain.events import Event, Forked, PauseRequested, RunFinished, RunStarted, ToolReturned
from app.domain.messages import FilePart, ImagePart, user_message
from app.domain.provenance import Parent, Trigger
from app.domain.sessions import Session
from app.domain.tools import GrantedTool, ToolSpec
from app.domain.trace import RunFilter, open_pauses
from app.domain.values import new_id
from app.engine.ports import ViewServer
from app.engine.run.run import Run
from app.engine.run.stopwatch import Stopwatch
from app.engine.sessions.chat import Chat
from app.engine.sessions.view_calls import A_SECOND, Json, OpenView, ViewCall, saved_file

MOST_RUNS = 100
MOST_FORKS = 50
"""Of forks, that are looked at for where a view comes from."""
MOST_WAITING = 32
LARGEST_ARGUMENTS = 256 * 1024
"""Characters as JSON."""
QUIET_SECONDS = 20.0
"""After which the run that holds a view's calls ends."""
AT_MOST = 30 * 24 * 3600.0
"""Seconds that a run holds the calls of a view that is never quiet."""


class Views:
    def __init__(self, chat: Chat, server: Callable[[str], ViewServer | None], *, quiet: float = QUIET_SECONDS) -> None:
        """`server` gives the one that is called so now; `quiet` is in seconds."""
        self._chat, self._runs, self._server, self._quiet = chat, chat.runs, server, quiet
        self._open: dict[tuple[str, str], OpenView] = {}
        self._closed = False

    async def call(self, view: ViewOf, name: str, arguments: Json) -> Json:
        """All that the server's tool of that name returned. Cancelling it cancels the call.

        Raises `ToolError` where the view may not make it, or a person does not let it.
        """
        place = self._checked(view)
        if len(json.dumps(arguments)) > LARGEST_ARGUMENTS:
            raise ToolError(f"The arguments have more than {LARGEST_ARGUMENTS // 1024} KiB.")
        place.waiting += 1
        try:
            async with place.at_once:
                started, server = await self._started(view), self._served(view)
                if (spec := server.for_apps(name)) is None:
                    words = f"{view.server} has no tool {name[:100]!r} that its apps may call, or is not connected."
                    raise ToolError(words)
                tool = self._granted(place, started, spec)
                run = await self._running(view, place, started)
                always = partial(self._allow, started.session_id)
                work = ViewCall(place, run, server, tool, arguments, always).answer()
                task = asyncio.create_task(work, name=f"app calls {spec.name}")
                place.calls.add(task)
                task.add_done_callback(place.calls.discard)
                return await _result(task)
        finally:
            place.waiting -= 1
            place.moved.set()

    async def ask(self, view: ViewOf, method: str, params: Json) -> Json:
        """What the view's server answers to anything but a call. Raises `ToolError`."""
        place = self._checked(view)
        async with place.at_once:
            await self._started(view)
            return await self._served(view).asked(method, params)

    async def tell(self, view: ViewOf, text: str) -> None:
        """Keep what the view wants the model to know with the next message, in place of what it said before.

        Empty words take it back. Raises `ToolError`, `NotFound`.
        """
        self._checked(view)
        started = await self._started(view)
        said = (AppContext(**view.model_dump(), text=text),) if text.strip() else ()

        def told(session: Session) -> Session:
            others = (one for one in session.app_contexts if (one.run_id, one.call_id) != (view.run_id, view.call_id))
            return session.model_copy(update={"app_contexts": (*others, *said)})

        await self._chat.sessions.change(started.session_id, told)

    async def save(self, view: ViewOf, name: str, content: bytes) -> ImagePart | FilePart:
        """Keep a file that a person lets the view save, told in the run that holds its calls.

        Raises `ToolError`, `StorageError`.
        """
        place = self._checked(view)
        place.waiting += 1
        try:
            run = await self._running(view, place, await self._started(view))
            return await saved_file(run, name, content)
        finally:
            place.waiting -= 1
            place.moved.set()

    def asked(self, view: ViewOf) -> list[PauseRequested]:
        """What a person has to decide for the view now."""
        run = self._place(view).run
        return [one for one in open_pauses(run.entries) if run.control.expects(one.pause_id)] if run else []

    def made(self, view: ViewOf) -> tuple[int, str]:
        """How many calls the view made since the app was started, and the run that holds the last of them."""
        place = self._place(view)
        return place.made, place.last_run

    def runs_of(self, run_id: str, call_id: str) -> list[str]:
        """The newest runs that hold calls of the view which that call brought, the oldest of them first."""
        rows = self._runs.rows.find(RunFilter(parent=run_id), limit=MOST_RUNS).rows
        mine = (row for row in rows if row.trigger.kind == "app" and row.parent and row.parent.call_id == call_id)
        return [row.run_id for row in mine][::-1]

    async def is_of_here(self, view: ViewOf) -> bool:
        """Whether this copy of the app got the view from its server: not with a run that came from elsewhere.

        A fork has the calls of the run it was begun from, and where that is its record, its answers too.
        """
        run_id = view.run_id
        for _ in range(MOST_FORKS):
            entries, row = (await self._runs.trace(run_id)).entries, self._runs.rows.get(run_id)
            started = entries[0].event if entries else None
            if row is None or row.imported or not isinstance(started, RunStarted) or started.imported is not None:
                return False
            place = max((one.seq for one in entries if isinstance(one.event, Forked)), default=-1)
            if place < 0:
                return True
            forked = entries[place].event
            live = isinstance(forked, Forked) and view.tool not in forked.sources
            if live and any(_returned(one.event, view.call_id) for one in entries[place:]):
                return True
            run_id = forked.run_id if isinstance(forked, Forked) else ""
        return False

    async def close(self) -> None:
        """End the runs that hold calls of views: they never go on later."""
        self._closed = True
        places = list(self._open.values())
        for place in places:
            for task in place.calls:
                task.cancel()
            place.moved.set()
        for run in [place.run for place in places if place.run is not None]:
            await run.ended()

    def _place(self, view: ViewOf) -> OpenView:
        return self._open.setdefault((view.run_id, view.call_id), OpenView())

    def _checked(self, view: ViewOf) -> OpenView:
        """The view, which may ask one thing more now."""
        place, now = self._place(view), time.monotonic()
        if len(place.recent) == A_SECOND and now - place.recent[0] < 1:
            raise ToolError(f"The app asks more than {A_SECOND} times a second.")
        if place.waiting >= MOST_WAITING:
            raise ToolError(f"{MOST_WAITING} calls of the app wait already.")
        place.recent.append(now)
        return place

    async def _started(self, view: ViewOf) -> RunStarted:
        """How the run began that brought the view."""
        place = self._place(view)
        if place.started is not None and self._runs.rows.get(view.run_id) is not None:
            return place.started
        entries = (await self._runs.trace(view.run_id)).entries
        if not await self.is_of_here(view) or not isinstance(started := entries[0].event, RunStarted):
            raise ToolError("This app came with an imported run: it is shown as it was, and can call nothing here.")
        place.started = started
        return started

    def _served(self, view: ViewOf) -> ViewServer:
        if (server := self._server(view.server)) is None:
            raise ToolError(f"There is no MCP server {view.server!r} any more.")
        return server

    def _granted(self, place: OpenView, started: RunStarted, spec: ToolSpec) -> GrantedTool:
        """The tool under the policy that holds for the model; one that is for views only asks, once for each view."""
        session = self._chat.sessions.get(started.session_id)
        unasked = {*session.tools_allowed, *place.allowed}
        if {spec.name, spec.kit} & set(session.tools_off):
            raise ToolError(f"The tool {spec.name} is switched off in this session.")
        if "model" not in spec.callers:
            return GrantedTool(spec=spec, policy="auto" if spec.name in unasked else "ask")
        known = next((tool for tool in started.tools if tool.spec.name == spec.name), None)
        if known is None:
            raise ToolError(f"The agent has no tool {spec.name}, so its apps do not have it either.")
        if not self._chat.toolbox.specs((spec.name,)):
            raise ToolError(f"The tool {spec.name} is switched off.")
        return known.model_copy(update={"spec": spec, "policy": "auto" if spec.name in unasked else known.policy})

    async def _running(self, view: ViewOf, place: OpenView, started: RunStarted) -> Run:
        """The run that holds the view's calls."""
        async with place.beginning:
            if self._closed:
                raise ToolError("Agent Playground is being closed.")
            if place.run is None or place.run.control.stopped:
                place.counted = None
                place.run = await self._runs.unbroken(self._begun(view, place, started))
            return place.run

    async def _begun(self, view: ViewOf, place: OpenView, above: RunStarted) -> Run:
        session = await self._chat.new_session(above.agent.id, above.agent.variant or None, parent=view.run_id)
        started = RunStarted(
            session_id=session.id,
            agent=above.agent,
            model=above.model,
            limits=above.limits,
            tools=above.tools,
            trigger=Trigger(kind="app", name=view.server, traceparent=above.trigger.traceparent),
            purpose=above.purpose,
            parent=Parent.of(view.run_id, view.call_id, above=above.parent),
            depth=above.depth + 1,
        )
        run_id = place.last_run = new_id()
        words = user_message(f"Calls of the app of {view.tool}")
        run = await self._runs.start(
            started, words, origin="app", run_id=run_id, work=lambda run: self._hold(place, run)
        )
        await self._chat.sessions.change(session.id, lambda newest: newest.model_copy(update={"runs": (run_id,)}))
        return run

    async def _hold(self, place: OpenView, run: Run) -> None:
        """The work of the run: to be there until the view is quiet."""
        run.stopwatch = Stopwatch(AT_MOST)
        try:
            async with run.stopwatch.timer:
                try:
                    await self._quiet_at_last(place)
                finally:
                    await _end_calls(place)
                    place.tell_counted(run)
            run.recorder.record(RunFinished(status="completed"))
        finally:
            if place.run is run:
                place.run = None
            run.control.close()

    async def _quiet_at_last(self, place: OpenView) -> None:
        """Return when the view has asked nothing for a while, or the app is closed."""
        while not self._closed:
            place.moved.clear()
            try:
                async with asyncio.timeout(None if place.waiting else self._quiet):
                    await place.moved.wait()
            except TimeoutError:
                if place.waiting == 0:
                    place.run = None  # at once: a call that comes now begins another run
                    return

    async def _allow(self, session_id: str, name: str) -> None:
        """What a person let the view do always holds for the session that it is shown in."""

        def allow(session: Session) -> Session:
            return session.model_copy(update={"tools_allowed": tuple(dict.fromkeys((*session.tools_allowed, name)))})

        await self._chat.sessions.change(session_id, allow)


def _returned(event: Event, call_id: str) -> bool:
    return isinstance(event, ToolReturned) and event.call_id == call_id


async def _end_calls(place: OpenView) -> None:
    calls = list(place.calls)
    for task in calls:
        task.cancel()
    if calls:
        await asyncio.wait(calls)


async def _result(task: asyncio.Task[Json]) -> Json:
    """What the call gives; `ToolError` where it was not the caller who cancelled it."""
    try:
        return await task
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            raise
        raise ToolError("The call was stopped.") from None
