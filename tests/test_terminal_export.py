"""`agent-playground export`: out of a data folder that nobody works on, and out of the app that is running."""

from pathlib import Path

import pytest

from app.__main__ import main
from app.export.json_lines import read_json_lines
from tests.app_process import AppProcess
from tests.seeds import seed_trace
from tests.traces import the_sum


class Terminal:
    """What is typed behind `agent-playground export`, in an empty folder, and what it prints."""

    def __init__(self, data: Path, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.data = data
        self.here = here
        self._capfd = capfd

    def export(self, *arguments: str) -> str:
        code = main(["export", *arguments, "--data", str(self.data)])
        printed = self._capfd.readouterr()
        assert code == 0, printed.err
        return printed.out

    def refused(self, *arguments: str) -> str:
        assert main(["export", *arguments, "--data", str(self.data)]) == 1
        printed = self._capfd.readouterr()
        assert printed.out == "" and "Traceback" not in printed.err
        return printed.err

    def files(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in self.data.rglob("*") if path.is_file()}


@pytest.fixture
async def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Terminal:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    await seed_trace(tmp_path / "data", the_sum())
    return Terminal(tmp_path / "data", tmp_path / "here", capfd)


def test_a_run_is_exported_without_the_app_and_the_folder_stays_as_it_is(terminal: Terminal):
    run = terminal.data / "runs" / "r1.tdb"
    run.write_bytes(run.read_bytes() + b"the torn end of a line")
    before = terminal.files()
    assert terminal.export("r1", "--format", "jsonl").strip() == "assistant-r1.jsonl"
    assert read_json_lines((terminal.here / "assistant-r1.jsonl").read_bytes()) == the_sum()
    assert terminal.files() == before
    assert "--output" in terminal.refused("r1", "--format", "jsonl")


def test_what_cannot_be_exported_is_said_in_words(terminal: Terminal):
    assert "no run 'nowhere'" in terminal.refused("nowhere")
    assert "is no run" in terminal.refused("../../x")
    assert "cannot be written" in terminal.refused("r1", "--output", str(terminal.here / "no" / "such" / "folder"))
    (terminal.data / "runs" / "r1.tdb").write_bytes(b"nothing that can be read\n")
    assert "r1" in terminal.refused("r1")
    terminal.data = terminal.data / "missing"
    assert "There is no data folder" in terminal.refused("r1")
    assert not terminal.data.exists()


def test_with_the_app_up_runs_come_out_of_it(terminal: Terminal):
    app = AppProcess(terminal.data)
    app.start()
    try:
        assert '"invoke_agent Assistant"' in terminal.export("r1", "--format", "otel", "--output", "-")
        both = terminal.here / "both.zip"
        terminal.export("r1", "r1", "--format", "html", "--output", str(both))
        assert "nowhere" in terminal.refused("nowhere")
        assert "Traceback" not in app.log
    finally:
        app.stop()
    assert both.read_bytes().startswith(b"PK")
