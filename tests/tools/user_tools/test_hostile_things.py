"""Things in the tools folder that are no tool files: each says what it is, and keeps no other from being read."""

import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from app.domain.errors import StorageError
from app.domain.tool_settings import TrustedFile
from app.store.records.tables import TrustedFiles
from app.tools.user_tools.folder import UserTools
from app.tools.user_tools.reading import LARGEST, read_file
from app.tools.user_tools.watching import TICK
from tests.tools.user_tools.conftest import Folder, returning, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has none of them")

Make = Callable[[Path], object]


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))  # a socket's path may have 107 characters


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 10_000_000_000)


def badly_named(path: Path) -> None:
    Path(os.fsdecode(os.fsencode(path.parent) + b"/odd\xff.py")).touch()


SAID = {
    "a link that points at itself": (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
    "a pipe": (os.mkfifo, "a pipe, a socket or a device"),
    "a socket": (bound, "a pipe, a socket or a device"),
    "ten gigabytes": (huge, "It has 10,000,000,000 bytes"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "leads out of the folder"),
    "a link to nothing": (lambda path: path.symlink_to("nothing.py"), "a link to a file that is not there"),
    "a name in another encoding": (badly_named, "Its name is not written in UTF-8"),
}
SILENT: dict[str, Make] = {
    "a folder that is called so": lambda path: path.mkdir(),
    "a link to the whole disk": lambda path: path.with_suffix("").symlink_to("/"),
    "a link to the folder above": lambda path: path.with_suffix("").symlink_to(".."),
    "a folder that leads to itself": lambda path: path.with_suffix("").symlink_to(path.with_suffix("")),
}


@pytest.mark.parametrize(("make", "words"), SAID.values(), ids=SAID)
async def test_what_cannot_be_read_says_so(folder: Folder, trusted: TrustedFiles, make: Make, words: str) -> None:
    make(folder.tools.folder / "odd.py")
    folder.write("tool.py", returning("x"))
    await folder.promises("tool.py", "word")
    (odd,) = await until(lambda: [file for file in folder.tools.files() if file.name != "tool.py"])
    assert odd.status == "broken" and odd.problem and words in odd.problem.text
    f"{odd.name} {odd.path}".encode()
    await starts_again(folder, trusted, 2)


@pytest.mark.parametrize("make", SILENT.values(), ids=SILENT)
async def test_what_is_no_tool_file_is_passed_over(folder: Folder, trusted: TrustedFiles, make: Make) -> None:
    make(folder.tools.folder / "odd.py")
    folder.write("tool.py", returning("x"))
    await folder.promises("tool.py", "word")
    await starts_again(folder, trusted, 1)


async def starts_again(folder: Folder, trusted: TrustedFiles, files: int) -> None:
    again = UserTools(folder.tools.folder, trusted)
    await again.start()
    assert len(again.files()) == files
    await again.close()


async def test_a_link_to_the_whole_disk_costs_no_watch_of_it(folder: Folder) -> None:
    (folder.tools.folder / "disk").symlink_to("/")
    (folder.tools.folder / "orders").mkdir()
    process, began = psutil.Process(), time.monotonic()
    used = sum(process.cpu_times()[:2])
    await until(lambda: time.monotonic() - began > 3 * TICK / 1000)
    assert sum(process.cpu_times()[:2]) - used < 1
    folder.write("orders/look.py", returning("x"))
    await folder.promises("orders/look.py", "word")


async def test_a_link_in_the_place_of_the_folder_does_not_keep_the_app_from_starting(
    tmp_path: Path, trusted: TrustedFiles
) -> None:
    (tmp_path / "tools").symlink_to("tools")
    tools = UserTools(tmp_path / "tools", trusted)
    await tools.start()
    assert tools.files() == ()
    (tmp_path / "tools").unlink()
    folder = Folder(tools)
    await until((tmp_path / "tools").is_dir)
    folder.write("tool.py", returning("x"))
    await folder.promises("tool.py", "word")
    await tools.close()


class Refusing:
    """A list of what may run that cannot be read for a while."""

    def __init__(self, kept: TrustedFiles) -> None:
        self.kept, self.refuses = kept, False

    def find(self, path: str) -> TrustedFile | None:
        if self.refuses:
            raise StorageError("The disk is not there.")
        return self.kept.find(path)

    async def save(self, trusted: TrustedFile) -> None:
        await self.kept.save(trusted)

    async def delete(self, path: str) -> None:
        await self.kept.delete(path)


async def test_what_nobody_foresaw_is_logged_and_tried_again(
    tmp_path: Path, trusted: TrustedFiles, caplog: pytest.LogCaptureFixture
) -> None:
    refusing = Refusing(trusted)
    tools = UserTools(tmp_path / "tools", refusing)
    await tools.start()
    refusing.refuses = True
    folder = Folder(tools)
    folder.write("tool.py", returning("x"))
    await until(lambda: "could not be read" in caplog.text)
    refusing.refuses = False
    await folder.seen("tool.py", "untrusted")
    await folder.promises("tool.py", "word")
    assert caplog.text.count("could not be read") == 1
    await tools.close()


def test_a_pipe_that_takes_the_place_of_a_file_keeps_nobody_waiting(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    swapping, done = threading.Event(), threading.Event()

    def read() -> None:
        while not swapping.is_set():
            read_file(tmp_path, path)
        done.set()

    threading.Thread(target=read, daemon=True).start()
    for number in range(2000):
        new = tmp_path / "new"
        if number % 2:
            os.mkfifo(new)
        else:
            new.write_text(str(number))
        new.replace(path)
    swapping.set()
    assert done.wait(10)


def test_a_file_that_grows_while_it_is_read_is_not_read_to_its_end(tmp_path: Path) -> None:
    endless = Path("/proc/kallsyms")
    if not endless.exists() or endless.stat().st_size:
        pytest.skip("There is no file here that says it is empty and is not")
    found = read_file(Path("/proc"), endless)
    assert found and found.text is None and f"a tool file may have {LARGEST:,}" in found.trouble
