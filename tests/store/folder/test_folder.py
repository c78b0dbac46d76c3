"""Opening a data folder: the first time, again, in use, full, damaged, of an older app."""

import json
import os
import signal
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.errors import StorageError
from app.domain.trace import RunFilter
from app.store.folder.folder import DataFolder
from app.store.folder.lock import Announcement, FolderLock, read_announcement
from app.store.folder.migrations import migrate, migrate_in_memory, schema_of
from app.store.folder.read_only import ReadOnlyDisk
from app.store.journal.database import JournalDB
from app.store.journal.disk import Disk
from app.store.journal.frames import Changes
from app.store.journal.journal import JournalStorage
from tests.store.disks import CALLS, TroubledDisk, full, small_disk

ROOT = Path(__file__).resolve().parents[3]


async def test_it_is_the_first_start_until_something_was_stored(tmp_path: Path):
    for _ in range(2):
        first = DataFolder.open(tmp_path / "new" / "data")
        assert first.first_start
        await first.close()
    first = DataFolder.open(tmp_path / "new" / "data")
    cook = await first.agents.create(new_agent("Cook", PromptBehaviour(), taken_slugs=()))
    await first.close()
    again = DataFolder.open(tmp_path / "new" / "data")
    assert not again.first_start and again.agents.all() == [cook]
    await again.close()


async def test_what_was_stored_is_there_when_it_is_opened_again(tmp_path: Path):
    folder = DataFolder.open(tmp_path)
    cook = await folder.agents.create(new_agent("Cook", PromptBehaviour(), taken_slugs=()))
    digest = await folder.artifacts.put(b"picture")
    await folder.close()
    folder = DataFolder.open(tmp_path)
    assert (folder.agents.all(), await folder.artifacts.get(digest)) == ([cook], b"picture")
    assert folder.rows.find(RunFilter()).total == 0
    assert folder.damaged == ()
    await folder.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
async def test_everything_in_it_is_private(tmp_path: Path):
    folder = DataFolder.open(tmp_path / "data")
    await folder.agents.create(new_agent("Cook", PromptBehaviour(), taken_slugs=()))
    await folder.close()
    assert modes_in(tmp_path) == {
        "data": 0o700,
        "data/app.tdb": 0o600,
        "data/artifacts": 0o700,
        "data/lock": 0o600,
        "data/runs": 0o700,
        "data/sessions": 0o700,
    }


def modes_in(folder: Path) -> dict[str, int]:
    return {path.relative_to(folder).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}


async def test_a_folder_in_use_is_refused_until_it_is_closed(tmp_path: Path):
    folder = DataFolder.open(tmp_path)
    with pytest.raises(StorageError, match="is in use by another Agent Playground"):
        DataFolder.open(tmp_path)
    await folder.close()
    await DataFolder.open(tmp_path).close()


HOLD = "import sys; from pathlib import Path; from app.store.folder.lock import FolderLock; \
lock = FolderLock.take(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


async def test_a_killed_app_leaves_its_folder_free(tmp_path: Path, holder: subprocess.Popen[bytes]):
    with pytest.raises(StorageError, match="is in use"):
        DataFolder.open(tmp_path)
    holder.send_signal(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
    holder.wait()
    await DataFolder.open(tmp_path).close()


def test_the_lock_file_says_where_its_holder_is_reached(tmp_path: Path):
    assert read_announcement(tmp_path) is None
    lock = FolderLock.take(tmp_path)
    assert read_announcement(tmp_path) is None
    lock.announce(Announcement(pid=1, port=8765, token="a long token " * 20))
    said = Announcement(pid=2, port=8766, token="t")
    lock.announce(said)
    assert read_announcement(tmp_path) == said
    lock.release()
    assert read_announcement(tmp_path) is None
    lock.release()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a file that is always full")
def test_where_nobody_can_be_told_on_a_full_disk_the_app_runs_all_the_same():
    lock = FolderLock(os.open("/dev/full", os.O_RDWR))
    lock.announce(Announcement(pid=1, port=8765, token="t"))
    lock.release()


def test_a_file_is_no_data_folder(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="is a file"):
        DataFolder.open(tmp_path / "file")
    with pytest.raises(StorageError, match="file"):
        DataFolder.open(tmp_path / "file" / "below")


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_a_read_only_folder_is_refused_in_words(tmp_path: Path):
    """As nobody, because root may write everywhere."""
    folder = tmp_path / "data"
    (folder / "closed").mkdir(parents=True)
    (folder / "closed").chmod(0)
    folder.chmod(0o555)
    for above in (tmp_path, *tmp_path.parents):
        if above.stat().st_mode & 0o005 != 0o005:
            above.chmod(0o755)
    code = f"""
import os, sys
from pathlib import Path
from app.domain.errors import StorageError
from app.store.folder.folder import DataFolder
if os.getuid() == 0:
    os.setuid(65534)
for folder in (Path({str(folder)!r}), Path({str(folder / "below")!r}), Path({str(folder / "closed" / "data")!r})):
    try:
        DataFolder.open(folder)
    except StorageError as error:
        print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    words = ran.stdout.splitlines()
    assert len(words) == 3
    assert all(line.startswith(str(folder)) and "choose another with --data" in line for line in words)


async def test_opening_that_fails_at_any_call_leaves_a_folder_that_opens(tmp_path: Path):
    for first in range(1, 40):
        path = tmp_path / str(first)
        disk = TroubledDisk(*CALLS, first=first, error=full, half=True)
        try:
            await DataFolder.open(path, disk=disk).close()
        except StorageError as error:
            assert str(path.parent) in str(error)
        folder = DataFolder.open(path)
        assert (folder.agents.all(), folder.damaged) == ([], ())
        await folder.close()
        if disk.got_through:
            return
    pytest.fail("It never got through")


async def test_leftovers_of_a_killed_app_are_swept_away(tmp_path: Path):
    await DataFolder.open(tmp_path).close()
    leftovers = [tmp_path / "app.tdb.ab12.tmp", tmp_path / "artifacts" / "x.tmp"]
    for leftover in leftovers:
        leftover.write_bytes(b"half")
    await DataFolder.open(tmp_path).close()
    assert not any(leftover.exists() for leftover in leftovers)


async def test_a_damaged_schema_record_is_told_and_costs_nothing_else(tmp_path: Path):
    folder = DataFolder.open(tmp_path)
    cook = await folder.agents.create(new_agent("Cook", PromptBehaviour(), taken_slugs=()))
    await folder.close()
    path = tmp_path / "app.tdb"
    path.write_bytes(path.read_bytes().replace(b'["schema"', b'["scheme"'))
    folder = DataFolder.open(tmp_path)
    assert (folder.first_start, folder.agents.all(), len(folder.damaged)) == (False, [cook], 1)
    await folder.close()


def rename_notes(journal: JournalStorage) -> Changes:
    """From 1 to 2: `notes` are called `words`."""
    return [("words", dict(journal.table("notes"))), ("notes", None)]


def shout(journal: JournalStorage) -> Changes:
    """From 2 to 3: words are upper case."""
    words = journal.table("words").items()
    return [("words", {doc_id: {"text": str(document["text"]).upper()} for doc_id, document in words})]


STEPS = {1: rename_notes, 2: shout}


def old_folder(path: Path, disk: Disk | None = None) -> JournalDB:
    path.mkdir(parents=True, exist_ok=True)
    database = JournalDB(path / "app.tdb", disk=disk)
    database.journal.commit([("schema", {1: {"number": 1}}), ("notes", {1: {"text": "soup"}})])
    (path / "runs").mkdir()
    (path / "runs" / "r1.tdb").write_bytes(b"a trace")
    (path / "lock").write_bytes(b"held")
    return database


def test_a_migration_takes_every_step_after_a_backup(tmp_path: Path):
    database = old_folder(tmp_path)
    assert not migrate(database.journal, tmp_path, steps=STEPS, target=3)
    database.close()
    again = JournalDB(tmp_path / "app.tdb")
    assert (schema_of(again.journal), again.table("words").all()) == (3, [{"text": "SOUP"}])
    assert again.tables() == {"schema", "words"}
    (backup,) = (tmp_path / "backups").glob("*.zip")
    with zipfile.ZipFile(backup) as archive:
        assert sorted(archive.namelist()) == ["app.tdb", "manifest.json", "manifest.mac", "runs/r1.tdb"]
        archive.extractall(tmp_path / "restored")
    assert JournalDB(tmp_path / "restored" / "app.tdb").table("notes").all() == [{"text": "soup"}]


def test_a_migration_that_fails_anywhere_leaves_one_schema_or_the_next(tmp_path: Path):
    by_schema = {1: ("notes", "soup"), 2: ("words", "soup"), 3: ("words", "SOUP")}
    for first in range(1, 20):
        disk = TroubledDisk(*CALLS, first=10**9, half=True)
        database = old_folder(tmp_path / str(first), disk)
        disk.calls, disk.first = 0, first
        try:
            migrate(database.journal, tmp_path / str(first), steps=STEPS, target=3)
        except StorageError:
            assert not disk.got_through
        database.close()
        again = JournalDB(tmp_path / str(first) / "app.tdb")
        table, text = by_schema[schema_of(again.journal) or 0]
        assert again.table(table).all() == [{"text": text}]
        migrate(again.journal, tmp_path / str(first), steps=STEPS, target=3)
        assert again.table("words").all() == [{"text": "SOUP"}]
        if disk.got_through:
            return
    pytest.fail("It never got through")


def test_what_may_not_be_written_is_migrated_in_memory_alone(tmp_path: Path):
    old_folder(tmp_path).close()
    before = (tmp_path / "app.tdb").read_bytes()
    database = JournalDB(tmp_path / "app.tdb", disk=ReadOnlyDisk("It may not be written."))
    migrate_in_memory(database.journal, steps=STEPS, target=3)
    assert (schema_of(database.journal), database.table("words").all()) == (3, [{"text": "SOUP"}])
    assert database.tables() == {"schema", "words"} and (tmp_path / "app.tdb").read_bytes() == before
    assert not (tmp_path / "backups").exists()


def test_a_folder_up_to_date_is_not_backed_up(tmp_path: Path):
    database = old_folder(tmp_path)
    migrate(database.journal, tmp_path, steps=STEPS, target=1)
    assert not (tmp_path / "backups").exists()


FILL = """
import asyncio, json, resource, signal, sys
from pathlib import Path
from app.domain.agents import PromptBehaviour, new_agent
from app.domain.errors import StorageError
from app.store.folder.folder import DataFolder

async def fill(path):
    folder, stored, words = DataFolder.open(path), [], ""
    try:
        for number in range(10_000):
            made = new_agent(f"Agent {number}", PromptBehaviour(system_prompt="x" * 5000), taken_slugs=())
            await folder.agents.create(made)
            stored.append(made.slug)
    except StorageError as error:
        words = str(error)
    known = [agent.slug for agent in folder.agents.all()]
    await folder.close()
    print(json.dumps({"stored": sorted(stored), "known": sorted(known), "words": words}))

if sys.argv[2] == "limited":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
asyncio.run(fill(Path(sys.argv[1])))
"""


def filled_up(path: Path, how: str) -> None:
    ran = subprocess.run([sys.executable, "-c", FILL, str(path), how], cwd=ROOT, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    said = json.loads(ran.stdout)
    assert "There is no room left to write" in said["words"]
    assert len(said["stored"]) > 100
    assert said["known"] == said["stored"]
    agents = JournalDB(path / "app.tdb").table("agents").all()
    assert sorted(agent["value"]["slug"] for agent in agents) == said["stored"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on the size of files")
def test_a_file_that_may_not_grow_loses_nothing(tmp_path: Path):
    filled_up(tmp_path, "limited")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path, megabytes=1) as place:
        yield place


def test_a_full_disk_loses_nothing_and_is_gone_on_with(disk: Path):
    ballast = disk / "ballast"
    ballast.write_bytes(b"x" * 200_000)
    filled_up(disk / "data", "full")
    ballast.unlink()
    database = JournalDB(disk / "data" / "app.tdb")
    database.insert({"after": "room was made"})
    assert database.journal.damaged == ()
    database.close()
