"""Nothing of a file runs before its owner allowed it."""

import sys
from pathlib import Path

import pytest

from app.domain.errors import NotFound, ToolError, WorkbenchError
from app.domain.tool_settings import TrustedFile
from app.domain.tools import ToolOutput
from app.domain.values import now
from app.store.journal.database import JournalDB
from app.store.records.tables import TrustedFiles
from app.tools.user_tools.folder import UserTools
from tests.processes import alive
from tests.tools.context import Context
from tests.tools.user_tools.conftest import Folder, returning, until


def leaving_a_mark(mark: Path) -> str:
    return f"from pathlib import Path\nPath({str(mark)!r}).touch()\n{returning('x')}"


async def test_a_new_file_is_shown_but_does_not_run(folder: Folder, tmp_path: Path) -> None:
    folder.write("a.py", leaving_a_mark(tmp_path / "ran"))
    file = await folder.seen("a.py", "untrusted")
    assert [(tool.name, tool.description, tool.line) for tool in file.preview] == [("word", "Say a word.", 3)]
    assert file.tools == () and folder.tools.tools() == {}
    await folder.tools.reload("a.py")
    await folder.tools.settled()
    assert not (tmp_path / "ran").exists()
    await folder.tools.trust("a.py")
    await folder.has("word")
    assert (tmp_path / "ran").exists()


async def test_trust_lasts_over_starts(tmp_path: Path, trusted: TrustedFiles) -> None:
    path = tmp_path / "a.py"
    path.write_text(returning("x"))
    await trusted.save(TrustedFile(path=str(path), trusted_at=now()))
    tools = UserTools(tmp_path, trusted)
    await tools.start()
    await tools.settled()
    assert list(tools.tools()) == ["word"]
    await tools.close()


async def test_a_file_that_is_no_longer_trusted_ends_at_once(folder: Folder) -> None:
    await folder.add("a.py", returning("x"))
    tool, release = folder.tools.tools()["word"], folder.tools.hold()
    await folder.tools.distrust("a.py")
    assert folder.tools.tools() == {}
    await folder.seen("a.py", "untrusted")
    with pytest.raises(ToolError):
        await tool.run({}, Context())
    release()
    folder.write("a.py", returning("y"))
    folder.write("b.py", "")
    await folder.seen("b.py", "untrusted")
    assert folder.tools.tools() == {}


async def test_older_versions_of_a_file_that_is_no_longer_trusted_end_too(folder: Folder) -> None:
    path = (await folder.add("a.py", returning("first"))).path
    first, release_first = folder.tools.tools()["word"], folder.tools.hold()
    path.unlink()
    await folder.has()
    folder.write("a.py", returning("second"))
    await folder.has("word")
    second, release_second = folder.tools.tools()["word"], folder.tools.hold()
    folder.write("a.py", returning("third", name="other"))
    await folder.has("other")
    assert [await one.run({}, Context()) for one in (first, second)] == [
        ToolOutput.of_text("first"),
        ToolOutput.of_text("second"),
    ]
    await folder.tools.distrust("a.py")
    for one in (first, second):
        with pytest.raises(ToolError, match="changed or closed"):
            await one.run({}, Context())
    release_first()
    release_second()


async def test_a_version_from_before_a_file_was_renamed_ends_when_it_is_no_longer_trusted(folder: Folder) -> None:
    await folder.add("a.py", returning("x"))
    held, release = folder.tools.tools()["word"], folder.tools.hold()
    await folder.tools.rename("a.py", "b.py")
    await folder.tools.settled()
    assert await held.run({}, Context()) == ToolOutput.of_text("x")
    await folder.tools.distrust("b.py")
    with pytest.raises(ToolError, match="changed or closed"):
        await held.run({}, Context())
    release()


async def test_a_file_that_was_refused_where_all_may_run_stays_so_under_another_name(
    tmp_path: Path, trusted: TrustedFiles
) -> None:
    (tmp_path / "a.py").write_text(returning("x"))
    tools = UserTools(tmp_path, trusted, trust_all=True)
    await tools.start()
    await tools.distrust("a.py")
    await tools.rename("a.py", "b.py")
    assert [(file.name, file.status) for file in tools.files()] == [("b.py", "untrusted")]
    await tools.close()


async def test_a_file_whose_trust_cannot_be_read_is_asked_about_again_and_hides_no_other(
    tmp_path: Path, trusted: TrustedFiles
) -> None:
    for name in ("a", "b", "c"):
        path = tmp_path / f"{name}.py"
        path.write_text(returning("x", name=name))
        await trusted.save(TrustedFile(path=str(path), trusted_at=now()))
    database = JournalDB(tmp_path / "app.tdb")
    database.table("trusted_files").update({"value": {"trusted_at": "never"}}, doc_ids=[2])
    tools = UserTools(tmp_path, TrustedFiles(database))
    await tools.start()
    await tools.settled()
    assert [(file.name, file.status) for file in tools.files()] == [
        ("a.py", "ready"),
        ("b.py", "untrusted"),
        ("c.py", "ready"),
    ]
    await tools.trust("b.py")
    await tools.settled()
    assert set(tools.tools()) == {"a", "b", "c"}
    await tools.close()


async def test_all_files_can_be_trusted_and_a_start_leaves_no_process_waiting(
    tmp_path: Path, trusted: TrustedFiles
) -> None:
    for name in "abcd":
        (tmp_path / f"{name}.py").write_text(f"import os\n{returning(name, name=name)}print(os.getpid())")
    tools = UserTools(tmp_path, trusted, trust_all=True)
    await tools.start()
    await tools.settled()
    assert list(tools.tools()) == ["a", "b", "c", "d"]
    for file in tools.files():
        await until(lambda pid=int(file.printed): not alive(pid))
    assert await tools.tools()["c"].run({}, Context()) == ToolOutput.of_text("c")
    await tools.distrust("a.py")
    assert list(tools.tools()) == ["b", "c", "d"]
    assert trusted.find(str(tmp_path / "b.py")) is None
    await tools.close()


async def test_a_python_of_ones_choice_runs_the_file(folder: Folder, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ntouch {tmp_path / "started"}\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    await folder.add("a.py", returning("x"))
    await folder.tools.trust("a.py", interpreter=str(python))
    await folder.tools.settled()
    file = folder.file("a.py")
    assert file.status == "ready" and file.interpreter == str(python) and (tmp_path / "started").exists()
    assert await folder.call("word") == "x"


async def test_a_python_that_fails_is_told_however_often_the_file_is_saved(folder: Folder) -> None:
    path = (await folder.add("a.py", returning("x"))).path
    for _ in range(2):
        await folder.tools.trust("a.py", interpreter="/bin/false")
        await folder.tools.settled()
        assert folder.file("a.py").status == "broken"
    text = path.read_text()
    await folder.tools.save("a.py", text, expected=text)
    await folder.tools.settled()
    assert folder.file("a.py").status == "broken"
    await folder.tools.trust("a.py")
    assert folder.file("a.py").status == "ready"  # by the version that is there


async def test_a_python_that_is_not_there_is_refused(folder: Folder) -> None:
    folder.write("a.py", returning("x"))
    await folder.seen("a.py", "untrusted")
    with pytest.raises(WorkbenchError, match="no Python at /no/python"):
        await folder.tools.trust("a.py", interpreter="/no/python")
    with pytest.raises(NotFound, match=r"'b\.py'"):
        await folder.tools.trust("b.py")


IMPORTING = """\
import importlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))


def found(module: str) -> bool:
    '''Import it.'''
    importlib.invalidate_caches()
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
"""


async def test_no_import_runs_a_tool_file_that_was_not_allowed(tmp_path: Path, trusted: TrustedFiles) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data", target_is_directory=True)
    tools = UserTools(tmp_path / "link" / "tools", trusted)
    await tools.start()
    folder, mark = Folder(tools), tmp_path / "ran"
    await folder.add("a.py", IMPORTING)
    for name in ("posted.py", "fresh/posted.py", "kit/core.py"):
        await tools.receive(name, leaving_a_mark(mark))
    for name in ("_shared.py", "kit/__init__.py", "kit/_inner.py", "kit/deep/er.py", "_kit/core.py"):
        folder.write(name, "")
    for name in ("posted", "fresh.posted", "kit.core"):
        assert await folder.call("found", module=name) == "false"
    for name in ("_shared", "kit", "kit._inner", "kit.deep.er", "_kit.core", "a"):
        assert await folder.call("found", module=name) == "true"
    assert not mark.exists()
    await tools.close()


async def test_an_import_finds_what_was_allowed_when_the_process_began(folder: Folder) -> None:
    importing = f"import b\n{returning('x')}"
    file = await folder.add("a.py", importing)
    assert file.problem and file.problem.missing == ("b",)
    folder.write("b.py", "")
    await folder.seen("b.py", "untrusted")
    await folder.tools.reload("a.py")
    file = await folder.seen("a.py", "broken")
    assert file.problem and "b.py, a tool file that has not been allowed" in file.problem.text
    assert file.problem.line == 1 and file.problem.install == ""
    await folder.tools.trust("b.py")
    await folder.tools.reload("a.py")
    await folder.has("word")
