"""Where the data is looked for."""

from pathlib import Path

import pytest

from app.paths import DATA_VARIABLE, PORTABLE_NAME, data_folder, portable_folder


def test_a_folder_beside_the_executable_is_used_when_somebody_made_one(tmp_path: Path):
    executable = tmp_path / "stick" / "agent-playground"
    assert portable_folder(executable) is None
    (tmp_path / "stick" / PORTABLE_NAME).mkdir(parents=True)
    assert portable_folder(executable) == tmp_path / "stick" / "agent-playground-data"


def test_on_macos_it_lies_beside_the_app_not_inside(tmp_path: Path):
    (tmp_path / PORTABLE_NAME).mkdir()
    assert portable_folder(tmp_path / "Agent Playground.app" / "Contents" / "MacOS" / "x") == tmp_path / PORTABLE_NAME


def test_a_file_of_that_name_is_no_data_folder(tmp_path: Path):
    (tmp_path / PORTABLE_NAME).write_text("")
    assert portable_folder(tmp_path / "agent-playground") is None


def test_what_was_chosen_counts_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "environment"))
    assert data_folder(str(tmp_path / "chosen")) == tmp_path / "chosen"
    assert data_folder() == tmp_path / "environment"
    monkeypatch.delenv(DATA_VARIABLE)
    assert data_folder().name == "agent-playground"
