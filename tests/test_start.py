"""Starting the app a second time, and on data folders in every state a disk may leave them in."""

import http.server
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from app.domain.errors import FolderInUse, StorageError
from app.start.already_running import opened_or_running, running_app
from app.store.folder.handshake import found_at, proof
from app.store.folder.lock import Announcement, FolderLock
from app.store.folder.looking_lock import looking_lock
from app.workbench import Workbench
from tests.app_process import ROOT, AppProcess, free_port, plain_environment
from tests.store.read_only import fingerprint, newer_folder
from tests.waiting import PATIENCE, wait_until

TOKEN = "t" * 40


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    home = {"HOME": str(tmp_path_factory.mktemp("home"))}
    process = AppProcess(tmp_path_factory.mktemp("start") / "data", environment=home)
    process.start()
    yield process
    process.stop_if_running()


def started(data: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A start that ends by itself, as it has nothing to serve."""
    return subprocess.run(
        [sys.executable, "-m", "app", "--data", str(data), *options],
        cwd=ROOT,
        env=plain_environment() | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def browser_in(folder: Path, name: str = "browser") -> Path:
    """A program that a browser could be: it writes down what it is asked to show."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f'#!/bin/sh\necho "$@" >> "{folder}/shown"\n')
    program.chmod(0o755)
    return program


def shown_in(folder: Path) -> str:
    shown = folder / "shown"
    return shown.read_text() if shown.exists() else ""


def leads_to(app: AppProcess, address: str) -> bool:
    """Whether it is a file that brings a browser into the app, and tells the process list nothing."""
    page = Path(address.removeprefix("file://"))
    assert app.token not in address and re.fullmatch(r"file://[/\w.-]+\.html", address)
    code = re.findall(r'name="code" value="([\w-]+)"', page.read_text())[0]
    with httpx.Client(base_url=app.url, headers={"Origin": app.url}) as browser:
        return browser.post("/", data={"code": code}).status_code == browser.get("/").status_code == 200


def test_a_second_start_brings_the_first_to_the_front(serving: AppProcess, tmp_path: Path):
    browser = browser_in(tmp_path / "tab")
    second = started(serving.data, BROWSER=f"{browser} %s")
    assert second.returncode == 0, second.stderr
    assert f"already running at {serving.address}" in second.stdout
    assert leads_to(serving, wait_until(lambda: shown_in(tmp_path / "tab").strip()))


def test_a_second_start_that_may_open_nothing_prints_only(serving: AppProcess, tmp_path: Path):
    browser = browser_in(tmp_path / "tab")
    second = started(serving.data, "--no-browser", BROWSER=f"{browser} %s")
    assert second.returncode == 0 and shown_in(tmp_path / "tab") == ""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere browsers are found at their places, not on the path")
def test_a_window_has_settings_of_its_own_and_no_bars(serving: AppProcess, tmp_path: Path):
    browser_in(tmp_path / "bin", "chromium")
    second = started(serving.data, "--window", PATH=f"{tmp_path / 'bin'}:/bin")
    assert second.returncode == 0 and "tab" not in second.stdout
    address, profile = re.findall(r"--app=(\S+) --user-data-dir=(\S+)", shown_in(tmp_path / "bin"))[0]
    assert leads_to(serving, address) and profile == str(serving.data / "window")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere browsers are found at their places, not on the path")
def test_a_window_that_cannot_be_opened_is_a_tab_in_words(serving: AppProcess, tmp_path: Path):
    broken = browser_in(tmp_path / "bin", "chromium")
    broken.write_text("#!/bin/sh\nexit 1\n")
    browser = browser_in(tmp_path / "tab")
    second = started(serving.data, "--window", PATH=f"{tmp_path / 'bin'}:/bin", BROWSER=f"{browser} %s")
    assert "so a browser tab is used" in second.stdout
    assert leads_to(serving, wait_until(lambda: shown_in(tmp_path / "tab").strip()))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a browser")
def test_without_any_browser_the_address_is_printed(serving: AppProcess, tmp_path: Path):
    second = started(serving.data, "--window", PATH=str(tmp_path), DISPLAY="", WAYLAND_DISPLAY="", BROWSER="")
    assert second.returncode == 0
    assert serving.address in second.stdout and "No browser could be opened" in second.stdout


def test_a_start_goes_past_a_proxy_to_the_app_that_runs(serving: AppProcess):
    second = started(serving.data, "--no-browser", http_proxy=f"http://127.0.0.1:{free_port()}")
    assert serving.address in second.stdout


def test_two_starts_at_once_are_one_app(tmp_path: Path):
    """As after a double-click that was a triple one: the second waits until the first can be reached."""
    first = AppProcess(tmp_path / "data")
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "--no-browser", "--data", str(first.data), "--port", str(first.port)],
        cwd=ROOT, env=plain_environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_until((first.data / "lock").exists)
        second = started(first.data, "--no-browser")
        assert second.returncode == 0 and f"already running at http://127.0.0.1:{first.port}/" in second.stdout
    finally:
        process.terminate()
        process.communicate(timeout=10)


def test_two_starts_at_once_over_two_folders_have_a_port_each(tmp_path: Path):
    command = [sys.executable, "-m", "app", "--no-browser", "--data"]
    processes = [
        subprocess.Popen(
            [*command, str(tmp_path / name)], cwd=ROOT, env=plain_environment(), stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "other")
    ]
    try:
        said = [process.stdout.readline() for process in processes if process.stdout]
    finally:
        for process in processes:
            process.terminate()
            process.communicate(timeout=20)
    assert all("Agent Playground is running at" in line for line in said)
    assert len(set(said)) == 2 and [process.returncode for process in processes] == [0, 0]


def announcement(port: int, computer: str = "") -> Announcement:
    return Announcement(pid=12345, port=port, token=TOKEN, computer=computer)


@contextmanager
def held(folder: Path, said: Announcement) -> Iterator[None]:
    """The folder as somebody else holds it, who says to be reached there."""
    lock = FolderLock.take(folder)
    lock.announce(said)
    yield
    lock.release()


@contextmanager
def program_that_says(answer: bytes) -> Iterator[int]:
    """Another program on a port of this computer."""

    class Says(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Says)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("answer", [b'{"status": "ok"}', b'{"proof": "x"}', b"[]", b"<html>", b'{"proof": null}'])
def test_another_program_on_the_port_is_not_taken_for_the_app(tmp_path: Path, answer: bytes):
    with program_that_says(answer) as port, held(tmp_path, announcement(port)):
        assert running_app(tmp_path) is None
        with pytest.raises(FolderInUse, match=f"process 12345, and another program answers at port {port}"):
            opened_or_running(tmp_path)


def test_an_app_over_a_copy_of_the_folder_is_another_one(tmp_path: Path):
    (tmp_path / "copy").mkdir()
    (tmp_path / "data").mkdir()
    assert proof(TOKEN, tmp_path / "data", "c") != proof(TOKEN, tmp_path / "copy", "c")
    assert proof(TOKEN, tmp_path / "data", "c") != proof("u" * 40, tmp_path / "data", "c")


def test_an_app_that_hangs_is_named_with_its_process(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        assert found_at(announcement(port), tmp_path, seconds=0.1) == "silent"
        with (
            held(tmp_path, announcement(port)),
            pytest.raises(FolderInUse, match=r"process 12345.* does not answer at"),
        ):
            opened_or_running(tmp_path)


def test_a_folder_held_on_another_computer_is_told_with_its_name(tmp_path: Path):
    with (
        held(tmp_path, announcement(8765, computer="attic")),
        pytest.raises(FolderInUse, match="in use by Agent Playground on the computer 'attic'"),
    ):
        opened_or_running(tmp_path)


def test_who_never_says_where_it_is_was_waited_for(tmp_path: Path):
    with held(tmp_path, announcement(free_port())), pytest.raises(FolderInUse, match="not done with it for 0 seconds"):
        opened_or_running(tmp_path, patience=0.2)


async def test_an_app_that_ends_is_waited_for(tmp_path: Path):
    lock = FolderLock.take(tmp_path)
    ending = threading.Timer(0.3, lock.release)
    ending.start()
    found = opened_or_running(tmp_path)
    assert isinstance(found, Workbench)
    await found.close()


async def test_what_a_killed_app_or_a_copy_left_behind_keeps_nobody_out(tmp_path: Path):
    """The lock file came with the copy; nobody holds it."""
    (tmp_path / "lock").write_text(announcement(8765, computer="attic").model_dump_json())
    assert running_app(tmp_path) is None
    found = opened_or_running(tmp_path)
    assert isinstance(found, Workbench)
    await found.close()


def test_a_folder_copied_while_it_was_in_use_opens_and_says_nothing_of_the_other(serving: AppProcess, tmp_path: Path):
    shutil.copytree(serving.data, tmp_path / "copy", ignore=shutil.ignore_patterns("cache"))
    copy = AppProcess(tmp_path / "copy")
    copy.start()
    try:
        assert copy.token != serving.token and copy.port != serving.port
        assert copy.url in started(copy.data, "--no-browser").stdout
        assert serving.url in started(serving.data, "--no-browser").stdout
    finally:
        assert copy.stop() == 0


async def test_a_clock_that_was_a_day_ahead_keeps_nobody_out(tmp_path: Path):
    before = Workbench.open(tmp_path)
    await before.start()
    agents = before.agents.all()
    await before.close()
    tomorrow = time.time() + 86_400
    for path in (tmp_path, *tmp_path.rglob("*")):  # noqa: ASYNC240
        os.utime(path, (tomorrow, tomorrow))
    found = opened_or_running(tmp_path)
    assert isinstance(found, Workbench)
    assert found.agents.all() == agents and found.data.damaged == ()
    await found.close()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_the_folder_of_another_user_is_told_in_words(serving: AppProcess):
    """As nobody, who sees that there is a folder and may not look into it."""
    code = f"""
import os, sys
for above in {[str(path) for path in serving.data.parents]!r}:
    if os.stat(above).st_mode & 0o005 != 0o005:
        os.chmod(above, 0o755)
from app.start import already_running, opening, telling
from app.__main__ import main
os.setuid(65534)
sys.argv = ["app", "--no-browser", "--data", {str(serving.data)!r}]
sys.exit(main())
"""
    if os.getuid() != 0:
        pytest.skip("Only root may become another user")
    other = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert other.returncode == 1 and "Traceback" not in other.stderr
    assert str(serving.data) in other.stderr and "--data" in other.stderr


@pytest.mark.skipif(os.name != "posix", reason="Windows has no terminal to take away like that")
def test_without_a_terminal_trouble_is_told_in_a_page(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    assert f"{tmp_path}/file is a file" in trouble_without_a_terminal(tmp_path, "--data", f"{tmp_path}/file")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no terminal to take away like that")
def test_without_a_terminal_trouble_is_told_in_a_page_too_once_there_is_a_log(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        page = trouble_without_a_terminal(tmp_path, "--data", f"{tmp_path}/data", "--port", str(port))
    told = f"Port {port} is in use by another program. Choose another one with --port."
    assert told in page and told in (tmp_path / "data" / "logs" / "agent-playground.log").read_text()


def trouble_without_a_terminal(folder: Path, *options: str) -> str:
    """The page that a start shows which fails and has no terminal to say so in."""
    browser = browser_in(folder / "tab")
    command = f"exec '{sys.executable}' -m app {' '.join(options)} <&- >&- 2>&-"
    environment = plain_environment() | {"BROWSER": f"{browser} %s", "TMPDIR": str(folder)}
    ended = subprocess.run(["/bin/sh", "-c", command], cwd=ROOT, env=environment, check=False)
    assert ended.returncode == 1
    address = wait_until(lambda: shown_in(folder / "tab").strip())
    page = Path(address.removeprefix("file://")).read_text()
    assert "could not start" in page
    return page


@pytest.mark.skipif(os.name != "posix", reason="Windows has no terminal to take away like that")
def test_without_a_terminal_it_serves_and_says_in_its_log_where(tmp_path: Path):
    data, port = tmp_path / "data", free_port()
    command = f"exec '{sys.executable}' -m app --no-browser --data '{data}' --port {port} <&- >&- 2>&-"
    process = subprocess.Popen(["/bin/sh", "-c", command], cwd=ROOT, env=plain_environment())
    try:
        log = data / "logs" / "agent-playground.log"
        said = wait_until(lambda: log.exists() and "is running at" in log.read_text() and log.read_text())
        assert f"http://127.0.0.1:{port}/?token=[redacted" in said
        assert stat.S_IMODE(log.stat().st_mode) == 0o600 and stat.S_IMODE(log.parent.stat().st_mode) == 0o700
        assert json.loads((data / "lock").read_text())["port"] == port
    finally:
        process.terminate()
        assert process.wait(10) == 0


@pytest.fixture
def looking(tmp_path: Path) -> Iterator[AppProcess]:
    """An app over data of a newer one, which it only looks at."""
    process = AppProcess(newer_folder(tmp_path / "newer"), environment={"TMPDIR": str(tmp_path)})
    process.start()
    yield process
    process.stop_if_running()


@pytest.mark.skipif(os.name == "nt", reason="the place of temporary files is told in another way")
def test_a_second_start_over_data_that_is_only_looked_at_finds_the_first(looking: AppProcess, tmp_path: Path):
    before = fingerprint(looking.data)
    second = started(looking.data, "--no-browser", TMPDIR=str(tmp_path))
    assert f"already running at {looking.address}" in second.stdout
    assert fingerprint(looking.data) == before
    (own,) = tmp_path.glob("agent-playground-[0-9]*")
    (lock,) = own.iterdir()
    assert (stat.S_IMODE(own.stat().st_mode), stat.S_IMODE(lock.stat().st_mode)) == (0o700, 0o600)


@pytest.mark.skipif(os.name == "nt", reason="the place of temporary files is told in another way")
def test_a_killed_app_that_only_looked_keeps_nobody_out(looking: AppProcess, tmp_path: Path):
    looking.kill()
    third = AppProcess(looking.data, environment={"TMPDIR": str(tmp_path)})
    third.start()
    third.stop_if_running()


@pytest.mark.skipif(os.name == "nt", reason="file modes are POSIX")
def test_who_else_may_write_where_the_lock_would_lie_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = looking_lock(tmp_path).parent
    assert looking_lock(tmp_path) == looking_lock(tmp_path / "x" / "..")
    own.chmod(0o777)
    with pytest.raises(StorageError, match="this user alone"):
        looking_lock(tmp_path)
    own.rmdir()
    (tmp_path / "elsewhere").mkdir(0o700)
    own.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="this user alone"):
        looking_lock(tmp_path)


def test_what_goes_wrong_after_a_start_is_in_the_log_and_what_could_not_be_stored_at_the_end(tmp_path: Path):
    app = AppProcess(tmp_path / "data", module="tests.failing_app")
    app.start()
    app.wait_for(re.compile("No index can be made here"))
    assert app.stop() == 0
    assert "Not everything could be stored: There is no room for the index." in app.log
    assert "shutdown failed" not in app.log


@pytest.mark.parametrize("port", ["93273", "0", "-1"])
def test_a_port_that_there_is_not_is_told_before_anything_is_opened(tmp_path: Path, port: str):
    ended = started(tmp_path / "data", "--port", port)
    assert ended.returncode == 1
    assert f"There is no port {port}: ports go from 1 to 65535." in ended.stderr
    assert not (tmp_path / "data").exists()


def test_a_start_that_had_no_port_was_not_the_first_one(serving: AppProcess, tmp_path: Path):
    refused = started(tmp_path / "data", "--no-browser", "--port", str(serving.port))
    assert refused.returncode == 1 and f"Port {serving.port} is in use by another program" in refused.stderr
    again = AppProcess(tmp_path / "data")
    again.start()
    try:
        reply = httpx.get(f"{again.url}/api/v1/agents", headers={"X-API-Key": again.token}, timeout=PATIENCE)
        assert "math-tutor" in [agent["slug"] for agent in reply.json()["data"]]
    finally:
        again.stop_if_running()
