"""The folder in the computer's own file manager."""

import sys
from pathlib import Path

import pytest

from app.domain.errors import WorkbenchError
from app.tools.user_tools.opening import open_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="another file manager")


@pytest.fixture
def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only program there is."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "xdg-open"


async def test_the_folder_is_handed_to_the_file_manager(opener: Path, tmp_path: Path) -> None:
    write(opener, f'echo "$1" > {tmp_path}/opened')
    await open_folder(tmp_path / "my tools")
    assert (tmp_path / "opened").read_text() == f"{tmp_path}/my tools\n"


async def test_where_there_is_no_file_manager_the_path_is_told(opener: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match=str(tmp_path / "tools")):
        await open_folder(tmp_path / "tools")
    write(opener, "exit 3")
    with pytest.raises(WorkbenchError, match=str(tmp_path / "tools")):
        await open_folder(tmp_path / "tools")


def write(program: Path, command: str) -> None:
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)
