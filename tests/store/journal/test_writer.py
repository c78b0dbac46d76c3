import asyncio
import threading
import time
from pathlib import Path

import pytest

from app.domain.errors import StorageError
from app.store.journal.disk import Disk
from app.store.journal.logfile import LogFile
from app.store.journal.writer import LINGER, Channel, Writer
from tests.store.disks import TroubledDisk, broken
from tests.waiting import until


def channel(path: Path, writer: Writer, disk: Disk, *, after: Channel | None = None) -> Channel:
    return Channel(LogFile(path, disk, 0), writer, keeps=True, after=after)


class Counted(Disk):
    def __init__(self) -> None:
        self.syncs = 0

    def sync(self, descriptor: int) -> None:
        self.syncs += 1
        super().sync(descriptor)


class Ordered(Disk):
    """Keeps what was written, of all files in one."""

    def __init__(self) -> None:
        self.content = b""

    def write(self, descriptor: int, content: memoryview, offset: int) -> int:
        self.content += content
        return super().write(descriptor, content, offset)


async def test_lines_of_many_files_share_few_flushes(tmp_path: Path):
    writer, disk = Writer(), Counted()
    channels = [channel(tmp_path / str(number), writer, disk) for number in range(20)]
    for _ in range(50):
        for each in channels:
            each.put(b"line\n")
    await asyncio.gather(*(each.flush() for each in channels))
    assert all((tmp_path / str(number)).read_bytes() == b"line\n" * 50 for number in range(20))
    assert disk.syncs <= 20 * 4
    writer.close()


async def test_lines_are_written_soon_though_nobody_waits_for_them(tmp_path: Path):
    writer = Writer()
    channel(tmp_path / "x", writer, Disk()).put(b"line\n")
    await until(lambda: (tmp_path / "x").exists() and (tmp_path / "x").read_bytes() == b"line\n", pause=0.005)
    writer.close()


async def test_closing_writes_what_is_left(tmp_path: Path):
    writer = Writer()
    channel(tmp_path / "x", writer, Disk()).put(b"line\n")
    await asyncio.to_thread(writer.close)
    assert (tmp_path / "x").read_bytes() == b"line\n"


async def test_one_file_in_trouble_does_not_hold_up_the_others(tmp_path: Path):
    writer = Writer()
    sick = channel(tmp_path / "sick", writer, TroubledDisk("write", times=10**9))
    well = channel(tmp_path / "well", writer, Disk())
    for each in (sick, well):
        each.put(b"line\n")
    outcomes = await asyncio.gather(sick.flush(), well.flush(), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StorageError, type(None)]
    assert (tmp_path / "well").read_bytes() == b"line\n"
    with pytest.raises(StorageError, match="sick"):
        writer.close()


async def test_lines_wait_for_those_they_refer_to(tmp_path: Path):
    writer, disk = Writer(), TroubledDisk("sync", times=10**9, error=broken)
    before = channel(tmp_path / "before", writer, disk)
    after = channel(tmp_path / "after", writer, Disk(), after=before)
    before.put(b"first\n")
    after.put(b"second\n")
    with pytest.raises(StorageError, match="before"):
        await after.flush()
    later = channel(tmp_path / "later", writer, Disk(), after=before)
    later.put(b"third\n")
    other = channel(tmp_path / "other", writer, Disk())
    other.put(b"fourth\n")
    await other.flush()
    assert not (tmp_path / "after").exists()
    assert not (tmp_path / "later").exists()
    disk.heal()
    await asyncio.gather(after.flush(), later.flush())
    assert [(tmp_path / name).read_bytes() for name in ("before", "after", "later")] == [
        b"first\n",
        b"second\n",
        b"third\n",
    ]
    writer.close()


async def test_no_line_overtakes_one_it_refers_to_that_was_put_when_the_wait_for_others_ended(tmp_path: Path):
    for attempt in range(20):
        writer, order = Writer(), Ordered()
        before = channel(tmp_path / f"{attempt} before", writer, order)
        after = channel(tmp_path / f"{attempt} after", writer, order, after=before)
        after.put(b"refers to nothing\n")
        time.sleep(LINGER / 2)  # noqa: ASYNC251  the writer waits for others now
        with writer.lock:
            time.sleep(LINGER)  # noqa: ASYNC251  it has waited long enough, and cannot look before both are put
        before.put(b"first\n")
        after.put(b"second\n")
        await after.flush()
        assert order.content.index(b"first\n") < order.content.index(b"second\n")
        writer.close()


async def test_who_asks_first_is_told_first_though_the_disk_is_done_before_the_second_asks(tmp_path: Path):
    writer, told = Writer(), list[str]()
    one = channel(tmp_path / "x", writer, Disk())

    async def told_of(name: str) -> None:
        one.put(b"line\n")
        while name == "second" and not one.is_durable:
            time.sleep(0.001)  # noqa: ASYNC251  the loop is busy until the disk is done
        await one.flush()
        told.append(name)

    await asyncio.gather(told_of("first"), told_of("second"))
    assert told == ["first", "second"]
    writer.close()


async def test_a_flush_that_is_given_up_disturbs_nobody(tmp_path: Path):
    writer = Writer()
    one = channel(tmp_path / "x", writer, Disk())
    one.put(b"line\n")
    given_up = asyncio.create_task(one.flush())
    await asyncio.sleep(0)
    given_up.cancel()
    one.put(b"more\n")
    await one.flush()
    assert (tmp_path / "x").read_bytes() == b"line\nmore\n"
    writer.close()


class Slow(Disk):
    """Writes only once it may."""

    def __init__(self) -> None:
        self.writes, self.may_write = threading.Event(), threading.Event()

    def write(self, descriptor: int, content: memoryview, offset: int) -> int:
        self.writes.set()
        assert self.may_write.wait(30)
        return super().write(descriptor, content, offset)


def test_a_file_that_is_removed_while_it_is_written_to_is_gone(tmp_path: Path):
    writer, disk = Writer(), Slow()
    removed = channel(tmp_path / "removed", writer, disk)
    removed.put(b"line\n")
    assert disk.writes.wait(30)
    removed.forget(and_remove=True)
    disk.may_write.set()
    writer.close()
    assert not (tmp_path / "removed").exists()


async def test_the_thread_outlives_lines_that_are_forgotten_while_it_waits_for_others(tmp_path: Path):
    writer = Writer()
    given_up, kept = (channel(tmp_path / name, writer, Disk()) for name in ("given up", "kept"))
    given_up.put(b"line\n")
    time.sleep(LINGER / 2)  # noqa: ASYNC251  the writer waits for others now
    given_up.forget(and_remove=True)
    time.sleep(LINGER)  # noqa: ASYNC251  it has waited long enough
    kept.put(b"line\n")
    async with asyncio.timeout(30):
        await kept.flush()
    assert (tmp_path / "kept").read_bytes() == b"line\n"
    await until(lambda: not (tmp_path / "given up").exists())
    writer.close()


@pytest.mark.parametrize("wrote_before", [True, False])
async def test_a_line_that_comes_after_the_end_is_refused_and_not_waited_for(tmp_path: Path, wrote_before: bool):
    writer = Writer()
    dropping, keeping = Channel(LogFile(tmp_path / "x", Disk(), 0), writer), channel(tmp_path / "y", writer, Disk())
    if wrote_before:
        dropping.put(b"early\n")
    writer.close()
    with pytest.raises(StorageError, match="x is closed already"):
        dropping.put(b"late\n")
    keeping.put(b"late\n")
    async with asyncio.timeout(30):
        with pytest.raises(StorageError, match="y is closed already"):
            await keeping.flush()
