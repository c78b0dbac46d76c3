"""One thread that writes all journals, in groups: whatever waits is written, then each touched file is synced once.

A channel is one journal file in the writer's hands. Lines are taken at once and written soon; `flush` waits until they
are durable. Where a write or a sync fails, a channel that `keeps` holds on to its lines and writes them again with the
next flush; one that does not drops them and tells its owner, who takes the changes back.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from app.domain.errors import StorageError
from app.store.journal.logfile import LogFile
from app.store.journal.trouble import in_words

LINGER = 0.02
"""Seconds that lines wait for others before they are written, when nobody waits for them."""

Rewrite = Callable[[LogFile], None]
"""Puts a smaller file of the same content in the place of the journal; runs on the writer's thread."""

Item = bytes | Rewrite

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Waiter:
    target: int
    """How many lines must be durable."""
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[None]


@dataclass(slots=True, eq=False)
class Channel:
    """One journal file in the writer's hands. Its fields belong to the writer; use its methods."""

    log: LogFile
    writer: "Writer"
    keeps: bool = False
    after: "Channel | None" = None
    """The channel whose lines must be durable before these, which refer to them."""
    pending: list[Item] = field(default_factory=list)
    taken: int = 0
    """Lines put so far."""
    durable: int = 0
    """Lines that are on the medium, the first so many of those put."""
    failure: StorageError | None = None
    waiters: list[_Waiter] = field(default_factory=list)
    leaving: bool = False
    """Whether the file is closed as soon as nothing waits to be written to it."""

    def put(self, item: Item) -> None:
        """Take a line to be written; raises the failure of a channel that does not keep its lines.

        A rewrite is done once the lines put so far are written.
        """
        self.writer.put(self, item)

    async def flush(self) -> None:
        """Return when all lines put so far are durable. Raises `StorageError`."""
        await self.flushing()

    def flushing(self) -> asyncio.Future[None]:
        """Have all lines put so far written now; done when they are durable, whatever is put from here on."""
        return self.writer.flushing(self)

    def recover(self) -> int:
        """Begin anew after a failure; returns how many of the lines put are durable, the others are dropped."""
        with self.writer.lock:
            self.failure = None
            self.taken = self.durable
            return self.durable

    @property
    def is_durable(self) -> bool:
        """Whether all lines put so far are on the medium."""
        return self.durable >= self.taken

    @property
    def ready(self) -> bool:
        """Whether its lines may be written: neither it nor the channel before it is waiting for a new try."""
        return self.failure is None and (self.after is None or self.after.failure is None)

    def fail(self, failure: StorageError) -> None:
        self.failure = failure
        if not self.keeps:
            self.pending.clear()

    def tell(self) -> None:
        """Wake those whose lines are durable, or all of them when something failed."""
        told = [waiter for waiter in self.waiters if self.failure is not None or waiter.target <= self.durable]
        self.waiters = [waiter for waiter in self.waiters if waiter not in told]
        for waiter in told:
            failure = None if waiter.target <= self.durable else self.failure
            with contextlib.suppress(RuntimeError):  # Its loop is closed: nobody waits any more.
                waiter.loop.call_soon_threadsafe(_resolve, waiter.future, failure)

    def let_go(self) -> None:
        """Have the file closed once all that was put is written, or cannot be for now."""
        self.writer.let_go(self)

    def forget(self, *, and_remove: bool) -> None:
        """Drop what is not on its way to the disk yet; `and_remove` the file behind what is."""
        self.writer.forget(self, and_remove=and_remove)


Taken = tuple[Channel, list[Item]]


def _resolve(future: asyncio.Future[None], failure: StorageError | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(None)
    else:
        future.set_exception(StorageError(str(failure)))


def _too_late(channel: Channel) -> StorageError:
    return StorageError(f"{channel.log.path} is closed already: what came after that was not stored.")


def _heard(told: asyncio.Future[None]) -> None:
    """It is no news to the log where nobody waits for it: the next flush tries it again, and says so."""
    if not told.cancelled():
        told.exception()


class Writer:
    """The writing thread. `start` is called by the first line, `close` writes what is left and ends it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._wake = threading.Condition(self.lock)
        self._waiting: dict[Channel, None] = {}
        """Channels that have something pending, in the order in which they got it."""
        self._writing: list[Taken] = []
        self._urgent = False
        self._lingering = False
        """Whether the thread waits for more lines: it need not be told of them."""
        self._closing = False
        self._ended = False
        """Whether the thread is gone, or never to come: nothing is written any more."""
        self._thread: threading.Thread | None = None

    @property
    def backlog(self) -> int:
        """Lines that wait to be written, of all journals."""
        with self.lock:
            return sum(len(channel.pending) for channel in self._waiting)

    def put(self, channel: Channel, item: Item) -> None:
        with self._wake:
            if self._ended:
                channel.fail(_too_late(channel))
            if channel.failure is not None and not channel.keeps:
                raise channel.failure
            channel.leaving = False
            channel.pending.append(item)
            channel.taken += isinstance(item, bytes)
            if channel not in self._waiting:
                self._waiting[channel] = None
                self._begin()
                if not self._lingering:
                    self._wake.notify()

    def flushing(self, channel: Channel) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        told: asyncio.Future[None] = loop.create_future()
        told.add_done_callback(_heard)
        with self._wake:
            if channel.failure is not None and not channel.keeps:
                _resolve(told, channel.failure)
                return told
            if channel.is_durable:
                loop.call_soon(_resolve, told, None)  # behind those who asked before and are being told
                return told
            if self._ended:
                _resolve(told, _too_late(channel))
                return told
            channel.waiters.append(_Waiter(channel.taken, loop, told))
            channel.failure = None
            if channel.after is not None:
                channel.after.failure = None
            self._urgent = True
            self._begin()
            self._wake.notify()
        return told

    def forget(self, channel: Channel, *, and_remove: bool) -> None:
        """Drop what was put and is not being written yet."""
        with self.lock:
            channel.pending.clear()
            self._waiting.pop(channel, None)
            if and_remove and self._is_written_to(channel):
                channel.pending.append(LogFile.remove)
                self._waiting[channel] = None
            elif and_remove:
                with contextlib.suppress(OSError):
                    channel.log.remove()

    def let_go(self, channel: Channel) -> None:
        """Close the channel's file when nothing is written to it any more."""
        with self.lock:
            channel.leaving = True
            self._close_left(channel)

    def close(self) -> None:
        """Write what is pending and end the thread. Raises `StorageError` where the disk did not take all of it."""
        with self._wake:
            self._closing, self._ended = True, self._thread is None
            for channel in self._waiting:
                channel.failure = None
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()
        for channel in self._waiting:
            raise channel.failure or StorageError(f"{channel.log.path} could not be written to its end.")

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="journal-writer", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while group := self._next_group():
            failures: dict[Channel, StorageError] = {}
            _write([taken for taken in group if taken[0].after is None], failures)
            _write([taken for taken in group if taken[0].after is not None], failures)
            self._settle(group, failures)

    def _next_group(self) -> list[Taken]:
        """What is to be written now; nothing when the writer is closed and all is written that can be."""
        with self._wake:
            while not self._writing:  # all of it may be forgotten while others are waited for
                while not self._ready():
                    if self._closing:
                        self._ended = True
                        return []
                    self._wake.wait()
                self._lingering = True
                self._wake.wait_for(lambda: self._urgent or self._closing, LINGER)
                self._urgent = self._lingering = False
                self._writing = [(channel, _take(channel.pending)) for channel in self._ready()]
            return self._writing

    def _ready(self) -> list[Channel]:
        """The channels to be written now. A wait lets others put lines: whom those refer to is known only behind it."""
        return [channel for channel in self._waiting if channel.ready]

    def _settle(self, group: list[Taken], failures: dict[Channel, StorageError]) -> None:
        """Say what became of a group, to the channels and to those who wait for them."""
        with self._wake:
            for channel, items in group:
                if (failure := failures.get(channel)) is None:
                    channel.durable += sum(isinstance(item, bytes) for item in items)
                else:
                    channel.pending[:0] = items
                    channel.fail(failure)
            self._writing = []
            for channel, _ in group:
                self._close_left(channel)
            for channel in self._waiting:
                if channel.failure is None and channel.after is not None and channel.after.failure is not None:
                    channel.fail(channel.after.failure)
                channel.tell()
            self._waiting = {channel: None for channel in self._waiting if channel.pending}

    def _close_left(self, channel: Channel) -> None:
        waits = channel.pending and channel.failure is None
        if channel.leaving and not waits and not self._is_written_to(channel):
            channel.log.close()

    def _is_written_to(self, channel: Channel) -> bool:
        """Whether the thread has taken lines of it and is not done with them."""
        return any(channel is taken for taken, _ in self._writing)


def _take(pending: list[Item]) -> list[Item]:
    """Take the lines up to the next rewrite, or that rewrite alone, out of what is pending."""
    end = next((place for place, item in enumerate(pending) if not isinstance(item, bytes)), len(pending)) or 1
    items, pending[:] = pending[:end], pending[end:]
    return items


def _write(group: list[Taken], failures: dict[Channel, StorageError]) -> None:
    """Write all, then sync each file once."""
    written = []
    for channel, items in group:
        if channel.after is not None and channel.after in failures:
            failures[channel] = failures[channel.after]
        elif _attempt(channel, partial(_write_items, channel.log, items), failures):
            written.append(channel)
    for channel in written:
        _attempt(channel, channel.log.sync, failures)


def _attempt(channel: Channel, step: Callable[[], None], failures: dict[Channel, StorageError]) -> bool:
    try:
        step()
    except OSError as error:
        failures[channel] = in_words(error, channel.log.path)
    except Exception as error:  # noqa: BLE001  # the thread must live on, and whoever waits must hear of it
        _log.exception("Writing %s failed", channel.log.path)
        failures[channel] = StorageError(f"{channel.log.path} could not be written: {error!r}. This is a bug.")
    return channel not in failures


def _write_items(log: LogFile, items: list[Item]) -> None:
    if lines := [item for item in items if isinstance(item, bytes)]:
        log.write(b"".join(lines))
    for item in items:
        if not isinstance(item, bytes):
            with contextlib.suppress(OSError):  # The journal is whole without it, only longer; it is tried again later.
                item(log)
