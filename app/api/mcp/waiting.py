"""Waits for a run for a client that may give up: it hears of each step, and is asked for leave where it may give it."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from app.api.door.access import as_of_now, may_only
from app.api.door.caller import Caller
from app.api.following.followed import FollowedRun
from app.api.following.run_replies import triggered_by
from app.api.mcp.changes import Context
from app.domain.errors import Conflict
from app.domain.events import Entry, Event, ModelCalled, NodeStarted, PauseRequested, ToolCalled
from app.domain.tools import JsonSchema
from app.domain.trace import open_pauses
from app.engine.run.run import Run
from app.workbench import Workbench

T = TypeVar("T")
APPROVAL = "approval"
CUT_OFF = frozenset({"claude-ai", "claude-desktop"})
"""Clients that give up after a minute, whatever they are told meanwhile:
https://github.com/anthropics/claude-code/issues/22542
"""
SHOWN_ARGUMENTS = 4_000
"""Characters."""
ALLOW: JsonSchema = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow it", "default": False}},
    "required": ["allow"],
}


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds."""

    wall: float = 45
    """After which a client that would give up is told to ask again."""
    beat: float = 10
    """After which a client that can be told hears that the run still goes on."""


@dataclass
class Waiting:
    """One call of a client, which waits for a run."""

    workbench: Workbench
    caller: Caller
    context: Context
    patience: Patience
    seconds: float | None = None
    """How long it wants to wait at most; `None` for as long as it can."""
    heard: int | None = None
    """So many entries of the run need not be told of; `None`: all that there are when the waiting begins."""
    _told: int = 0
    _began: float = field(default_factory=monotonic)

    async def until(self, live: FollowedRun) -> InputRequiredResult | None:
        """Return when the run has ended, or cannot be waited for any longer; else what the client has to be asked."""
        while not self._is_over and (pause := await self._next_pause(live)) is not None:
            if pause.reason != APPROVAL or not self._may_approve or not is_shown_whole(pause):
                return None
            if self.context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                asked = ElicitRequest(params=form_of(live, pause))
                return InputRequiredResult(input_requests={APPROVAL: asked}, request_state=state_of(live, pause))
            if not await self._asked(live, pause):
                return None
        return None

    async def decide(self, run_id: str, pause: PauseRequested, given: ElicitResult) -> Run | None:
        """What the person decided holds, unless it was decided elsewhere before: then `None`. Raises `Forbidden`."""
        may_only(as_of_now(self.workbench, self.caller), "approve", "decide what a run waits for")
        allowed = given.action == "accept" and (given.content or {}).get("allow") is True
        by = triggered_by(self.caller.trigger)
        try:
            live = await self.workbench.pauses.decide(
                run_id, pause.pause_id, "approve" if allowed else "deny", by=by, subject=pause.subject
            )
        except Conflict:
            return None
        await _resolved(live, pause)
        return live

    async def _next_pause(self, live: FollowedRun) -> PauseRequested | None:
        """The pause that it waits at; `None` when it has ended, or there is no more time."""
        async with _task(self._paused(live)) as paused:
            await self._either(paused)
            return paused.result() if paused.done() else None

    async def _paused(self, live: FollowedRun) -> PauseRequested | None:
        """Follow the run to where it waits or ends, and tell of its steps."""
        if self.heard is None:
            self.heard = len(live.entries)
        for entry in live.since(self.heard):
            await self._hear(entry)
        if waiting := open_pauses(live.entries):
            return self._first(waiting)
        async for entry in live.follow(self.heard):
            await self._hear(entry)
            if isinstance(entry.event, PauseRequested) and (waiting := open_pauses(live.entries)):
                return self._first(waiting)
        await live.ended()
        return None

    def _first(self, waiting: list[PauseRequested]) -> PauseRequested:
        return next((pause for pause in waiting if pause.reason == APPROVAL), waiting[0])

    async def _asked(self, live: FollowedRun, pause: PauseRequested) -> bool:
        """Ask the person at the client, while others may decide as well; whether the pause is over."""
        form = form_of(live, pause)
        asking = self.context.session.elicit_form(
            form.message, form.requested_schema, related_request_id=self.context.request_id
        )
        async with _task(asking) as answered, _task(_resolved(live, pause)) as resolved:
            await self._either(answered, resolved)
            if resolved.done():
                return True
            if not answered.done():
                return False
            try:
                given = answered.result()
            except MCPError:  # it said that it could ask, and cannot
                return False
            await self.decide(live.run_id, pause, given)
            return not _is_open(live, pause)

    async def _either(self, *awaited: "asyncio.Task[Any]") -> None:
        """Return when one of them is done, or there is no more time; the client hears now and then that it goes on."""
        while not any(one.done() for one in awaited) and (left := self._left) > 0:
            done, _ = await asyncio.wait(awaited, timeout=min(left, self.patience.beat), return_when="FIRST_COMPLETED")
            if not done:
                await self._tell(f"Still at work after {monotonic() - self._began:.0f} s")

    async def _hear(self, entry: Entry) -> None:
        self.heard = entry.seq + 1
        await self._tell(_words(entry.event))

    async def _tell(self, words: str) -> None:
        if words:
            self._told += 1
            await self.context.session.report_progress(self._told, message=words)

    @property
    def _left(self) -> float:
        """Seconds that it can still be waited."""
        wall = self.patience.wall if self._gives_up else float("inf")
        allowed = wall if self.seconds is None else min(wall, self.seconds)
        return allowed - (monotonic() - self._began)

    @property
    def _is_over(self) -> bool:
        return self._left <= 0

    @property
    def _gives_up(self) -> bool:
        client = self.context.session.client_params
        name = client.client_info.name if client else ""
        return name in CUT_OFF or not (self.context.meta or {}).get("progress_token")

    @property
    def _may_approve(self) -> bool:
        """Whether there is a person at the client, whom it can ask, and whose word counts."""
        able = self.context.session.client_capabilities
        asks = able.elicitation if able else None
        return asks is not None and (asks.form is not None or asks.url is None) and self.caller.may("approve")


def state_of(live: FollowedRun, pause: PauseRequested) -> str:
    """What the client brings back: ids alone, for it may bring anything."""
    return f"{live.run_id} {pause.pause_id}"


def form_of(live: FollowedRun, pause: PauseRequested) -> ElicitRequestFormParams:
    """The question whether the call may be made."""
    asked = f"{live.started.agent.name} wants to call {pause.label or pause.name}:\n{_written(pause)}"
    message = pause.question or asked
    return ElicitRequestFormParams(message=f"{message}\n\nAllow it?", requested_schema=ALLOW)


def is_shown_whole(pause: PauseRequested) -> bool:
    """Whether a client's form can show all that is decided on; what is longer is decided on in the app."""
    return len(_written(pause)) <= SHOWN_ARGUMENTS


def _written(pause: PauseRequested) -> str:
    return json.dumps(pause.arguments, ensure_ascii=False, indent=2)


async def _resolved(live: FollowedRun, pause: PauseRequested) -> None:
    """Return when the run does not wait for that any more, or is over."""
    if _is_open(live, pause):
        async for _ in live.follow(len(live.entries)):
            if not _is_open(live, pause):
                return


def _is_open(live: FollowedRun, pause: PauseRequested) -> bool:
    return any(one.pause_id == pause.pause_id for one in open_pauses(live.entries))


def _words(event: Event) -> str:
    match event:
        case ModelCalled(model=model, attempt=attempt):
            return f"Asks {model}" if attempt == 1 else f"Asks {model} again"
        case ToolCalled(name=name, label=label):
            return f"Calls {label or name}"
        case NodeStarted(node=node, attempt=attempt):
            return f"Runs {node}" if attempt == 1 else f"Runs {node} again"
        case _:
            return ""


@asynccontextmanager
async def _task(work: Coroutine[object, object, T]) -> AsyncIterator["asyncio.Task[T]"]:
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
