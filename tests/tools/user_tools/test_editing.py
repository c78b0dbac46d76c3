"""Files made, changed, renamed and deleted from a page."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from app.domain.errors import Conflict, NotFound, StorageError, TooLarge, WorkbenchError
from app.domain.tool_settings import TrustedFile
from app.domain.values import now
from app.store.journal.database import JournalDB
from app.store.records.tables import TrustedFiles
from app.tools.user_tools.editing import file_name
from app.tools.user_tools.folder import UserTools
from tests.tools.user_tools.conftest import Folder, returning


async def test_what_is_saved_is_usable_at_once_and_renaming_keeps_what_was_allowed(
    folder: Folder, trusted: TrustedFiles
) -> None:
    path = (await folder.add("a.py", returning("first"))).path
    await folder.tools.save("a.py", returning("saved"), expected=folder.tools.source("a.py"))
    await folder.tools.settled()
    assert await folder.call("word") == "saved"
    assert names_in(folder.tools.folder) == ["a.py"]
    await folder.tools.rename("a.py", "words/b")
    await folder.tools.settled()
    assert await folder.call("word") == "saved"
    assert trusted.find(str(path)) is None
    assert [file.name for file in folder.tools.files()] == ["words/b.py"]


class WhileMoving(TrustedFiles):
    """Looks at the folder while it is stored that a file goes by another path."""

    look: Callable[[], Coroutine[None, None, None]] | None = None

    async def save(self, value: TrustedFile) -> TrustedFile:
        if self.look:
            await asyncio.wait({asyncio.create_task(self.look())}, timeout=0.2)
        return await super().save(value)


async def test_a_renamed_file_may_run_whoever_looks_meanwhile(tmp_path: Path) -> None:
    trusted = WhileMoving(JournalDB(tmp_path / "app.tdb"))
    tools = UserTools(tmp_path / "tools", trusted)
    await tools.save("a.py", returning("x"), expected=None)
    await tools.trust("a.py")
    await tools.settled()
    trusted.look = tools.start
    await tools.rename("a.py", "b.py")
    await tools.settled()
    assert [(file.name, file.status) for file in tools.files()] == [("b.py", "ready")]
    await tools.close()


async def test_a_renamed_file_takes_over_nothing_that_was_allowed_under_its_new_name(
    folder: Folder, trusted: TrustedFiles
) -> None:
    await trusted.save(TrustedFile(path=str(folder.tools.folder / "b.py"), trusted_at=now()))
    await folder.tools.receive("a.py", returning("x"))
    await folder.tools.rename("a.py", "b.py")
    await folder.seen("b.py", "untrusted")


class Full(TrustedFiles):
    """Forgets nothing, as on a full disk."""

    async def delete(self, key: str) -> None:
        raise StorageError(f"{key} could not be forgotten.")


async def test_a_file_keeps_its_name_where_what_was_allowed_under_the_new_one_cannot_be_forgotten(
    tmp_path: Path, trusted: TrustedFiles
) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "a.py").write_text(returning("x"))
    await trusted.save(TrustedFile(path=str(tmp_path / "tools" / "b.py"), trusted_at=now()))
    tools = UserTools(tmp_path / "tools", Full(JournalDB(tmp_path / "app.tdb")))
    await tools.start()
    with pytest.raises(StorageError, match=r"b\.py could not be forgotten"):
        await tools.rename("a.py", "b.py")
    assert [path.name for path in tools.folder.iterdir()] == ["a.py"]
    await tools.close()


async def test_a_name_that_is_taken_costs_its_file_nothing_that_was_allowed(
    folder: Folder, trusted: TrustedFiles
) -> None:
    path = (await folder.add("b.py", returning("x"))).path
    await folder.tools.receive("a.py", returning("y"))
    with pytest.raises(Conflict, match=r"There is a file b\.py already"):
        await folder.tools.rename("a.py", "b.py")
    assert trusted.find(str(path))


async def test_a_file_that_is_given_the_name_it_has_stays_allowed(folder: Folder, trusted: TrustedFiles) -> None:
    path = (await folder.add("a.py", returning("x"))).path
    await folder.tools.rename("a.py", "a")
    assert trusted.find(str(path))


async def test_saving_over_the_change_of_another_program_is_refused(folder: Folder) -> None:
    path = folder.write("a.py", returning("first"))
    await folder.seen("a.py", "untrusted")
    opened = folder.tools.source("a.py")
    path.write_text("# of another program")
    with pytest.raises(Conflict, match=r"a\.py was changed by another program"):
        await folder.tools.save("a.py", returning("mine"), expected=opened)
    assert path.read_text() == "# of another program"
    path.unlink()
    with pytest.raises(Conflict, match=r"a\.py was deleted by another program"):
        await folder.tools.save("a.py", returning("mine"), expected=opened)
    await folder.tools.save("a.py", "# mine", expected=None)
    assert path.read_text() == "# mine"


async def test_line_ends_and_permissions_stay_as_they_were(folder: Folder) -> None:
    path = folder.tools.folder / "a.py"
    path.write_bytes(b"a = 1\r\nb = 2\r\n")
    path.chmod(0o640)
    await folder.seen("a.py", "untrusted")
    assert folder.tools.source("a.py") == "a = 1\nb = 2\n"
    await folder.tools.save("a.py", "a = 3\nb = 2\n", expected="a = 1\nb = 2\n")
    assert path.read_bytes() == b"a = 3\r\nb = 2\r\n" and path.stat().st_mode & 0o777 == 0o640


async def test_a_text_that_is_too_long_is_refused_and_nothing_is_lost(folder: Folder) -> None:
    folder.write("a.py", returning("first"))
    await folder.seen("a.py", "untrusted")
    with pytest.raises(TooLarge, match="1,000,000 bytes"):
        await folder.tools.save("a.py", "#" * 1_000_001, expected=None)
    assert folder.tools.source("a.py") == returning("first") and names_in(folder.tools.folder) == ["a.py"]


async def test_renaming_takes_no_name_that_is_taken(folder: Folder) -> None:
    for name in ("a.py", "taken.py"):
        folder.write(name, "")
        await folder.seen(name, "untrusted")
    with pytest.raises(Conflict, match=r"taken\.py already"):
        await folder.tools.rename("a.py", "taken")


async def test_a_deleted_file_is_asked_about_again(folder: Folder) -> None:
    path = folder.write("a.py", returning("x"))
    await folder.seen("a.py", "untrusted")
    await folder.tools.trust("a.py")
    await folder.tools.delete("a.py")
    assert folder.tools.files() == () and not path.exists()
    folder.write("a.py", returning("x"))
    await folder.seen("a.py", "untrusted")
    with pytest.raises(NotFound):
        await folder.tools.delete("b.py")


async def test_a_new_file_takes_no_name_that_is_taken(folder: Folder) -> None:
    assert (await folder.tools.new_file("orders/look up")).name == "orders/look up.py"
    with pytest.raises(Conflict, match="already"):
        await folder.tools.new_file("orders/look up.py")


@pytest.mark.parametrize(
    "name",
    ["", ".py", "_a", ".a", "../a", "/a", "a/../b", "a/b/c", "a\\b", "a\0", "con", "a\nb", "C:a", "é", "a" * 200],
)
def test_names_that_lead_elsewhere_or_nowhere_are_refused(name: str) -> None:
    with pytest.raises(WorkbenchError, match="cannot be called"):
        file_name(name)


async def test_a_folder_that_is_a_link_is_not_written_through(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (folder.tools.folder / "linked").symlink_to(tmp_path / "outside", target_is_directory=True)
    with pytest.raises(WorkbenchError, match="leads out of the tools folder"):
        await folder.tools.new_file("linked/a")
    assert names_in(tmp_path / "outside") == []


async def test_a_file_that_is_no_text_cannot_be_shown(folder: Folder) -> None:
    (folder.tools.folder / "a.py").write_bytes(b"\xff\xfe")
    await folder.seen("a.py", "broken")
    with pytest.raises(WorkbenchError, match="UTF-8"):
        folder.tools.source("a.py")


def names_in(folder: Path) -> list[str]:
    """Every file there, hidden ones too."""
    return [path.name for path in folder.iterdir()]
