import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.errors import NotFound, StorageError
from app.domain.events import FORMAT, Entry, RunStarted
from app.domain.messages import system_message, user_message
from app.domain.streaming import CallDelta, Draft, ReasoningDelta, TextDelta
from app.domain.tools import GrantedTool, ToolSpec
from app.store.journal.database import JournalDB
from app.store.journal.disk import Disk
from app.store.journal.frames import frame
from app.store.journal.writer import Writer
from app.store.runs.packing import PackedHistory, pack
from app.store.runs.run_trace import SHORT_HISTORY
from app.store.runs.traces import OPENING_ENTRIES, Traces
from tests.store.disks import TroubledDisk, full
from tests.traces import a_workflow_run, asked, call, called, finished, ran, returned, said, started, trace_of

SPEC = ToolSpec(name="calculator", description="Sums", parameters={"type": "object"})


def sum_run(run_id: str = "r1", *, asks: str = "What is 5 + 10?", big: int = 2**70) -> list[Entry]:
    add = call("c1", x=5, y=big)
    start = started(
        session_id="s1",
        system=system_message("Be brief."),
        tools=(GrantedTool(spec=SPEC, policy="ask"),),
        history=(user_message("Hello"), said("Hi!").message),
    )
    events = (start, asked(asks), called(), said("Let me see.", add), returned(), *ran(add, "15"), said("15"))
    return trace_of(*events, finished(), run_id=run_id)


class Store:
    """Traces in a folder, on a disk that may be in trouble."""

    def __init__(self, folder: Path, disk: Disk | None = None) -> None:
        self.folder = folder
        self.writer = Writer()
        self.traces = Traces(folder / "runs", folder / "sessions", self.writer, disk)

    def run_file(self, run_id: str = "r1") -> Path:
        return self.folder / "runs" / f"{run_id}.tdb"

    @property
    def session_file(self) -> Path:
        return self.folder / "sessions" / "s1.tdb"

    async def record(self, entries: list[Entry]) -> None:
        trace = await self.traces.create(entries[0].run_id, "s1")
        for entry in entries:
            trace.append(entry)
        await trace.close()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = Store(tmp_path)
    yield made
    made.writer.close()


async def test_a_trace_is_read_as_it_was_written(store: Store):
    await store.record(sum_run())
    stored = await store.traces.read("r1")
    assert (stored.entries, stored.draft, stored.damaged) == (sum_run(), Draft(), ())


async def test_what_a_run_knows_is_not_packed_a_second_time_while_the_loop_waits(store: Store):
    history = tuple(user_message(f"message {number}") for number in range(2 * SHORT_HISTORY))
    entries = trace_of(started(session_id="s1", history=history), asked("x"), finished())
    known = entries[0].event.history
    assert b'"history":["said before"]' in pack(entries[0], PackedHistory(known, ["said before"])).entry
    trace = await store.traces.create("r1", "s1")
    await trace.prepare(entries[0].event)
    for entry in entries:
        trace.append(entry)
    await trace.close()
    assert (await store.traces.read("r1")).entries == entries


async def test_messages_and_tools_are_stored_once_for_all_runs_of_a_session(store: Store):
    await store.record(sum_run("r1"))
    size = store.session_file.stat().st_size
    await store.record(sum_run("r2"))
    assert store.session_file.stat().st_size == size
    await store.record(sum_run("r3", asks="Something new"))
    assert store.session_file.read_text().count("Something new") == 1
    assert "Something new" not in store.run_file("r3").read_text()
    assert (await store.traces.read("r3")).entries == sum_run("r3", asks="Something new")


async def test_what_runs_of_a_session_share_is_read_once_for_those_read_one_after_the_other(store: Store):
    await store.record(sum_run())
    await store.record(sum_run("r2"))
    first, second = [(await store.traces.read(name)).entries[0].event for name in ("r1", "r2")]
    assert isinstance(first, RunStarted)
    assert isinstance(second, RunStarted)
    assert second.history[0] is first.history[0]
    await store.record(sum_run("r3", asks="What is 6 + 10?"))
    assert (await store.traces.read("r3")).entries == sum_run("r3", asks="What is 6 + 10?")


async def test_runs_of_one_session_may_be_written_at_the_same_time(store: Store):
    runs = [sum_run(f"r{number}", asks=f"Question {number}") for number in range(8)]
    await asyncio.gather(*(store.record(run) for run in runs))
    for run in runs:
        assert (await store.traces.read(run[0].run_id)).entries == run


async def test_live_text_is_there_until_its_message_lands(store: Store):
    entries = sum_run()
    trace = await store.traces.create("r1", "s1")
    for entry in entries[:3]:
        trace.append(entry)
    live = Draft()
    for piece in ("Let ", "me ", "see."):
        live.take(TextDelta(piece))
        live.take(ReasoningDelta("hm "))
        live.take(CallDelta("c1", "calculator", '{"x":'))
        trace.checkpoint(live)
        trace.checkpoint(live)
    await trace.flush()
    assert (await store.traces.read("r1")).draft == live
    trace.append(entries[3])
    await trace.flush()
    assert (await store.traces.read("r1")).draft == Draft()
    await trace.close()


async def test_a_checkpoint_writes_only_what_is_new(store: Store):
    trace = await store.traces.create("r1", "s1")
    trace.checkpoint(Draft(text="a" * 50_000))
    await trace.flush()
    size = store.run_file().stat().st_size
    trace.checkpoint(Draft(text="a" * 50_000 + "b"))
    await trace.close()
    assert store.run_file().stat().st_size - size < 100


async def test_a_draft_that_begins_anew_replaces_the_old_one(store: Store):
    trace = await store.traces.create("r1", "s1")
    for text in ("first", "", "second", "third"):
        trace.checkpoint(Draft(text=text))
    await trace.close()
    assert (await store.traces.read("r1")).draft == Draft(text="third")


async def test_a_run_goes_on_behind_its_last_entry(store: Store):
    entries = sum_run()
    trace = await store.traces.create("r1", "s1")
    for entry in entries[:3]:
        trace.append(entry)
    trace.checkpoint(Draft(text="Let me"))
    await trace.close()
    trace = await store.traces.reopen("r1")
    trace.append(entries[3])
    await trace.flush()
    assert (await store.traces.read("r1")).draft == Draft()
    for entry in entries[4:]:
        trace.append(entry)
    await trace.close()
    assert (await store.traces.read("r1")).entries == entries


async def test_a_run_that_is_not_there_is_named(store: Store):
    for run_id in ("nobody", "../../etc/passwd", "a/b", "x" * 100):
        with pytest.raises(NotFound, match=re.escape(run_id[:60])):
            await store.traces.read(run_id)
        with pytest.raises(NotFound):
            await store.traces.reopen(run_id)


async def test_a_deleted_trace_is_gone(store: Store):
    await store.record(sum_run())
    await store.traces.delete("r1")
    await store.traces.delete("r1")
    with pytest.raises(NotFound):
        await store.traces.read("r1")


async def test_a_damaged_record_is_told_and_the_rest_is_there(store: Store):
    await store.record(sum_run())
    path = store.run_file()
    path.write_text(path.read_text().replace('"ms":1.5', '"ms":9.5'))
    stored = await store.traces.read("r1")
    assert [entry.seq for entry in stored.entries] == [0, 1, 2, 3, 4, 5, 7, 8]
    assert len(stored.damaged) == 2
    assert "of r1.tdb is damaged" in stored.damaged[0]
    assert stored.damaged[1] == "Entry 6 is missing."


async def test_an_entry_of_a_kind_unknown_here_is_told_and_the_rest_is_there(store: Store):
    entries = sum_run()
    await store.record(entries)
    alien = {"run_id": "r1", "seq": 9, "at": "2026-01-02T03:04:05Z", "event": {"type": "teleported"}}
    with store.run_file().open("ab") as file:
        file.write(frame([("entries", {10: alien})]))
        file.write(frame([("entries", {11: {"seq": 10}})]))
    stored = await store.traces.read("r1")
    assert stored.entries == entries
    assert stored.damaged[0].startswith("Entry 9 cannot be read: it is a step of a kind that this version")
    assert stored.damaged[1] == "Entry 10 cannot be read: it holds no event."


async def test_a_lost_message_takes_only_its_own_entry_with_it(store: Store):
    await store.record(sum_run())
    text = store.session_file.read_text()
    lines = [line for line in text.splitlines(keepends=True) if "Let me see." not in line and "Hello" not in line]
    store.session_file.write_text("".join(lines))
    stored = await store.traces.read("r1")
    assert [entry.seq for entry in stored.entries] == [0, 1, 2, 4, 5, 6, 7, 8]
    begun = stored.entries[0].event
    assert begun.type == "run_started"
    assert [message.text for message in begun.history] == ["Hi!"]
    assert [sentence[:30] for sentence in stored.damaged] == [
        "Entry 0 is not whole: the mess",
        "Entry 3 cannot be read: the me",
        "Entry 3 is missing.",
    ]


async def test_the_head_of_a_run_may_be_lost_but_for_one_record(store: Store):
    await store.record(sum_run())
    lines = store.run_file().read_bytes().splitlines(keepends=True)
    store.run_file().write_bytes(b"".join(lines[1:]))
    assert (await store.traces.read("r1")).entries == sum_run()
    store.run_file().write_bytes(b"".join([lines[0], *lines[2:]]))
    assert (await store.traces.read("r1")).entries == sum_run()[1:]
    store.run_file().write_bytes(b"".join(lines[2:]))
    with pytest.raises(StorageError, match="head of run r1 is damaged"):
        await store.traces.reopen("r1")


async def test_a_trace_of_a_newer_app_is_read_as_far_as_it_is_known_and_not_gone_on_with(store: Store):
    await store.record(sum_run())
    database = JournalDB(store.run_file())
    table = database.table("entries")
    table.update({"event": {"type": "mood_changed", "mood": "good"}}, doc_ids=[5])
    table.update({"weather": "fair"}, doc_ids=[6])
    database.table("run").update({"format": FORMAT + 1})
    database.close()
    trace = await store.traces.read("r1")
    assert trace.entries == [*sum_run()[:4], *sum_run()[5:]]
    newer, unknown, gap = trace.damaged
    assert newer.startswith("This run was recorded by a newer Agent Playground (trace format 3")
    assert unknown == "Entry 4 cannot be read: it is a step of a kind that this version does not know ('mood_changed')."
    assert gap == "Entry 4 is missing."
    with pytest.raises(StorageError, match=r"newer Agent Playground .trace format 3"):
        await store.traces.reopen("r1")


async def test_a_workflow_is_stored_once_for_all_runs_of_its_session_and_older_apps_are_told(store: Store):
    for run_id in ("r1", "r2"):
        entries = [entry.model_copy(update={"run_id": run_id}) for entry in a_workflow_run()]
        await store.record(entries)
        assert (await store.traces.read(run_id)).entries == entries
    assert JournalDB(store.run_file()).table("run").all()[0]["format"] == 2
    assert store.session_file.read_text().count('"workflows",{') == 1


async def test_what_a_full_disk_refused_is_written_when_there_is_room_again(tmp_path: Path):
    disk = TroubledDisk("write", first=3, times=10**9, error=full, half=True)
    store, entries = Store(tmp_path, disk), sum_run()
    trace = await store.traces.create("r1", "s1")
    trace.append(entries[0])
    await trace.flush()
    for entry in entries[1:]:
        trace.append(entry)
        with pytest.raises(StorageError, match="no room"):
            await trace.flush()
    with pytest.raises(StorageError):
        await trace.close()
    assert [entry.seq for entry in (await store.traces.read("r1")).entries] == [0]
    disk.heal()
    await trace.flush()
    stored = await store.traces.read("r1")
    assert (stored.entries, stored.damaged) == (entries, ())
    await trace.close()
    store.writer.close()


@pytest.mark.parametrize("kinds", ["open", "write", "sync", "sync_folder", "write truncate", "write truncate open"])
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_trouble_at_any_call_loses_nothing_that_was_taken(tmp_path: Path, kinds: str, times: int):
    for first in range(1, 90):
        disk = TroubledDisk(*kinds.split(), first=first, times=times, half=True)
        store, entries = Store(tmp_path / str(first), disk), sum_run()
        trace = await store.traces.create("r1", "s1")
        for entry in entries:
            trace.append(entry)
            try:
                await trace.flush()
            except StorageError:
                held = (await store.traces.read("r1")).entries if store.run_file().exists() else []
                assert held == entries[: len(held)]
                continue
            assert (await store.traces.read("r1")).entries == entries[: entry.seq + 1]
        disk.heal()
        await trace.close()
        stored = await store.traces.read("r1")
        assert (stored.entries, stored.damaged) == (entries, ())
        store.writer.close()
        if disk.got_through:
            return
    pytest.fail("There was no end of trouble")


async def test_the_lines_of_the_session_are_durable_before_those_that_refer_to_them(tmp_path: Path):
    class Log(Disk):
        def __init__(self) -> None:
            self.names: dict[int, str] = {}
            self.calls: list[str] = []

        def open(self, path: Path, *, new: bool = False) -> int:
            descriptor = super().open(path, new=new)
            self.names[descriptor] = path.parent.name
            return descriptor

        def write(self, descriptor: int, content: memoryview, offset: int) -> int:
            self.calls.append(f"write {self.names[descriptor]}")
            return super().write(descriptor, content, offset)

        def sync(self, descriptor: int) -> None:
            self.calls.append(f"sync {self.names[descriptor]}")
            super().sync(descriptor)

    disk = Log()
    store = Store(tmp_path, disk)
    await store.record(sum_run())
    store.writer.close()
    assert disk.calls == ["write sessions", "sync sessions", "write runs", "sync runs"]


async def test_an_event_costs_the_same_however_long_the_history_is(store: Store):
    trace = await store.traces.create("r1", "s1")
    long_history = tuple(user_message(f"message {number}") for number in range(2000))
    trace.append(trace_of(started(session_id="s1", history=long_history))[0])
    await trace.flush()
    sizes = (store.run_file().stat().st_size, store.session_file.stat().st_size)
    trace.append(trace_of(started(), asked("short"))[1])
    await trace.close()
    grown = (store.run_file().stat().st_size - sizes[0], store.session_file.stat().st_size - sizes[1])
    assert max(grown) < 400


async def test_the_first_entries_of_a_long_trace_come_before_the_others(store: Store):
    entries = trace_of(started(session_id="s1"), *(said(f"thought {number} " * 9) for number in range(3000)))
    await store.record(entries)
    openings: list[list[Entry]] = []
    stored = await store.traces.read("r1", opening=openings.append)
    assert stored.entries == entries
    assert len(openings) == 1
    assert openings[0] == entries[: len(openings[0])]
    assert len(openings[0]) == OPENING_ENTRIES


async def test_a_short_trace_comes_at_once(store: Store):
    await store.record(sum_run())
    openings: list[list[Entry]] = []
    await store.traces.read("r1", opening=openings.append)
    assert openings == []
