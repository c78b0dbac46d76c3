"""From schema 4 to 5: what was stored when an agent had a prompt and nothing else says so, once."""

import shutil
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, WorkflowBehaviour
from app.store.folder.folder import DataFolder
from app.store.folder.migrations import NewerData, check_schema, kinds_of_behaviours
from app.store.folder.read_only import newer_data
from app.store.journal.database import JournalDB

FORMATS = Path(__file__).with_name("formats")
TABLES = ("agents", "working_copies", "sessions", "experiments")
OWN = {"type": "object", "properties": {"behaviour": {"type": "object"}, "tried": {"type": "string"}}}


async def test_what_was_stored_before_there_were_kinds_is_a_prompt_and_says_so_once(tmp_path: Path):
    shutil.copytree(FORMATS / "4-used", tmp_path / "data")
    assert kinds_of_behaviours(JournalDB(tmp_path / "data" / "app.tdb").journal)
    folder = DataFolder.open(tmp_path / "data")
    agents = folder.agents.all()
    assert agents and {one.behaviour.kind for agent in agents for one in agent.variants} == {"prompt"}
    await folder.close()
    database = JournalDB(tmp_path / "data" / "app.tdb")
    assert kinds_of_behaviours(database.journal) == []
    stored = [variant["behaviour"] for one in database.table("agents").all() for variant in one["value"]["variants"]]
    assert {behaviour["kind"] for behaviour in stored} == {"prompt"}


def test_each_table_is_walked_and_a_schema_of_somebody_is_left_as_it_is(tmp_path: Path):
    database = JournalDB(tmp_path / "app.tdb")
    old = {"system_prompt": "Hi", "output_schema": OWN}
    values = (
        {"variants": [{"behaviour": old}]},
        {"behaviour": old},
        {"tried": old},
        {"plan": {"columns": [{"tried": old}]}},
    )
    database.journal.commit([(table, {1: {"value": value}}) for table, value in zip(TABLES, values, strict=True)])
    database.journal.commit(
        [("agents", {2: {"value": "damaged"}, 3: {}}), ("sessions", {2: {"value": {"tried": None}}})]
    )
    changes = dict(kinds_of_behaviours(database.journal))
    assert set(changes) == set(TABLES) and all(set(changed) == {1} for changed in changes.values())
    for changed in changes.values():
        assert str(changed).count("'kind': 'prompt'") == 1 and str(OWN) in str(changed)
    assert database.table("sessions").get(doc_id=1) == {"value": {"tried": old}}, "a step changes nothing itself"


def test_an_app_of_schema_4_only_looks_at_an_agent_that_may_be_a_workflow(tmp_path: Path):
    shutil.copytree(FORMATS / "5", tmp_path / "data")
    assert newer_data(tmp_path / "data", target=4) is not None
    with pytest.raises(NewerData, match="schema 5"):
        check_schema(JournalDB(tmp_path / "data" / "app.tdb").journal, tmp_path / "data", target=4)


async def test_a_workflow_of_format_5_is_there_with_its_working_copy(tmp_path: Path):
    shutil.copytree(FORMATS / "5", tmp_path / "data")
    folder = DataFolder.open(tmp_path / "data")
    agent = folder.agents.by_slug("solve-and-check")
    behaviour, copy = agent.active_variant.behaviour, folder.working_copies.find(agent.id)
    assert isinstance(behaviour, WorkflowBehaviour) and [one.id for one in behaviour.workflow.nodes] == [
        "question", "solve", "check", "answer"
    ]  # fmt: skip
    assert copy and isinstance(copy.behaviour, WorkflowBehaviour) and len(copy.behaviour.workflow.edges) == 4
    assert isinstance(folder.agents.by_slug("assistant").active_variant.behaviour, PromptBehaviour)
    await folder.close()
