"""Data of every released format opens in this app: `formats/` holds a folder of each, as it was written."""

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from app.domain.evals.scores import RunMarks
from app.domain.trace import KeyRuns, RunFilter, conversation, open_pauses, steps
from app.store.folder.folder import DataFolder
from app.store.folder.migrations import SCHEMA
from app.workbench import Workbench
from tests.store.used_folder import HELD, view
from tests.waiting import until

FORMATS = Path(__file__).with_name("formats")
USED = sorted(path.parent.name for path in FORMATS.glob(f"*/{HELD}"))
CLAIMED = {"/MCP servers/0/seen_tools/0/side_effects: False became True"}
"""What a server said of its own tool, and an earlier version believed."""


def test_there_is_a_folder_of_each_format():
    assert {path.name.partition("-")[0] for path in FORMATS.iterdir()} == {
        str(number) for number in range(1, SCHEMA + 1)
    }


@pytest.mark.parametrize("name", sorted({path.name for path in FORMATS.iterdir()} - set(USED)))
async def test_a_folder_of_that_format_opens_whole(name: str, tmp_path: Path):
    shutil.copytree(FORMATS / name, tmp_path / "data")
    folder = DataFolder.open(tmp_path / "data")
    assert folder.damaged == () and not folder.first_start and folder.read_only == ""
    assert "assistant" in {agent.slug for agent in folder.agents.all()}
    (row,) = folder.rows.find(RunFilter()).rows
    assert row.status == "completed" and row.request.startswith("What is 5 + 10")
    trace = await folder.traces.read(row.run_id)
    assert trace.damaged == () and len(steps(trace.entries)) == 8
    assert "45" in str(conversation(trace.entries)[-1])
    assert row.run_id in folder.sessions.get(row.session_id).runs
    await folder.close()


async def test_nothing_of_any_table_is_lost(tmp_path: Path):
    """`1-all-tables` holds one of everything that can be stored but a comparison."""
    shutil.copytree(FORMATS / "1-all-tables", tmp_path / "data")
    folder = DataFolder.open(tmp_path / "data")
    agent = folder.agents.by_slug("assistant")
    assert folder.preferences.get().keep_days == 30
    assert folder.tool_settings.get("calculator").description == "Sums only"
    assert folder.trusted_files.find("/home/ada/tools/soup.py") is not None
    assert [one.name for one in folder.saved_calls.of("calculator")] == ["Sum"]
    assert [one.name for one in folder.http_tools.all()] == ["weather"]
    assert [one.name for one in folder.mcp_servers.all()] == ["notes"]
    assert [one.address for one in folder.providers.all()] == ["https://example.org/v1"]
    assert [one.name for one in folder.api_keys.all()] == ["CI"]
    assert folder.working_copies.find(agent.id) is not None
    assert [one.values for one in folder.variable_sets.of(agent.id)] == [{"who": "Ada"}]
    assert await folder.artifacts.get(sha256(b"picture").hexdigest()) == b"picture"
    await folder.close()


async def test_a_key_of_format_2_has_its_rights_and_its_run(tmp_path: Path):
    shutil.copytree(FORMATS / "2", tmp_path / "data")
    folder = DataFolder.open(tmp_path / "data")
    (key,) = folder.api_keys.all()
    (row,) = folder.rows.find(RunFilter(of_key=KeyRuns(key=key.id, agents=frozenset(key.agents or ())))).rows
    assert key.may == ("approve",) and row.trigger.key == key.id
    await folder.close()


async def test_what_was_said_of_a_run_of_format_3_is_there(tmp_path: Path):
    shutil.copytree(FORMATS / "3", tmp_path / "data")
    folder = DataFolder.open(tmp_path / "data")
    (row,) = folder.rows.find(RunFilter(rating="good", tag="Sums", noted=True)).rows
    said = RunMarks(rating="good", tags=("sums",), notes=("Right", "Look again"))
    assert folder.scores.marks(row.run_id) == said
    await folder.close()


async def test_an_experiment_of_format_4_is_there_with_its_cell(tmp_path: Path):
    shutil.copytree(FORMATS / "4", tmp_path / "data")
    folder = DataFolder.open(tmp_path / "data")
    (experiment,) = folder.experiments.recent()
    (cell,) = folder.cells.of(experiment.id)
    assert (experiment.status, cell.end, cell.recorded) == ("completed", "passed", 2)
    assert folder.sessions.behind(experiment.id) == [cell.session_id]
    await folder.close()


@pytest.mark.parametrize("name", USED)
async def test_nothing_is_lost_of_what_somebody_did(name: str, tmp_path: Path):
    shutil.copytree(FORMATS / name, tmp_path / "data")
    held = json.loads((FORMATS / name / HELD).read_text("utf-8"))
    folder = DataFolder.open(tmp_path / "data")
    assert folder.damaged == () and not folder.first_start and folder.read_only == ""
    assert set(lost(held, await view(folder))) <= CLAIMED
    await folder.close()


@pytest.mark.parametrize("name", USED)
async def test_what_was_left_goes_on(name: str, tmp_path: Path):
    shutil.copytree(FORMATS / name, tmp_path / "data")
    bench = Workbench.open(tmp_path / "data", demo_pace=0)
    await bench.warm()
    (waiting,) = [row for row in await bench.runs.left() if row.status == "paused"]
    asked = open_pauses((await bench.runs.trace(waiting.run_id)).entries)[0]
    live = await bench.pauses.decide(waiting.run_id, asked.pause_id, "always")
    await live.ended()
    assert live.status == "completed"
    await until(lambda: not bench.sessions.get(waiting.session_id).queue)
    assert len(bench.sessions.get(waiting.session_id).runs) == 2
    for other in bench.sessions.recent():
        before = bench.runs.of_session(other.id) or await bench.chat.send(other.id, "What is 1 + 1?")
        await before.ended()
        assert before.status == "completed"
    await bench.close()


def lost(held: object, found: object, where: str = "") -> Iterator[str]:
    """Where something that was held is not found, or is something else; what came on top is no loss."""
    if isinstance(held, dict) and isinstance(found, dict):
        for name, value in held.items():
            yield from lost(value, found.get(name), f"{where}/{name}")
    elif isinstance(held, list) and isinstance(found, list) and len(held) == len(found):
        for place, (before, after) in enumerate(zip(held, found, strict=True)):
            yield from lost(before, after, f"{where}/{place}")
    elif held != found:
        yield f"{where}: {held!r} became {found!r}"
