"""Data of every released format opens in this app: `formats/` holds a folder of each, as it was written."""

import shutil
from pathlib import Path

import pytest

from app.domain.trace import RunFilter, conversation, steps
from app.store.folder import DataFolder
from app.store.migrations import SCHEMA

FORMATS = Path(__file__).with_name("formats")


def test_there_is_a_folder_of_each_format():
    assert {path.name for path in FORMATS.iterdir()} == {str(number) for number in range(1, SCHEMA + 1)}


@pytest.mark.parametrize("number", range(1, SCHEMA + 1))
async def test_a_folder_of_that_format_opens_whole(number: int, tmp_path: Path):
    shutil.copytree(FORMATS / str(number), tmp_path / "data")
    folder = DataFolder.open(tmp_path / "data")
    assert folder.damaged == () and not folder.first_start
    assert "assistant" in {agent.slug for agent in folder.agents.all()}
    (row,) = folder.rows.find(RunFilter()).rows
    assert row.status == "completed" and row.request.startswith("What is 5 + 10")
    trace = await folder.traces.read(row.run_id)
    assert trace.damaged == () and len(steps(trace.entries)) == 8
    assert "45" in str(conversation(trace.entries)[-1])
    assert row.run_id in folder.sessions.get(row.session_id).runs
    await folder.close()
