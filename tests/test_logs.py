"""The log file: no key in it, no more of it than is wanted, and a disk that does not take it stops nothing."""

import logging
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.logs import KEPT, LARGEST, LOG_FILE, LogStream, WithoutKeys, log_files, start_logs
from tests.app_process import ROOT

KEY = "planted-0123456789"


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Path]:
    """Logging as the app has it, for the time of the test."""
    root, hooks = logging.getLogger(), (sys.excepthook, sys.stdout, sys.stderr)
    before, level = list(root.handlers), root.level
    start_logs(tmp_path / "logs", lambda: [KEY])
    yield tmp_path / "logs"
    for handler in set(root.handlers) - set(before):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    sys.excepthook, sys.stdout, sys.stderr = hooks


def test_a_key_is_in_no_line_and_no_traceback(started: Path):
    try:
        raise ValueError(f"the provider said {KEY}")  # noqa: TRY301
    except ValueError:
        logging.getLogger("any").exception("Asking with %s failed, and with sk-abcdefghijklmnopqrstuvwx", KEY)
    said = (started / LOG_FILE).read_text()
    assert KEY not in said and "sk-abcdefghijkl" not in said
    assert "Asking with [redacted known key] failed" in said and "ValueError: the provider said [redacted" in said


def test_asking_for_the_keys_may_log_itself():
    def keys() -> list[str]:
        logging.getLogger("keys").warning("something about %s", KEY)
        return [KEY]

    form = WithoutKeys("%(message)s", keys)
    handler = logging.NullHandler()
    handler.handle = lambda record: bool(form.format(record))  # type: ignore[method-assign]
    logging.getLogger("keys").addHandler(handler)
    record = logging.LogRecord("x", logging.INFO, "", 0, "with %s", (KEY,), None)
    assert form.format(record) == "with [redacted known key]"


def test_there_are_five_files_of_a_megabyte_at_most(started: Path):
    for _ in range(KEPT + 3):
        with (started / LOG_FILE).open("a") as much:
            much.write("x" * (LARGEST - 1000))
        logging.getLogger("much").info("%s", "y" * 900)
    files = log_files(started)
    assert len(files) == KEPT == len(list(started.iterdir()))
    assert all(path.stat().st_size <= LARGEST for path in files)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} <= {0o600, 0o666}


def test_what_is_printed_without_a_terminal_becomes_lines(started: Path):
    stream = LogStream()
    print("one", "two", file=stream)
    stream.write("three\nfo")
    stream.write("ur\n")
    lines = (started / LOG_FILE).read_text().splitlines()
    assert [line.rsplit(": ", 1)[1] for line in lines[-3:]] == ["one two", "three", "four"]


def test_a_disk_that_takes_no_log_stops_nothing(tmp_path: Path):
    (tmp_path / "logs").write_text("a file in its place")
    code = """
import logging, sys
from pathlib import Path
from app.logs import start_logs
start_logs(Path(sys.argv[1]), lambda: [])
logging.getLogger("x").warning("still here")
"""
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "logs")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0 and "The log file cannot be written" in ran.stderr and "still here" in ran.stderr
