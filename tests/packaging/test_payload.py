import os
from pathlib import Path

import pytest

from single_file import payload
from tests.packaging.carrying import built_folder, carried, contents_of

PIECE = 1024 * 1024


def test_what_was_packed_comes_out_as_it_was(tmp_path: Path) -> None:
    folder, executable = built_folder(tmp_path / "built"), tmp_path / "agent-playground"
    carried(folder, executable)
    payload.unpack(executable, tmp_path / "copy")
    assert contents_of(tmp_path / "copy") == contents_of(folder)
    assert os.access(tmp_path / "copy" / "agent-playground", os.X_OK)
    rights = {path.lstat().st_mode & 0o077 for path in (tmp_path / "copy").rglob("*") if not path.is_symlink()}
    assert rights == {0}


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_files_may_end_anywhere_in_a_piece(tmp_path: Path, more: int) -> None:
    folder, executable = built_folder(tmp_path / "built"), tmp_path / "agent-playground"
    for number, size in enumerate((PIECE + more, 2 * PIECE + more, PIECE + more, 0)):
        (folder / f"{number}.bin").write_bytes(bytes([number]) * size)
    carried(folder, executable)
    payload.unpack(executable, tmp_path / "copy")
    assert contents_of(tmp_path / "copy") == contents_of(folder)


def test_every_build_has_a_name_of_its_own(tmp_path: Path) -> None:
    folder, executable = built_folder(tmp_path / "built"), tmp_path / "agent-playground"
    name = carried(folder, executable)
    assert carried(folder, executable) == name
    (folder / "_internal" / "assets" / "two.md").write_text("TWO")
    assert carried(folder, executable) != name


@pytest.mark.parametrize("place", [0.0001, 0.2, 0.5, 0.9])
def test_a_damaged_file_is_never_unpacked_as_if_it_were_whole(tmp_path: Path, place: float) -> None:
    folder, executable = built_folder(tmp_path / "built"), tmp_path / "agent-playground"
    carried(folder, executable)
    content = bytearray(executable.read_bytes())
    start = len(b"boot loader" * 1000)
    content[start + 20 + int((len(content) - start) * place)] ^= 0xFF
    executable.write_bytes(content)
    with pytest.raises(payload.Damaged, match="damaged"):
        payload.unpack(executable, tmp_path / "copy")


def test_a_download_that_broke_off_is_said_to_be_damaged(tmp_path: Path) -> None:
    executable = tmp_path / "agent-playground"
    carried(built_folder(tmp_path / "built"), executable)
    executable.write_bytes(executable.read_bytes()[:-200])
    with pytest.raises(payload.Damaged, match="lost its end"):
        payload.unpack(executable, tmp_path / "copy")
