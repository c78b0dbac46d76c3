"""The whole app on a disk that fills up: what cannot be done is told, nothing is lost, and it goes on with room."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app.domain.errors import StorageError
from app.domain.trace import RunFilter, conversation
from app.workbench import Workbench
from tests.store.disks import small_disk

SUM = "What is 5 + 10, then multiply by 3?"
NO_ROOM = "There is no room"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path, megabytes=4) as place:
        yield place


@pytest.fixture
async def workbench(disk: Path) -> AsyncIterator[Workbench]:
    opened = Workbench.open(disk / "data", demo_pace=0)
    await opened.start()
    yield opened
    (disk / "ballast").unlink(missing_ok=True)
    await opened.close()


def fill(disk: Path) -> None:
    """Until not one byte more is taken."""
    with (disk / "ballast").open("wb", buffering=0) as ballast:
        try:
            while ballast.write(bytes(4096)):
                pass
        except OSError:
            return


async def answered(workbench: Workbench) -> str:
    """A whole run in a session of its own; the id of that."""
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    live = await workbench.chat.send(session.id, SUM)
    await live.ended()
    assert live.status == "completed"
    return session.id


async def test_what_finds_no_room_is_told_and_goes_on_when_there_is_some(workbench: Workbench, disk: Path):
    first, second = await answered(workbench), await answered(workbench)
    backup = await workbench.data.backups.take()
    before = workbench.rows.find(RunFilter()).rows
    fill(disk)
    with pytest.raises(StorageError, match=NO_ROOM):
        for _ in range(500):  # a line or two may still fit
            await workbench.chat.send(first, SUM)
    with pytest.raises(StorageError, match=NO_ROOM):
        await workbench.data.backups.take()
    with pytest.raises(StorageError, match=NO_ROOM):
        await workbench.data.backups.restore(backup.name)
    with pytest.raises(StorageError, match=NO_ROOM):
        for _ in range(500):  # a line or two may still fit
            await workbench.retention.remove(workbench.retention.expired(days=0, runs=1))
            await workbench.rows.restore([row.run_id for row in before])
            await workbench.sessions.restore(first)
    assert not list((disk / "data").rglob("*.tmp")) and not (disk / "data" / "restore").exists()
    assert [one.name for one in await workbench.data.backups.all()] == [backup.name]
    assert [(await workbench.runs.trace(row.run_id)).damaged for row in before] == [(), ()]
    (disk / "ballast").unlink()
    await workbench.rows.restore([row.run_id for row in before])
    await workbench.sessions.restore(first)
    assert {row.run_id for row in before} <= {row.run_id for row in workbench.rows.find(RunFilter()).rows}
    await answered(workbench)
    assert (await workbench.data.backups.take()).name != backup.name
    await workbench.sessions.restore(second)
    assert workbench.data.damaged == ()


async def test_it_starts_on_a_full_disk_and_all_can_be_read(disk: Path):
    workbench = Workbench.open(disk / "data", demo_pace=0)
    await workbench.start()
    session = await answered(workbench)
    await workbench.close()
    fill(disk)
    again = Workbench.open(disk / "data", demo_pace=0)
    await again.start()
    [run_id] = again.sessions.get(session).runs
    assert "45" in conversation((await again.runs.trace(run_id)).entries)[-1].text
    await again.warm()
    await again.close()
    with pytest.raises(StorageError, match=NO_ROOM):
        new = Workbench.open(disk / "another")
        await new.close()
