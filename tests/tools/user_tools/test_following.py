"""Files that appear, change and go are seen, however they are written."""

import os
import shutil
import time
from pathlib import Path

from app.tools.user_tools.watching import TICK, changes
from tests.tools.user_tools.conftest import Folder, returning, until


async def test_the_folder_is_made_and_starts_empty(folder: Folder) -> None:
    assert folder.tools.folder.is_dir()
    assert folder.tools.files() == ()


async def test_a_saved_change_is_used_by_the_next_call_and_a_deleted_file_keeps_its_trust(folder: Folder) -> None:
    path = (await folder.add("a.py", returning("first"))).path
    assert await folder.call("word") == "first"
    folder.write("a.py", returning("second", name="other"))
    await folder.has("other")
    assert await folder.call("other") == "second"
    path.unlink()
    await folder.has()
    assert folder.tools.files() == ()
    folder.write("a.py", returning("third"))
    await folder.has("word")


async def test_an_editor_that_replaces_the_file_is_seen(folder: Folder) -> None:
    path = folder.write("a.py", returning("first"))
    await folder.promises("a.py", "word")
    backup, written = path.with_suffix(".py~"), folder.write(".a.py.swp", returning("x", name="replaced"))
    path.rename(backup)
    written.rename(path)
    await folder.promises("a.py", "replaced")


async def test_a_change_that_keeps_size_and_time_is_seen(folder: Folder) -> None:
    path = folder.write("a.py", returning("first", name="old"))
    await folder.promises("a.py", "old")
    before = path.stat()
    folder.write("a.py", returning("first", name="new"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    await folder.promises("a.py", "new")


async def test_a_renamed_file_is_a_new_one(folder: Folder) -> None:
    path = folder.write("a.py", returning("x"))
    await folder.promises("a.py", "word")
    path.rename(path.with_name("b.py"))
    await folder.promises("b.py", "word")
    assert folder.file("a.py") is None


async def test_subfolders_count_one_level_deep(folder: Folder) -> None:
    folder.write("orders/look.py", "")
    folder.write("orders/deep/er.py", "")
    await folder.seen("orders/look.py", "untrusted")
    assert [file.name for file in folder.tools.files()] == ["orders/look.py"]


async def test_names_with_an_underscore_or_a_dot_and_other_kinds_are_left_out(folder: Folder) -> None:
    for name in ("_shared.py", ".hidden.py", "_old/a.py", ".git/a.py", "data.csv", "__pycache__/a.py"):
        folder.write(name, returning("x"))
    folder.write("seen.py", "")
    await folder.seen("seen.py", "untrusted")
    assert [file.name for file in folder.tools.files()] == ["seen.py"]


async def test_a_folder_that_is_taken_away_is_made_again_and_followed(folder: Folder) -> None:
    folder.write("a.py", returning("x"))
    await folder.promises("a.py", "word")
    shutil.rmtree(folder.tools.folder)
    await until(lambda: not folder.tools.files() and folder.tools.folder.is_dir())
    folder.write("a.py", returning("y"))
    await folder.promises("a.py", "word")


async def test_a_link_that_leads_out_of_the_folder_is_not_followed(folder: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text(returning("secret"))
    (folder.tools.folder / "link.py").symlink_to(outside / "secret.py")
    (folder.tools.folder / "linked").symlink_to(outside, target_is_directory=True)
    file = await folder.seen("link.py", "broken")
    assert file.problem and "leads out of the folder" in file.problem.text
    await folder.tools.trust("link.py")
    await folder.tools.settled()
    assert folder.tools.tools() == {}
    assert [file.name for file in folder.tools.files()] == ["link.py"]


async def test_a_link_within_the_folder_is_a_file_like_others(folder: Folder) -> None:
    folder.write("_shared.py", returning("x"))
    (folder.tools.folder / "a.py").symlink_to(folder.tools.folder / "_shared.py")
    await folder.promises("a.py", "word")


async def test_a_change_is_seen_that_came_before_the_folder_was_watched(tmp_path: Path) -> None:
    fastest = min([await seconds_until_told(tmp_path) for _ in range(3)])
    assert fastest < TICK / 1000 / 2


async def seconds_until_told(folder: Path) -> float:
    told = changes(folder)
    began = time.perf_counter()
    await anext(told)
    await told.aclose()
    return time.perf_counter() - began
