"""The folder in the computer's own file manager."""

import sys
from pathlib import Path

import pytest

from app.desktop import PATIENCE, open_folder
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="another file manager")


@pytest.fixture
def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only program there is."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":0")
    return tmp_path / "xdg-open"


def test_the_folder_is_handed_to_the_file_manager(opener: Path, tmp_path: Path) -> None:
    write(opener, f'echo "$1" > {tmp_path}/opened')
    assert open_folder(tmp_path / "my tools")
    assert (tmp_path / "opened").read_text() == f"{tmp_path}/my tools\n"


def test_a_file_manager_that_stays_is_not_waited_for(opener: Path, tmp_path: Path) -> None:
    write(opener, f"while [ ! -e {tmp_path}/closed ]; do /bin/sleep 0.05; done; echo > {tmp_path}/ended")
    assert open_folder(tmp_path)
    (tmp_path / "closed").touch()
    wait_until((tmp_path / "ended").exists, PATIENCE + 5)


def test_where_there_is_no_file_manager_that_is_told(opener: Path, tmp_path: Path) -> None:
    assert not open_folder(tmp_path / "tools")
    write(opener, "exit 3")
    assert not open_folder(tmp_path / "tools")


def write(program: Path, command: str) -> None:
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)
