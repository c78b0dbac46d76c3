"""The single file as a starter of its unpacked copy: what goes wrong with that, and what goes through it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, expect

from tests.app_process import AppProcess, plain_environment
from tests.packaged.built import FORMS, NOTHING_ELSE, TOLD_TO_END
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="where the copy is, and what is read of processes")
SUM = "What is 5 + 10, then multiply by 3?"


class Alone:
    """The single file in a home of its own."""

    def __init__(self, place: Path) -> None:
        self.home, self.temporary = place / "home", place / "tmp"
        self.started: list[AppProcess] = []
        self.home.mkdir()
        self.temporary.mkdir()
        self.file = Path(shutil.copy2(FORMS["file"], place))
        self.environment = {**NOTHING_ELSE, "HOME": str(self.home), "TMPDIR": str(self.temporary)}
        self.cache = self.home / ".cache" / "agent-playground"

    @property
    def copy(self) -> Path:
        """The folder of the one copy there is, once it is whole."""
        [mark] = wait_until(lambda: list(self.cache.glob("*/mark")), seconds=60)
        return mark.parent

    def begun(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        environment = plain_environment() | self.environment | more
        command = [str(self.file), *arguments]
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def said(self, *arguments: str, code: int = 0, **more: str) -> str:
        process = self.begun(*arguments, **more)
        out, trouble = process.communicate(timeout=120)
        assert process.returncode == code, trouble
        return out

    def app(self, **more: str) -> AppProcess:
        app = AppProcess(self.home / "data", executable=self.file, environment=self.environment | more)
        self.started.append(app)
        app.start()
        return app


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Alone]:
    alone = Alone(tmp_path)
    yield alone
    for app in alone.started:
        app.stop_if_running()
    assert not list(alone.temporary.iterdir())
    shutil.rmtree(alone.home, ignore_errors=True)


def child_of(app: AppProcess) -> psutil.Process:
    [child] = psutil.Process(app.pid).children()
    return child


def test_the_second_start_runs_what_the_first_unpacked(alone: Alone) -> None:
    assert alone.said("--version").startswith("Agent Playground ")
    first = (alone.copy / "program").stat()
    assert alone.said("--check") == "ok\n"
    assert (alone.copy / "program").stat() == first
    app = alone.app()
    assert child_of(app).exe() == str(alone.copy / "program" / "agent-playground")
    assert app.stop() == TOLD_TO_END


def test_what_was_damaged_is_unpacked_anew(alone: Alone) -> None:
    alone.said("--version")
    library = next((alone.copy / "program" / "_internal").glob("libpython*"))
    size = library.stat().st_size
    os.truncate(library, 1000)
    assert alone.said("--check") == "ok\n"
    assert library.stat().st_size == size


def test_two_first_starts_at_once_share_one_copy(alone: Alone) -> None:
    starts = [alone.begun("--version") for _ in range(3)]
    assert {start.communicate(timeout=120)[0].split()[0] for start in starts} == {"Agent"}
    assert {path.name for path in alone.copy.iterdir()} == {"program", "mark", "lock", "unpacking"}
    assert list(alone.cache.iterdir()) == [alone.copy]


def test_a_kill_in_mid_unpacking_is_made_up_for_by_the_next_start(alone: Alone) -> None:
    start = alone.begun("--version")
    wait_until(lambda: list(alone.cache.glob("*/program.part")), seconds=60)
    os.killpg(start.pid, signal.SIGKILL)
    start.communicate()
    [left] = alone.temporary.iterdir()  # the boot loader's own, as ever after a kill: nobody is there to remove it
    shutil.rmtree(left)
    assert alone.said("--check") == "ok\n"
    assert {path.name for path in alone.copy.iterdir()} == {"program", "mark", "lock", "unpacking"}


def test_without_a_place_for_a_copy_it_unpacks_for_this_start_alone(alone: Alone) -> None:
    alone.cache.parent.write_text("no folder")
    assert alone.said("--check") == "ok\n"
    app = alone.app()
    assert Path(child_of(app).exe()).is_relative_to(alone.temporary)
    processes = [psutil.Process(app.pid), child_of(app)]
    processes[0].kill()
    assert not psutil.wait_procs(processes, timeout=20)[1]
    wait_until(lambda: not list(alone.temporary.iterdir()))


def test_a_copy_in_a_folder_that_others_write_to_is_not_run(alone: Alone) -> None:
    alone.said("--version")
    planted = alone.copy / "program" / "agent-playground"
    alone.cache.chmod(0o777)
    planted.write_text("#!/bin/sh\necho planted\n")
    assert alone.said("--version").startswith("Agent Playground ")


def test_without_any_room_it_says_so(alone: Alone) -> None:
    alone.cache.parent.write_text("no folder")
    content = bytearray(alone.file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    alone.file.write_bytes(content)
    start = alone.begun("--version")
    assert "cannot unpack itself" in start.communicate(timeout=120)[1]
    assert start.returncode == 1


def test_the_copy_of_an_older_version_is_removed_when_nobody_uses_it(alone: Alone) -> None:
    old = alone.cache / "0.0.1-0123456789abcdef" / "program"
    old.mkdir(parents=True)
    alone.cache.chmod(0o700)
    alone.said("--version")
    assert list(alone.cache.iterdir()) == [alone.copy]


def test_libraries_and_variables_of_the_starter_do_not_reach_the_app(alone: Alone) -> None:
    app = alone.app(LD_LIBRARY_PATH="/opt/mine")
    found = child_of(app).environ()
    internal = str(alone.copy / "program" / "_internal")
    assert found["LD_LIBRARY_PATH"] == f"{internal}:/opt/mine"
    assert found["LD_LIBRARY_PATH_ORIG"] == "/opt/mine"
    assert not {name for name in found if name.startswith("_PYI_") and "_MEI" in found[name]}
    assert app.stop() == TOLD_TO_END


def test_exit_codes_and_signals_go_through(alone: Alone) -> None:
    assert alone.said("--data", str(alone.home / "data"), "run", "nobody", "Hello", code=1) == ""
    assert alone.said("--no-such-option", code=2) == ""
    app = alone.app()
    os.kill(app.pid, signal.SIGINT)
    assert app.ended() == 0
    app = alone.app()
    child_of(app).kill()
    assert app.ended() == -signal.SIGKILL


def test_an_agent_runs_from_the_terminal(alone: Alone) -> None:
    assert "45" in alone.said("--data", str(alone.home / "data"), "run", "assistant", SUM)


def test_the_data_folder_beside_the_file_is_used(alone: Alone) -> None:
    beside = alone.file.parent / "agent-playground-data"
    beside.mkdir()
    alone.said("key", "create", "a program")
    assert list(beside.iterdir())


def test_others_are_told_to_start_the_file_and_not_its_copy(alone: Alone, browser: Browser) -> None:
    app = alone.app()
    page = browser.new_page(base_url=app.url)
    page.goto(app.address)
    page.wait_for_url(f"{app.url}/")  # where it leads by itself
    page.goto("/integrations")
    page.get_by_test_id("way-claude-desktop").click()
    expect(page.get_by_test_id("snippet-code")).to_contain_text(f'"{alone.file}"')
    page.close()
    assert app.stop() == TOLD_TO_END
