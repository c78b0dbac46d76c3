"""Looks after the process for as long as it lives: an hour of samples, and the last things that were slow."""

import asyncio
import shutil
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from app.domain.events import Entry, ModelCalled, ModelReturned
from app.domain.histograms import bucket_of, quantile_ms
from app.domain.values import now
from app.workbench.vitals.process_facts import open_files, own_memory

SAMPLES = 720
SAMPLE_SECONDS = 5.0
"""So that there is an hour of them."""
WATCHED_SECONDS, UNWATCHED_SECONDS = 0.1, 1.0
"""How often it is seen whether the event loop stood still: while somebody looks, and while nobody does."""
LOOK_SECONDS = 3.0
"""For how long a look counts as looking."""
STOP_MS = 100.0
SLOW_THINGS = 100
CALLS_KNOWN = 20
"""Answers of a model that have to be known before one is called slow."""
SLOW_CALL_MS = 1000.0

SlowKind = Literal["loop", "model", "request"]


@dataclass(frozen=True, slots=True)
class Sample:
    at: datetime
    stopped_ms: float
    """The longest time for which the event loop was seen to stand still since the sample before."""
    memory: int | None
    """Bytes. What this system does not say is `None`."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is told of now alone, and so is asked for only while somebody looks."""

    backlog: int
    """Lines of journals that wait to be written."""
    threads: int
    files: int | None
    """Open ones, sockets included."""
    sockets: int | None
    disk_free: int | None
    """Bytes, where the data folder is."""


@dataclass(frozen=True, slots=True)
class Slow:
    """One thing that took long."""

    at: datetime
    """When it was over."""
    kind: SlowKind
    what: str
    """The model or the address; nothing of the event loop, which does not say what held it up."""
    ms: float
    run_id: str = ""


class Vitals:
    def __init__(self, folder: Path, backlog: Callable[[], int]) -> None:
        self.samples: deque[Sample] = deque(maxlen=SAMPLES)
        self.facts: Facts | None = None
        """Of the newest sample, while somebody looks."""
        self.slow: deque[Slow] = deque(maxlen=SLOW_THINGS)
        """The newest last."""
        self._folder, self._backlog = folder, backlog
        self._calls: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self._timer: asyncio.TimerHandle | None = None
        self._sampling: asyncio.Task[None] | None = None
        self._due = self._next_sample = self._watched_until = 0.0
        self._longest = 0.0

    def start(self) -> None:
        """Begin to look, at the loop that runs."""
        if self._timer is None:
            self._wait(asyncio.get_running_loop())

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._sampling is not None:
            await asyncio.wait({self._sampling})

    def look(self) -> None:
        """Somebody looks now: for some seconds the event loop is watched closely, and all is asked of the system."""
        if not self._watched:
            self._next_sample = 0.0
        self._watched_until = time.monotonic() + LOOK_SECONDS

    @property
    def _watched(self) -> bool:
        return time.monotonic() < self._watched_until

    def take_run(self, run_id: str, entries: Iterable[Entry]) -> None:
        """Note the answers of models that took clearly longer than 99 of 100 of the same model since the app began."""
        asked: dict[str, str] = {}
        for entry in entries:
            match entry.event:
                case ModelCalled() as called:
                    asked[called.call_id] = called.model
                case ModelReturned() as returned if returned.call_id in asked:
                    self._take_call(asked[returned.call_id], returned.total_ms, entry.at, run_id)
                case _:
                    pass

    def slow_request(self, what: str, ms: float) -> None:
        """Note a request that was answered late."""
        self.slow.append(Slow(now(), "request", what, ms))

    def _take_call(self, model: str, ms: float, at: datetime, run_id: str) -> None:
        known = self._calls[model]
        usual = quantile_ms(known, 0.99) if known.total() >= CALLS_KNOWN else None
        if usual is not None and ms >= SLOW_CALL_MS and bucket_of(ms) > bucket_of(usual) + 1:
            self.slow.append(Slow(at, "model", model, ms, run_id))
        known[bucket_of(ms)] += 1

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        seconds = WATCHED_SECONDS if self._watched else UNWATCHED_SECONDS
        self._due = time.monotonic() + seconds
        self._timer = loop.call_later(seconds, self._tick, loop)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        moment = time.monotonic()
        stopped = max(0.0, (moment - self._due) * 1000)
        self._longest = max(self._longest, stopped)
        if stopped > STOP_MS:
            self.slow.append(Slow(now(), "loop", "", stopped))
        if moment >= self._next_sample and (self._sampling is None or self._sampling.done()):
            self._next_sample = moment + SAMPLE_SECONDS - WATCHED_SECONDS / 2
            self._sample(loop)
        self._wait(loop)

    def _sample(self, loop: asyncio.AbstractEventLoop) -> None:
        """While nobody looks that is one short file of the system: no thread, and no disk."""
        stopped, self._longest = self._longest, 0.0
        self.samples.append(Sample(now(), stopped, own_memory()))
        if self._watched:
            self._sampling = loop.create_task(self._look_closer(), name="facts of the process")
        else:
            self.facts = None

    async def _look_closer(self) -> None:
        self.facts = await asyncio.to_thread(self._facts)

    def _facts(self) -> Facts:
        files, sockets = open_files() or (None, None)
        try:
            disk_free = shutil.disk_usage(self._folder).free
        except OSError:  # gone for the moment; the next sample looks again
            disk_free = None
        return Facts(
            backlog=self._backlog(),
            threads=threading.active_count(),
            files=files,
            sockets=sockets,
            disk_free=disk_free,
        )
