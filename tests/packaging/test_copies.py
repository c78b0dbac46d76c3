"""Copies on a real file system; whatever uses one is a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from single_file.copies import Copy, Refused, cache_folder, made_private
from tests.app_process import ROOT

NAME = "1.0.0-0123456789abcdef"
OTHER = "0.9.0-fedcba9876543210"
ON_PATH = {**os.environ, "PYTHONPATH": str(ROOT / "packaging")}
only_posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps folders of its users apart by itself")


def unpack(folder: Path) -> None:
    (folder / "_internal").mkdir(parents=True)
    (folder / "agent-playground").write_text("program")
    (folder / "_internal" / "library").write_text("library")


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    copy = Copy(made_private(tmp_path / "cache"), NAME)
    os.close(copy.use())
    copy.replace(unpack)
    copy.settle()
    return copy


def using(cache: Path, name: str) -> subprocess.Popen[str]:
    """A process that took a copy and then became another program, which ends with its input."""
    code = (
        "import os, sys; from pathlib import Path; from single_file.copies import Copy;"
        "Copy(Path(sys.argv[1]), sys.argv[2]).use();"
        "os.execv('/bin/sh', ['sh', '-c', 'echo runs; read line'])"
    )
    command = [sys.executable, "-c", code, str(cache), name]
    process = subprocess.Popen(command, env=ON_PATH, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "runs\n"
    return process


def test_a_copy_is_sound_only_after_it_reached_the_disk(tmp_path: Path) -> None:
    copy = Copy(made_private(tmp_path / "cache"), NAME)
    os.close(copy.use())
    assert not copy.is_sound()
    copy.replace(unpack)
    assert not copy.is_sound()
    copy.settle()
    assert copy.is_sound()


def shortened(program: Path) -> None:
    (program / "_internal" / "library").write_text("libr")


def removed(program: Path) -> None:
    (program / "_internal" / "library").unlink()


def added(program: Path) -> None:
    (program / "_internal" / "planted.so").write_text("planted")


def exchanged(program: Path) -> None:
    """As long as before, and with its old time."""
    path = program / "_internal" / "library"
    before = path.stat()
    path.write_text("LIBRARY")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def opened_to_others(program: Path) -> None:
    (program / "_internal").chmod(0o777)


def led_elsewhere(program: Path) -> None:
    program.rename(program.with_name("elsewhere"))
    program.symlink_to("elsewhere")


@only_posix
@pytest.mark.parametrize("damage", [shortened, removed, added, exchanged, opened_to_others, led_elsewhere])
def test_what_was_changed_is_noticed_and_unpacked_anew(copy: Copy, damage: Callable[[Path], None]) -> None:
    damage(copy.program)
    assert not copy.is_sound()
    copy.replace(unpack)
    copy.settle()
    assert copy.is_sound()
    left = {path.name for path in copy.program.parent.iterdir()} - {"elsewhere"}
    assert left == {"program", "mark", "lock"}


def test_what_an_interpreter_compiles_there_changes_nothing(copy: Copy) -> None:
    compiled = copy.program / "_internal" / "__pycache__"
    compiled.mkdir()
    (compiled / "paths.cpython-311.pyc").write_bytes(b"compiled")
    assert copy.is_sound()


def test_without_room_nothing_of_it_is_left(copy: Copy) -> None:
    def fails(folder: Path) -> None:
        unpack(folder)
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        copy.replace(fails)
    assert {path.name for path in copy.program.parent.iterdir()} == {"program", "lock"}
    assert not copy.is_sound()


@only_posix
def test_a_copy_of_another_build_is_removed_once_nobody_runs_it(copy: Copy) -> None:
    cache = copy.program.parents[1]
    other = Copy(cache, OTHER)
    os.close(other.use())
    other.replace(unpack)
    other.settle()
    with using(cache, OTHER) as running:
        copy.clear_others()
        assert other.is_sound()
        running.communicate("end\n")
    copy.clear_others()
    assert [path.name for path in cache.iterdir()] == [NAME]
    assert copy.is_sound()


def test_what_a_kill_left_of_a_copy_is_removed_and_what_is_no_copy_stays(copy: Copy) -> None:
    cache = copy.program.parents[1]
    unpack(cache / OTHER / "program.part")
    (cache / "notes").mkdir()
    copy.clear_others()
    assert {path.name for path in cache.iterdir()} == {NAME, "notes"}


@only_posix
def test_a_copy_that_is_removed_while_one_waits_for_it_is_made_anew(copy: Copy) -> None:
    cache = copy.program.parents[1]
    Copy(cache, OTHER).clear_others()
    assert list(cache.iterdir()) == []
    with using(cache, NAME) as running:
        Copy(cache, OTHER).clear_others()
        assert [path.name for path in cache.iterdir()] == [NAME]
        running.communicate("end\n")


def test_each_system_has_a_place_for_it() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/var/mine"}, "linux") == Path("/var/mine/agent-playground")
    assert cache_folder({"XDG_CACHE_HOME": "mine"}, "linux") == Path.home() / ".cache" / "agent-playground"
    assert cache_folder({}, "darwin") == Path.home() / "Library" / "Caches" / "agent-playground"
    assert cache_folder({"LOCALAPPDATA": "/local"}, "win32") == Path("/local/agent-playground-copies")


@only_posix
def test_a_new_place_is_for_its_user_alone(tmp_path: Path) -> None:
    folder = made_private(tmp_path / "home" / ".cache" / "agent-playground")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert made_private(folder) == folder


@only_posix
def test_a_place_that_others_write_to_is_refused(tmp_path: Path) -> None:
    for rights in (0o770, 0o707):
        folder = made_private(tmp_path / f"cache-{rights}")
        folder.chmod(rights)
        with pytest.raises(Refused):
            made_private(folder)
    (tmp_path / "linked").symlink_to(made_private(tmp_path / "cache"))
    with pytest.raises(Refused):
        made_private(tmp_path / "linked")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(Refused):
        made_private(tmp_path / "open" / "cache")
    (tmp_path / "open").chmod(0o1777)  # as /tmp: nobody exchanges what others made there
    assert made_private(tmp_path / "open" / "cache")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_place_of_somebody_else_is_refused(tmp_path: Path) -> None:
    folder = made_private(tmp_path / "home" / "cache")
    os.chown(folder, 12345, 12345)
    with pytest.raises(Refused):
        made_private(folder)
    os.chown(folder, 0, 0)
    os.chown(folder.parent, 12345, 12345)
    with pytest.raises(Refused):
        made_private(folder)


def test_where_nothing_can_be_made_the_system_says_so(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no folder")
    with pytest.raises(OSError):
        made_private(tmp_path / "home" / "cache")
