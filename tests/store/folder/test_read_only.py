"""A data folder that may only be looked at: of a newer app, or where nothing may be written."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.errors import StorageError
from app.domain.trace import RunFilter
from app.store.folder.folder import DataFolder
from app.store.folder.lock import LOCK_NAME, FolderLock
from app.store.journal.database import JournalDB
from tests.store.read_only import NEWER, RUN, SESSION, fingerprint, newer_folder

ROOT = Path(__file__).resolve().parents[3]


async def test_data_of_a_newer_app_is_read_and_nothing_of_it_changes(tmp_path: Path):
    path = newer_folder(tmp_path / "data")
    before = fingerprint(path)
    folder = DataFolder.open(path)
    assert f"newer Agent Playground (version 9.9, schema {NEWER}" in folder.read_only
    assert not folder.first_start and folder.aside != path
    assert "assistant" in {agent.slug for agent in folder.agents.all()}
    assert [row.run_id for row in folder.rows.find(RunFilter()).rows] == [RUN]
    assert folder.sessions.get(SESSION).runs == (RUN,)
    trace = await folder.traces.read(RUN)
    assert len(trace.entries) > 5 and "of a kind that this version does not know ('mood_changed')" in str(trace.damaged)
    await folder.provider_keys.ready()
    await folder.close()
    assert fingerprint(path) == before


WRITES: dict[str, Callable[[DataFolder], Awaitable[object]]] = {
    "agent": lambda folder: folder.agents.create(new_agent("Cook", PromptBehaviour(), taken_slugs=())),
    "session": lambda folder: folder.sessions.delete(SESSION),
    "row": lambda folder: folder.rows.delete([RUN]),
    "preferences": lambda folder: folder.preferences.save(folder.preferences.get()),
    "new run": lambda folder: folder.traces.create("r1", SESSION),
    "old run": lambda folder: folder.traces.reopen(RUN),
    "run removed": lambda folder: folder.traces.delete(RUN),
    "artifact": lambda folder: folder.artifacts.put(b"picture"),
    "backup": lambda folder: folder.backups.take(),
    "restore": lambda folder: folder.backups.restore("any.zip"),
    "key": lambda folder: folder.provider_keys.save("openai:key", "sk-0123456789abcdef"),
}


@pytest.mark.parametrize("name", WRITES)
async def test_every_write_is_refused_with_the_way_out(tmp_path: Path, name: str):
    path = newer_folder(tmp_path / "data")
    before = fingerprint(path)
    folder = DataFolder.open(path)
    with pytest.raises(StorageError, match=r"Nothing was changed.*Update the app, or start with --data"):
        await WRITES[name](folder)
    await folder.close()
    assert fingerprint(path) == before


async def test_a_copy_that_was_never_opened_gets_no_lock_and_no_folders(tmp_path: Path):
    path = newer_folder(tmp_path / "data")
    (path / LOCK_NAME).unlink()
    (path / "restore").mkdir()
    shutil.rmtree(path / "sessions")
    before = fingerprint(path)
    folder = DataFolder.open(path)
    assert folder.read_only
    await folder.close()
    assert fingerprint(path) == before


async def test_two_look_at_it_at_once_and_the_newer_app_may_open_it_meanwhile(tmp_path: Path):
    path = newer_folder(tmp_path / "data")
    first, second = DataFolder.open(path), DataFolder.open(path)
    assert first.aside != second.aside
    FolderLock.take(path).let_go()
    await asyncio.gather(first.close(), second.close())


async def test_what_is_kept_beside_the_data_is_gone_afterwards(tmp_path: Path):
    folder = DataFolder.open(newer_folder(tmp_path / "data"))
    aside = folder.aside
    assert aside.is_dir() and aside.stat().st_mode & 0o077 == 0
    await folder.close()
    assert not aside.exists()


def test_what_says_that_it_cannot_be_read_is_refused_in_words(tmp_path: Path):
    path = newer_folder(tmp_path / "data", reads_from=NEWER)
    before = fingerprint(path)
    with pytest.raises(StorageError, match=r"newer Agent Playground .version 9\.9"):
        DataFolder.open(path)
    assert fingerprint(path) == before


def test_a_format_without_one_table_that_is_known_is_refused_in_words(tmp_path: Path):
    database = JournalDB(tmp_path / "app.tdb")
    database.journal.commit([("schema", {1: {"number": NEWER}}), ("moods", {1: {}})])
    database.close()
    with pytest.raises(StorageError, match=f"newer Agent Playground .schema {NEWER}"):
        DataFolder.open(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["app.tdb"]


def test_a_file_in_a_form_that_nobody_knows_is_refused_and_left_alone(tmp_path: Path):
    (tmp_path / "app.tdb").write_bytes(b"SQLite format 3\0\nand so on\n")
    with pytest.raises(StorageError, match="holds nothing that this Agent Playground can read"):
        DataFolder.open(tmp_path)
    assert (tmp_path / "app.tdb").read_bytes() == b"SQLite format 3\0\nand so on\n"


LOOK = """
import asyncio, concurrent.futures.thread, os, sys
from pathlib import Path
import app.store.folder.read_only
from app.domain.errors import StorageError
from app.store.folder.folder import DataFolder

async def look(path):
    folder = DataFolder.open(path)
    print(len(folder.agents.all()), folder.read_only)
    try:
        await folder.artifacts.put(b"x")
    except StorageError as error:
        print(error)
    await folder.close()

if os.getuid() == 0:
    os.setuid(65534)
asyncio.run(look(Path(sys.argv[1])))
"""


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that stays open to others: pytest closes those of all its users whenever somebody starts it."""
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
@pytest.mark.parametrize("number", range(1, NEWER))
def test_a_copy_that_may_not_be_written_is_looked_at(open_place: Path, agents_of_release: int, number: int):
    """As nobody, because root may write everywhere; of an older app too."""
    path = newer_folder(open_place / "data")
    main = JournalDB(path / "app.tdb")
    main.journal.commit([("schema", {1: {"number": number}})])
    main.close()
    open_to_all(path)
    before = fingerprint(path)
    ran = subprocess.run([sys.executable, "-c", LOOK, str(path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    seen, refused = ran.stdout.splitlines()
    assert seen.startswith(f"{agents_of_release} {path} cannot be written: ")
    assert refused.startswith("Nothing was changed.") and "choose another with --data" in refused
    assert fingerprint(path) == before


@pytest.fixture
async def agents_of_release(tmp_path: Path) -> int:
    folder = DataFolder.open(newer_folder(tmp_path / "counted"))
    count = len(folder.agents.all())
    await folder.close()
    return count


def open_to_all(folder: Path) -> None:
    """To be read, not to be written."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for above in folder.parents:
        if above.stat().st_mode & 0o005 != 0o005:
            above.chmod(0o755)
