"""A data folder saved as a zip file and put back, also damaged, hostile, newer or in the middle of everything."""

import asyncio
import hashlib
import hmac
import json
import os
import shutil
import sys
import zipfile
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.errors import NotFound, StorageError
from app.store.folder.archive import MANIFEST, PARTS, SIGNATURE, is_safe, write_archive
from app.store.folder.backups import UNPACKING, Backups, put_back
from app.store.folder.folder import DataFolder
from app.store.folder.migrations import SCHEMA
from app.store.journal.database import JournalDB
from app.store.journal.disk import Disk
from tests.processor import at_work


async def with_cook(path: Path) -> DataFolder:
    """An open folder with an agent, a picture and a tool file."""
    folder = DataFolder.open(path)
    await folder.agents.create(new_agent("Cook", PromptBehaviour(), taken_slugs=()))
    await folder.artifacts.put(b"picture")
    (path / "tools").mkdir()
    (path / "tools" / "soup.py").write_text("def soup(): ...")
    (path / "provider-keys.json").write_text("secret")
    return folder


async def names(path: Path) -> list[str]:
    folder = DataFolder.open(path)
    found = [agent.name for agent in folder.agents.all()]
    assert folder.damaged == ()
    await folder.close()
    return found


async def test_a_backup_holds_the_data_and_no_key(tmp_path: Path):
    folder = await with_cook(tmp_path)
    backup = await folder.backups.take()
    digest = hashlib.sha256(b"picture").hexdigest()
    with zipfile.ZipFile(folder.backups.path(backup.name)) as archive:
        held = set(archive.namelist())
        manifest = json.loads(archive.read(MANIFEST))
    assert held == {"app.tdb", f"artifacts/{digest[:2]}/{digest}", "tools/soup.py", MANIFEST, SIGNATURE}
    assert manifest["schema_number"] == SCHEMA and set(manifest["files"]) == held - {MANIFEST, SIGNATURE}
    assert await folder.backups.all() == [backup]
    await folder.close()


def test_a_backup_takes_as_long_as_there_is_much_to_copy_and_no_longer(tmp_path: Path):
    taken = []
    for count in (300, 3000):
        folder = tmp_path / str(count)
        (folder / "runs").mkdir(parents=True)
        for number in range(count):
            (folder / "runs" / f"{number}.tdb").write_bytes(b"{}")
        with at_work() as work:
            write_archive(folder, folder / "backups" / "all.zip", SCHEMA)
        taken.append(work.seconds)
    assert taken[1] < 30 * taken[0], f"{taken[1]:.1f} s for ten times as many files as in {taken[0]:.1f} s"


async def test_what_was_restored_is_there_after_the_next_start_and_the_old_data_is_kept(tmp_path: Path):
    folder = await with_cook(tmp_path)
    backup = await folder.backups.take()
    await folder.agents.create(new_agent("Waiter", PromptBehaviour(), taken_slugs=()))
    (tmp_path / "tools" / "soup.py").write_text("changed")
    await folder.backups.restore(backup.name)
    assert folder.backups.waits and len(folder.agents.all()) == 2
    await folder.close()
    assert await names(tmp_path) == ["Cook"]
    assert (tmp_path / "tools" / "soup.py").read_text() == "def soup(): ..."
    assert (tmp_path / "provider-keys.json").read_text() == "secret"
    (kept,) = tmp_path.glob("before-restore-*")  # noqa: ASYNC240
    assert await names(kept) == ["Cook", "Waiter"] and (kept / "tools" / "soup.py").read_text() == "changed"
    assert not Backups(tmp_path, SCHEMA).waits


@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="such names are none there")
async def test_files_whose_names_no_other_system_takes_are_left_out_and_told(tmp_path: Path):
    folder = await with_cook(tmp_path)
    for name in ("notes: today.md", "Icon\r", "makefile", "Makefile", "end.", os.fsdecode(b"caf\xe9.py")):
        (tmp_path / "tools" / name).write_text("")
    backup = await folder.backups.take()
    out = ("tools/Icon\r", "tools/caf?.py", "tools/end.", "tools/makefile", "tools/notes: today.md")
    assert tuple(sorted(backup.left_out)) == out
    assert set((await folder.backups.restore(backup.name)).files) == {"app.tdb", "tools/Makefile", "tools/soup.py"} | {
        path.relative_to(tmp_path).as_posix() for path in (tmp_path / "artifacts").rglob("*") if path.is_file()
    }
    await folder.close()
    assert await names(tmp_path) == ["Cook"]


async def test_an_older_backup_of_this_folder_is_restored_without_them(tmp_path: Path):
    folder = await with_cook(tmp_path)
    taken = folder.backups.path((await folder.backups.take()).name)
    with zipfile.ZipFile(taken) as archive:
        held = {name: archive.read(name) for name in archive.namelist() if name not in (MANIFEST, SIGNATURE)}
    listed = archive_of(taken, held | {"tools/notes: today.md": b"x", "tools/Soup.py": b"y"})
    with pytest.raises(StorageError, match=r"it holds a file 'tools/notes: today\.md'"):
        folder.backups.check(listed)
    with zipfile.ZipFile(listed, "a") as archive:
        key = (tmp_path / "backup-key").read_bytes()
        archive.writestr(SIGNATURE, hmac.new(key, archive.read(MANIFEST), hashlib.sha256).hexdigest())
    assert set((await folder.backups.restore(listed.name)).files) == held.keys()
    await folder.close()


class LoggingDisk(Disk):
    """A disk that knows which files and folders were put on the medium."""

    def __init__(self) -> None:
        self.synced: set[Path] = set()

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        self.synced.add(Path(f"/proc/self/fd/{descriptor}").readlink())

    def sync_folder(self, folder: Path) -> None:
        super().sync_folder(folder)
        self.synced.add(folder)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors have no names here")
async def test_what_is_restored_is_on_the_medium_before_anything_refers_to_it(tmp_path: Path):
    folder, disk = await with_cook(tmp_path), LoggingDisk()
    backup = await folder.backups.take()
    await folder.close()
    manifest = await Backups(tmp_path, SCHEMA, disk).restore(backup.name)
    assert {tmp_path / UNPACKING / name for name in manifest.files} | {tmp_path} <= disk.synced
    disk.synced.clear()
    assert put_back(tmp_path, disk) in disk.synced and tmp_path in disk.synced


async def test_a_restore_that_nobody_wants_any_more_changes_nothing(tmp_path: Path):
    folder = await with_cook(tmp_path)
    backup = await folder.backups.take()
    await folder.agents.create(new_agent("Waiter", PromptBehaviour(), taken_slugs=()))
    await folder.backups.restore(backup.name)
    await folder.backups.give_up()
    await folder.close()
    assert await names(tmp_path) == ["Cook", "Waiter"]


async def prepared(data: Path) -> str:
    """A folder in which the next start would take the waiter away; the backup that does it."""
    folder = await with_cook(data)
    backup = await folder.backups.take()
    await folder.agents.create(new_agent("Waiter", PromptBehaviour(), taken_slugs=()))
    await folder.backups.restore(backup.name)
    await folder.close()
    return backup.name


def killed_removing(work: Callable[[], Coroutine[None, None, object]]) -> bool:
    """Do it in a process that dies when it would remove its second file; whether it came to that."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    removed: list[object] = []

    def die(event: str, what: object) -> None:
        if event == "os.remove":
            removed.append(what)
        if len(removed) == 2:
            os._exit(9)

    sys.addaudithook(die)
    asyncio.run(work())
    os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize("again", [False, True])
def test_what_a_kill_leaves_of_a_restore_that_is_not_wanted_any_more_is_put_back_by_no_start(
    again: bool, tmp_path: Path
):
    name = asyncio.run(prepared(tmp_path))
    backups = Backups(tmp_path, SCHEMA)
    assert killed_removing(lambda: backups.restore(name) if again else backups.give_up())
    assert asyncio.run(names(tmp_path)) == ["Cook", "Waiter"]
    assert not list(tmp_path.glob("*restore*"))


class Killed(Exception):
    pass


async def test_a_start_killed_anywhere_in_a_restore_is_gone_on_with(tmp_path: Path):
    """Every state that the moves of one restore go through is a beginning of another."""
    folder = await with_cook(tmp_path / "data")
    backup = await folder.backups.take()
    await folder.agents.create(new_agent("Waiter", PromptBehaviour(), taken_slugs=()))
    await folder.backups.restore(backup.name)
    await folder.close()
    data = tmp_path / "data"
    kept = data / (data / "restore" / "kept-as").read_text()
    kept.mkdir()
    for part in reversed(PARTS):
        (data / part).replace(kept / part) if (data / part).exists() else None
        copy = copied(data, tmp_path / f"{part}-away")
        assert await names(copy) == ["Cook"]
        (data / "restore" / part).replace(data / part)
        copy = copied(data, tmp_path / f"{part}-in-place")
        assert await names(copy) == ["Cook"]
        assert await names(copy / kept.name) == ["Cook", "Waiter"]
    assert put_back(data, Disk()) == kept


def copied(data: Path, target: Path) -> Path:
    shutil.copytree(data, target)
    return target


async def test_a_backup_taken_while_everything_is_written_opens_without_damage(tmp_path: Path):
    folder = DataFolder.open(tmp_path / "data")
    done = asyncio.Event()

    async def write() -> None:
        number = 0
        while not done.is_set():
            number += 1
            await folder.agents.create(new_agent(f"Cook {number}", PromptBehaviour(), taken_slugs=()))

    writing = asyncio.create_task(write())
    for _ in range(5):
        backup = await folder.backups.take()
        await folder.backups.restore(backup.name)
        folder_of_copy = tmp_path / f"copy-{backup.name}"
        (tmp_path / "data" / "restore").replace(folder_of_copy)
        found = await names(folder_of_copy)
        assert set(found) == {f"Cook {number + 1}" for number in range(len(found))}
    done.set()
    await writing
    await folder.close()


def archive_of(path: Path, contents: dict[str, bytes], **changes: object) -> Path:
    """A zip file with a manifest that fits the files, but for the changes."""
    listed = {name: {"size": len(text), "sha256": hashlib.sha256(text).hexdigest()} for name, text in contents.items()}
    said = {"format": 1, "schema_number": SCHEMA, "version": "9.9", "made_at": "", "files": listed} | changes
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(said))
        for name, text in contents.items():
            archive.writestr(name, text)
    return path


@pytest.fixture
def backups(tmp_path: Path) -> Backups:
    (tmp_path / "data" / "backups").mkdir(parents=True)
    return Backups(tmp_path / "data", SCHEMA)


def test_a_backup_of_a_newer_app_is_refused_in_words(backups: Backups, tmp_path: Path):
    newer = archive_of(tmp_path / "n.zip", {"app.tdb": b""}, schema_number=SCHEMA + 1)
    with pytest.raises(StorageError, match=r"“n.zip” holds data of a newer .*version 9.9.*Update the app"):
        backups.check(newer)
    with pytest.raises(StorageError, match=r"made by a newer Agent Playground"):
        backups.check(archive_of(tmp_path / "f.zip", {"app.tdb": b""}, format=2, files="of another shape"))


@pytest.mark.parametrize(
    "path",
    [
        *("../app.tdb", "/etc/passwd", "runs/../../x", "runs\\x", "C:/x", "runs/C:x", "token", "lock", "logs/x"),
        *("runs/x ", "runs/..", "runs/x.", "runs//x", "./app.tdb", "runs/\x00", "restore/x", "", "runs/a\nb"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(path: str, backups: Backups, tmp_path: Path):
    assert not is_safe(path)
    listed = {name: {"size": 0, "sha256": hashlib.sha256(b"").hexdigest()} for name in ("app.tdb", path)}
    hostile = archive_of(tmp_path / "h.zip", {"app.tdb": b""}, files=listed)
    with pytest.raises(StorageError, match="is no backup of Agent Playground: it holds a file"):
        backups.check(hostile)


def test_damage_is_told_in_words(backups: Backups, tmp_path: Path):
    (tmp_path / "x.zip").write_bytes(b"no zip")
    with pytest.raises(StorageError, match=r"“x.zip” is no zip file"):
        backups.check(tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with pytest.raises(StorageError, match=r"holds no manifest.json"):
        backups.check(tmp_path / "empty.zip")
    lying = {"app.tdb": {"size": 3, "sha256": "0" * 64}}
    with pytest.raises(StorageError, match=r"its file app.tdb is not the one that was copied"):
        backups.check(archive_of(tmp_path / "hash.zip", {"app.tdb": b"abc"}, files=lying))
    with pytest.raises(StorageError, match=r"its file app.tdb is not the one"):
        backups.check(archive_of(tmp_path / "bomb.zip", {"app.tdb": b"0" * 10_000_000}, files=lying))
    with pytest.raises(StorageError, match=r"its file runs/x.tdb cannot be read"):
        backups.check(archive_of(tmp_path / "gone.zip", {"app.tdb": b"abc"}, files=lying_about_another()))
    whole = archive_of(tmp_path / "flipped.zip", {"app.tdb": b"abc" * 1000})
    content = bytearray(whole.read_bytes())
    content[content.index(b"app.tdb") + 12] ^= 0xFF
    whole.write_bytes(content)
    with pytest.raises(StorageError, match="The backup is damaged"):
        backups.check(whole)


def lying_about_another() -> dict[str, object]:
    real = {"size": 3, "sha256": hashlib.sha256(b"abc").hexdigest()}
    return {"app.tdb": real, "runs/x.tdb": real}


async def test_what_was_refused_leaves_nothing_behind(backups: Backups, tmp_path: Path):
    with pytest.raises(StorageError, match="“This file” is no zip file"):
        await backups.receive(pieces_of(b"no zip"))
    lying = {"app.tdb": {"size": 3, "sha256": "0" * 64}}
    archive_of(tmp_path / "data" / "backups" / "bad.zip", {"app.tdb": b"abc"}, files=lying)
    with pytest.raises(StorageError):
        await backups.restore("bad.zip")
    assert sorted(path.name for path in (tmp_path / "data").rglob("*")) == ["backups", "bad.zip"]


async def test_names_that_are_no_backup_are_not_found(backups: Backups, tmp_path: Path):
    (tmp_path / "x.zip").write_bytes(b"")
    for name in ("../../x.zip", "x.zip", "..", "", "a/b.zip", ".zip"):
        with pytest.raises(NotFound):
            backups.path(name)


async def pieces_of(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 100):
        yield content[start : start + 100]


async def test_an_upload_that_is_a_backup_is_kept_under_a_name_of_ours(backups: Backups, tmp_path: Path):
    sent = archive_of(tmp_path / "mine.zip", {"app.tdb": b"", "runs/x.tdb": bytes(3_000_000)}).read_bytes()
    arrived = await backups.receive(pieces_of(sent))
    assert backups.path(arrived.name).read_bytes() == sent
    assert arrived.name.startswith("uploaded-") and [one.name for one in await backups.all()] == [arrived.name]
    await backups.remove(arrived.name)
    assert await backups.all() == []


async def test_uploads_of_one_moment_keep_each_a_name_of_its_own(backups: Backups, tmp_path: Path):
    sent = [archive_of(tmp_path / f"{n}.zip", {"app.tdb": b"", "runs/x.tdb": bytes(n)}).read_bytes() for n in range(8)]
    arrived = await asyncio.gather(*(backups.receive(pieces_of(one)) for one in sent))
    assert [backups.path(one.name).read_bytes() for one in arrived] == sent
    assert len(await backups.all()) == len(sent)


async def test_a_backup_from_before_a_migration_can_be_restored(tmp_path: Path):
    from app.store.folder.migrations import back_up

    await (await with_cook(tmp_path)).close()
    backup = back_up(tmp_path, SCHEMA)
    await Backups(tmp_path, SCHEMA).restore(backup.name)
    JournalDB(tmp_path / "app.tdb").table("agents").truncate()
    assert await names(tmp_path) == ["Cook"]
