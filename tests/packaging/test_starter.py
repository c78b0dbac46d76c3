"""What the starter does before anything is built: real files, and processes that are killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from single_file import FILE_VARIABLE, STARTER_VARIABLE, starter
from single_file.copies import Refused
from tests.packaging.carrying import built_folder, carried, contents_of
from tests.packaging.test_copies import ON_PATH
from tests.store.disks import small_disk
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="what a process becomes, Windows starts beside it")
START = (
    "import sys; from pathlib import Path; from single_file import starter;"
    "print(starter.kept_copy(*map(Path, sys.argv[1:])))"
)
"""Prints where the copy is."""
WHOLE = {"program", "mark", "lock", "unpacking"}


class Built:
    """An executable, what its boot loader unpacked, and a cache."""

    def __init__(self, place: Path) -> None:
        self.folder, self.file = built_folder(place / "built"), place / "agent-playground"
        self.unpacked, self.cache = place / "_MEI", place / "cache"
        self.unpacked.mkdir()
        self.name = carried(self.folder, self.file)
        (self.unpacked / starter.NAME_FILE).write_text(self.name)

    def start(self, code: str = START) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", code, str(self.file), str(self.unpacked), str(self.cache)]
        return subprocess.Popen(command, env=ON_PATH, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @property
    def place(self) -> Path:
        return self.cache / self.name / "program"

    @property
    def left(self) -> set[str]:
        return {path.name for path in (self.cache / self.name).iterdir()}


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return Built(tmp_path)


def test_the_second_start_finds_what_the_first_unpacked(built: Built) -> None:
    assert built.start().communicate()[0].strip() == str(built.place)
    first = built.place.stat().st_ino
    assert built.start().communicate()[0].strip() == str(built.place)
    assert built.place.stat().st_ino == first
    assert contents_of(built.place) == contents_of(built.folder)
    assert built.left == WHOLE


def test_of_several_first_starts_at_once_one_unpacks(built: Built) -> None:
    starts = [built.start() for _ in range(4)]
    assert {start.communicate()[0].strip() for start in starts} == {str(built.place)}
    assert contents_of(built.place) == contents_of(built.folder)
    wait_until(lambda: built.left == WHOLE)


def test_a_start_that_is_killed_while_it_unpacks_is_made_up_for_by_the_next(built: Built) -> None:
    half = (
        "import sys; from pathlib import Path; from single_file.copies import Copy, made_private;"
        f"copy = Copy(made_private(Path(sys.argv[3])), {built.name!r}); copy.use();"
        "unpack = lambda folder: (folder.mkdir(), (folder / 'agent-playground').write_text('half'), input());"
        "copy.unpacking().__enter__(); copy.replace(unpack)"
    )
    killed = built.start(half)
    wait_until((built.place.with_name("program.part") / "agent-playground").is_file)
    next_one = built.start()
    killed.kill()
    killed.communicate()
    assert next_one.communicate()[0].strip() == str(built.place)
    assert contents_of(built.place) == contents_of(built.folder)
    wait_until(lambda: built.left == WHOLE)


def test_a_full_disk_leaves_nothing_of_it(built: Built, tmp_path: Path) -> None:
    with small_disk(tmp_path, megabytes=2) as disk:
        built.cache = disk / "cache"
        with pytest.raises(OSError, match="No space left"):
            starter.kept_copy(built.file, built.unpacked, built.cache)
        assert built.left == {"lock", "unpacking"}


def test_a_disk_where_nothing_may_be_executed_is_refused(built: Built, tmp_path: Path) -> None:
    with small_disk(tmp_path, megabytes=4) as disk:
        subprocess.run(["mount", "-o", "remount,noexec", str(disk)], check=True)
        with pytest.raises(Refused, match="nothing may be executed"):
            starter.kept_copy(built.file, built.unpacked, disk / "cache")


def test_who_reads_what_the_app_says_does_not_wait_for_the_disk(built: Built, tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from single_file import starter;"
        "wait = lambda: [time.sleep(0.01) for _ in iter(Path(sys.argv[3]).exists, True)] and None;"
        "starter.beside(lambda: (wait(), Path(sys.argv[3] + '.done').touch()))"
    )
    assert built.start(code).communicate(timeout=10)[0] == ""
    built.cache.touch()
    wait_until(Path(f"{built.cache}.done").exists)


def starting(built: Built, head_start: float) -> subprocess.Popen[str]:
    """A process that has work done beside it, and has become an app that ends with its input."""
    code = (
        "import os, sys; from pathlib import Path; from single_file import starter;"
        f"starter.beside(Path(sys.argv[3]).touch, {head_start});"
        "os.execv('/bin/sh', ['sh', '-c', 'echo runs; read line'])"
    )
    process = built.start(code)
    assert process.stdout
    assert process.stdout.readline() == "runs\n"
    return process


def test_what_is_done_beside_the_app_waits_until_it_has_ended(built: Built) -> None:
    app = starting(built, head_start=3600)
    assert not built.cache.exists()
    app.communicate("end\n")
    wait_until(built.cache.exists)


def test_an_app_that_goes_on_is_waited_for_only_while_it_starts(built: Built) -> None:
    app = starting(built, head_start=0.1)
    wait_until(built.cache.exists)
    app.communicate("end\n")


def test_the_app_gets_the_environment_that_the_file_was_started_with(tmp_path: Path) -> None:
    unpacked, file = tmp_path / "_MEI1", tmp_path / "agent-playground"
    inherited = {
        "HOME": "/home/me",
        "LD_LIBRARY_PATH": f"{unpacked}:/opt/mine",
        "LD_LIBRARY_PATH_ORIG": "/opt/mine",
        "_PYI_ARCHIVE_FILE": str(file),
        "_PYI_APPLICATION_HOME_DIR": str(unpacked),
    }
    assert starter.environment(inherited, file, unpacked) == {
        "HOME": "/home/me",
        "LD_LIBRARY_PATH": "/opt/mine",
        "PYINSTALLER_RESET_ENVIRONMENT": "1",
        FILE_VARIABLE: str(file),
        STARTER_VARIABLE: f"{os.getppid()}:{unpacked}",
    }
    assert "LD_LIBRARY_PATH" not in starter.environment({"LD_LIBRARY_PATH": str(unpacked)}, file, unpacked)
