"""How many runs others may start: so many a minute, and so many at once. The app's own pages are never held up."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from math import ceil

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.door.caller import Caller, caller_of
from app.api.door.refusals import Refusal
from app.domain.errors import WorkbenchError
from app.domain.provenance import Trigger

STARTS_RUNS = re.compile(
    r"POST (/api/v1/((agents|workflows)/[^/]+/run|chat|runs/[^/]+/(retry|resume|fork|nodes)|sessions/[^/]+/queue)"
    r"|/v1/(chat/completions|responses))"
)
LIMITS = "agent_playground.run_limits"
"""Where the limits leave themselves in the scope of a socket, whose messages may each start a run."""
AT_ONCE = 200
"""Runs that go on at a time for all who ask over the API."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one caller may start."""

    a_minute: int
    at_once: int
    waiting: int
    """Runs that wait for a person, which do nothing meanwhile but stay in memory."""


OF_A_KEY = Allowance(a_minute=600, at_once=100, waiting=1000)
OF_ANYONE = Allowance(a_minute=60, at_once=10, waiting=500)
"""For all together who show no key."""
OF_THE_OWNER = Allowance(a_minute=60_000, at_once=AT_ONCE, waiting=10_000)


@dataclass(slots=True)
class Bucket:
    """Leave to start runs: it fills up evenly, and a full one is a minute's worth at once."""

    left: float
    at: float

    def take(self, now: float, a_minute: int) -> float:
        """Take leave for one run: 0, or the seconds after which there will be some."""
        self.left = min(a_minute, self.left + (now - self.at) * a_minute / 60)
        self.at = now
        if self.left < 1:
            return (1 - self.left) * 60 / a_minute
        self.left -= 1
        return 0


class TooManyRuns(WorkbenchError):
    """A message would start a run too many."""

    code = "limit"


class RunLimits:
    """An ASGI app that passes requests on to `app`, but answers 429 in words to those that would start too many runs.

    `going_on` says who started the runs that go on, `waiting` those that wait for a person; `clock` gives seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        going_on: Callable[[], Sequence[Trigger]],
        waiting: Callable[[], Sequence[Trigger]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._going_on = going_on
        self._waiting = waiting
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}
        self._asking: Counter[str] = Counter()
        """Requests of each caller that have no answer yet and may have begun a run."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not STARTS_RUNS.fullmatch(f"{scope.get('method')} {scope['path']}"):
            await self._app({**scope, LIMITS: self}, receive, send)
            return
        request = HTTPConnection(scope)
        caller = caller_of(request)
        if refusal := self._refusal(caller):
            await refusal.response(request)(scope, receive, send)
            return
        with ExitStack() as place:
            place.enter_context(self._counted(caller))

            async def told(message: Message) -> None:
                if message["type"] == "http.response.start":
                    place.close()  # its run has begun, and counts by itself, also where a stream tells more of it
                await send(message)

            await self._app(scope, receive, told)

    @contextmanager
    def starting(self, caller: Caller) -> Iterator[None]:
        """Hold a place for a run of theirs until it has begun. Raises `TooManyRuns`, which says when to try again."""
        if refusal := self._refusal(caller):
            raise TooManyRuns(refusal.sentence)
        with self._counted(caller):
            yield

    @contextmanager
    def _counted(self, caller: Caller) -> Iterator[None]:
        self._asking[caller.id] += 1
        try:
            yield
        finally:
            self._asking[caller.id] -= 1

    def _refusal(self, caller: Caller) -> Refusal | None:
        allowance = OF_THE_OWNER if caller.owner else OF_A_KEY if caller.key else OF_ANYONE
        started, waiting = _over_the_api(self._going_on()), _over_the_api(self._waiting()).count(caller.trigger.who)
        # A run may outlive its request and a request may not have begun its run yet, so neither count is enough alone.
        own = max(self._asking[caller.id], started.count(caller.trigger.who))
        everybodys = max(self._asking.total(), len(started))
        if own >= allowance.at_once or everybodys >= AT_ONCE:
            going_on = own if own >= allowance.at_once else everybodys
            return _too_many(f"{going_on} runs are going on already. Try again when one of them has ended.", 1)
        if waiting >= allowance.waiting:
            sentence = f"{waiting:,} runs wait for a person already. Try again when somebody has decided on one."
            return _too_many(sentence, 60)
        bucket = self._buckets.setdefault(caller.id, Bucket(allowance.a_minute, self._clock()))
        if wait := bucket.take(self._clock(), allowance.a_minute):
            return _too_many(f"{allowance.a_minute} runs a minute is the most. Try again in {wait:.1f} s.", ceil(wait))
        return None


def starting_run(socket: HTTPConnection) -> AbstractContextManager[None]:
    """`RunLimits.starting` for who sends messages over that socket; without a door nobody is held up."""
    limits = socket.scope.get(LIMITS)
    return limits.starting(caller_of(socket)) if isinstance(limits, RunLimits) else nullcontext()


def _over_the_api(triggers: Sequence[Trigger]) -> list[tuple[str, str, str]]:
    """Who started each of those runs that were started over the API."""
    return [trigger.who for trigger in triggers if trigger.kind == "api_key"]


def _too_many(sentence: str, retry_after: int) -> Refusal:
    return Refusal(429, "limit", "Too many runs", sentence, retry_after)
