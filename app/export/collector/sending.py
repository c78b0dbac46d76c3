"""Runs that ended, on their way to a collector: nothing waits for them, and none is lost where the app is killed.

The queue on disk holds the runs' ids; spans are made of the trace when they are sent, with the same ids each time.
"""

import asyncio
import logging
import random
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Protocol

from pydantic import JsonValue

from app.domain.collectors import Destination, UnsentRun
from app.domain.errors import NotFound, StorageError, WorkbenchError
from app.domain.values import new_id, now
from app.export.collector.content import without_content
from app.export.collector.posting import Receipt, post
from app.export.exports import Choice, Clean, Exports
from app.export.otel import spans_of, traces_data
from app.export.otel_values import Span, nanoseconds, span_id, trace_id

log = logging.getLogger(__name__)

MOST_UNSENT = 10_000
"""Runs; of more, the newest are not taken into the queue."""
LONGEST_PAUSE = 300.0
MOST_OBEYED = 3600.0
"""Seconds that a collector may ask to be left alone."""
_NO_FILES = Choice(attachments=False)


class UnsentStore(Protocol):
    def all(self) -> list[UnsentRun]:
        """The first that ended first."""
        ...

    async def save(self, value: UnsentRun) -> UnsentRun: ...

    async def delete(self, key: str) -> None: ...


class Sending:
    """`wanted` says where spans go now, and whether what was said goes along."""

    def __init__(
        self,
        unsent: UnsentStore,
        exports: Exports,
        is_there: Callable[[str], bool],
        wanted: Callable[[], Awaitable[tuple[Destination, bool] | None]],
        *,
        app: str,
        pause: float = 1.0,
    ) -> None:
        """`is_there` says whether a run is not deleted; `pause` is in seconds, after the first request that failed."""
        self._unsent, self._exports, self._is_there, self._wanted = unsent, exports, is_there, wanted
        self._app, self._pause = app, pause
        known = unsent.all()
        self._given_up = {one.run_id: one.given_up for one in known if one.given_up}
        self._waiting = deque(one.run_id for one in known if not one.given_up)
        self._working: asyncio.Task[None] | None = None
        self._keeping: set[asyncio.Task[None]] = set()
        self._awake = asyncio.Event()
        self.left_out = 0
        """Runs since the start that found the queue full, or the disk."""
        self.trouble = ""
        """Why the last request was in vain; empty where it was not."""

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def refused(self) -> Counter[str]:
        """How many runs were given up, by the reason."""
        return Counter(self._given_up.values())

    def take(self, run_id: str) -> None:
        """A run ended, all of which is stored: send it soon."""
        if len(self._waiting) + len(self._given_up) >= MOST_UNSENT:
            self.left_out += 1
            return
        task = asyncio.create_task(self._keep(run_id), name=f"note that run {run_id} is unsent")
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    def begin(self) -> None:
        """Send what waits, now; where that goes on already, without its pause."""
        self._awake.set()
        if self._waiting and (self._working is None or self._working.done()):
            # Whoever's run ended last is not the one who sends: what is known of a request ends here.
            self._working = asyncio.create_task(self._send_all(), name="send spans on", context=Context())

    async def again(self) -> None:
        """Try once more what was given up."""
        for run_id in list(self._given_up):
            if self._given_up.pop(run_id, None) is None:  # somebody else asked for it too
                continue
            self._waiting.append(run_id)
            await self._unsent.save(UnsentRun(run_id=run_id))
            if run_id not in self._waiting:  # forgotten meanwhile
                await self._drop(run_id)
        self.begin()

    async def forget(self) -> None:
        """Send nothing of what waits or was given up."""
        for run_id in [*self._waiting, *self._given_up]:
            await self._drop(run_id)
        self.trouble, self.left_out = "", 0

    async def test(self) -> Receipt:
        """What the collector says to a span that tells nothing."""
        if (wanted := await self._wanted()) is None:
            return Receipt("refused", "There is no address to send to.")
        return await post(_test_spans(self._app), wanted[0])

    async def close(self) -> None:
        """End the sending; what was not sent is sent after the next start."""
        if self._keeping:
            await asyncio.wait(self._keeping, timeout=1)
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait([self._working], timeout=1)

    async def _keep(self, run_id: str) -> None:
        try:
            await self._unsent.save(UnsentRun(run_id=run_id))
        except StorageError as problem:
            self.left_out += 1
            log.warning("Run %s will not be sent on: %s", run_id, problem)
            return
        self._waiting.append(run_id)
        if self._working is None or self._working.done():
            self.begin()

    async def _send_all(self) -> None:
        failures = 0
        while self._waiting and (wanted := await self._wanted()) is not None:
            run_id = self._waiting[0]
            receipt = await self._sent(run_id, *wanted)
            if run_id not in self._waiting:  # forgotten meanwhile
                continue
            self.trouble = receipt.words if receipt.outcome == "later" else ""
            if receipt.outcome == "later":
                failures += 1
                self._waiting.rotate(-1)  # one that no collector can take holds up no other
                await self._rest(failures, receipt.after)
                continue
            failures = 0
            await self._settle(run_id, receipt)

    async def _settle(self, run_id: str, receipt: Receipt) -> None:
        try:
            if receipt.outcome == "refused":
                await self._unsent.save(UnsentRun(run_id=run_id, given_up=receipt.words))
            if receipt.outcome == "taken" or run_id not in self._waiting:  # forgotten meanwhile
                await self._drop(run_id)
        except StorageError as problem:
            log.warning("What became of the spans of run %s could not be noted: %s", run_id, problem)
        if run_id not in self._waiting:
            return
        self._waiting.remove(run_id)
        if receipt.outcome == "refused":
            self._given_up[run_id] = receipt.words
            log.warning("The spans of run %s were not taken: %s", run_id, receipt.words)

    async def _drop(self, run_id: str) -> None:
        await self._unsent.delete(run_id)
        self._given_up.pop(run_id, None)
        if run_id in self._waiting:
            self._waiting.remove(run_id)

    async def _rest(self, failures: int, after: float) -> None:
        """Wait before the next try: longer each time, and never as long as others that failed at the same moment."""
        longest = min(self._pause * 2 ** min(failures - 1, 20), LONGEST_PAUSE)
        seconds = max(longest * random.uniform(0.5, 1.0), min(after, MOST_OBEYED))  # noqa: S311  no secret
        self._awake.clear()
        try:
            await asyncio.wait_for(self._awake.wait(), seconds)
        except TimeoutError:
            return

    async def _sent(self, run_id: str, to: Destination, content: bool) -> Receipt:
        try:
            if not self._is_there(run_id):
                return Receipt("taken")  # deleted: nobody is to have it any more
            return await post(await self._spans(run_id, content=content), to)
        except NotFound:
            return Receipt("taken")
        except WorkbenchError as problem:
            return Receipt("refused", f"It cannot be read: {problem}")
        except Exception:
            log.exception("The spans of run %s could not be made", run_id)
            return Receipt("refused", "Its spans could not be made; the log says why.")

    async def _spans(self, run_id: str, *, content: bool) -> dict[str, JsonValue]:
        clean = await self._exports.clean(run_id, _NO_FILES)
        return await asyncio.to_thread(_written, clean, content=content, app=self._app)


def _written(clean: Clean, *, content: bool, app: str) -> dict[str, JsonValue]:
    spans = spans_of(clean.entries, edits=clean.edits)
    return traces_data(spans if content else list(map(without_content, spans)), app=app)


def _test_spans(app: str) -> dict[str, JsonValue]:
    """One span with an id of its own, so that each test is seen."""
    at, this = nanoseconds(now()), new_id()
    ids: Span = {"traceId": trace_id(this), "spanId": span_id(this, "test")}
    times: Span = {"startTimeUnixNano": at, "endTimeUnixNano": at}
    return traces_data([{**ids, **times, "name": "test of Agent Playground", "kind": 1}], app=app)
