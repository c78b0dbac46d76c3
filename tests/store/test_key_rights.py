"""From schema 1 to 2: keys get rights, and old runs are of the key that had their name; whose a run is."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue

from app.domain.keys import ApiKey
from app.domain.provenance import Trigger
from app.domain.trace import KeyRuns, RunFilter, RunRow, run_row
from app.store.folder.folder import DataFolder
from app.store.folder.migrations import SCHEMA, schema_of
from app.store.folder.read_only import newer_data, opened_to_read
from app.store.journal.database import JournalDB
from app.store.journal.frames import Document
from app.store.records.sessions import Sessions
from app.store.records.tables import Agents, ApiKeys
from app.store.runs.rows import Rows
from tests.store.read_only import fingerprint
from tests.traces import BEGAN, asked, finished, started, trace_of

FORMATS = Path(__file__).with_name("formats")
BY_NAME = Trigger(kind="api_key", name="n8n")


def key(key_id: str, *, created: int, revoked: int | None = None, **more: JsonValue) -> Document:
    """A key as schema 1 has it; the days are those since the first run."""
    value: Document = {
        **{"id": key_id, "name": "n8n", "agents": ["a1"], "secret_digest": "", "last_four": "abcd"},
        "created_at": (BEGAN + timedelta(days=created)).isoformat().replace("+00:00", "Z"),
        "revoked_at": None if revoked is None else (BEGAN + timedelta(days=revoked)).isoformat(),
        **more,
    }
    return {"id": key_id, "revision": 1, "value": value}


def row(run_id: str, day: float, trigger: Trigger = BY_NAME, **changes: object) -> RunRow:
    trace = trace_of(started(trigger=trigger), asked("Hello"), finished(), run_id=run_id)
    return run_row(trace, alive=False).model_copy(update={"started_at": BEGAN + timedelta(days=day), **changes})


async def old_folder(path: Path, *keys: Document) -> Path:
    """Data of schema 1 with these keys, and a run under their common name on each of twelve days."""
    shutil.copytree(FORMATS / "1", path)
    database = JournalDB(path / "app.tdb")
    rows = Rows(database)
    for day in range(1, 13):
        await rows.save(row(f"r{day}", day))
    table = database.journal.table("runs")
    without = {place: _without_key(document) for place, document in table.items()}
    database.journal.commit([("api_keys", dict(enumerate(keys, 1))), ("runs", without)])
    database.close()
    return path


def _without_key(document: Document) -> Document:
    value = document["value"]
    assert isinstance(value, dict)
    trigger = value["trigger"]
    assert isinstance(trigger, dict)
    named = {name: one for name, one in trigger.items() if name != "key"}
    return {**document, "value": {**value, "trigger": named}}


def runs_of(rows: Rows, found: ApiKey) -> list[str]:
    wanted = KeyRuns(key=found.id, agents=frozenset({"a1"}), name=found.once_named, since=found.once_since)
    return sorted(one.run_id for one in rows.find(RunFilter(of_key=wanted)).rows)


async def test_a_key_of_schema_1_gets_no_rights_and_keeps_the_runs_of_its_name(tmp_path: Path):
    path = await old_folder(tmp_path / "data", key("k1", created=0), key("k2", created=0, name="all", agents=None))
    folder = DataFolder.open(path)
    one, whole = folder.api_keys.get("k1"), folder.api_keys.get("k2")
    assert (one.may, one.rights, one.once_named) == ((), (), "n8n")
    assert whole.rights == ("approve", "variants", "evals")
    assert runs_of(folder.rows, one) == sorted(f"r{day}" for day in range(1, 13))
    assert one.started(BY_NAME) and not whole.started(BY_NAME)
    await folder.close()
    again = DataFolder.open(path)
    assert again.api_keys.get("k1") == one
    await again.close()


async def test_a_name_that_another_key_had_until_it_was_revoked_gives_only_the_runs_since(tmp_path: Path):
    keys = key("k1", created=0, revoked=9), key("k2", created=5)
    folder = DataFolder.open(await old_folder(tmp_path / "data", *keys))
    assert runs_of(folder.rows, folder.api_keys.get("k2")) == ["r10", "r11", "r12", "r9"]
    assert runs_of(folder.rows, folder.api_keys.get("k1")) == []
    await folder.close()


async def test_a_key_in_a_form_that_cannot_be_read_hides_no_other(tmp_path: Path):
    odd = [key("k2", created=0, created_at=value) for value in ("soon", None, 5, "2026-01-02")]
    folder = DataFolder.open(await old_folder(tmp_path / "data", key("k1", created=0), *odd, {"id": "k3", "value": 1}))
    assert folder.api_keys.get("k1").once_named == "n8n"
    await folder.close()


async def test_whose_a_run_is_goes_by_the_id_of_its_key(tmp_path: Path):
    rows = Rows(JournalDB(tmp_path / "app.tdb"))
    own, other = (Trigger(kind="api_key", name="n8n", key=key_id) for key_id in ("k1", "k2"))
    child, page = Trigger(kind="agent", name="Cook", key="k1"), Trigger(kind="page")
    await rows.save(row("own", 1, own, session_id="s1"))
    await rows.save(row("child", 1, child, session_id="s2"))
    await rows.save(row("others", 1, other, session_id="s3"))
    await rows.save(row("taken in", 1, own, session_id="s4", imported=True))
    await rows.save(
        row("of another agent", 1, own, session_id="s5", agent=started().agent.model_copy(update={"id": "a2"}))
    )
    await rows.save(row("before", 1, own, session_id="s6"))
    await rows.save(row("said since", 2, page, session_id="s6"))
    wanted = KeyRuns(key="k1", agents=frozenset({"a1"}))
    found = {one.run_id for one in rows.find(RunFilter(of_key=wanted)).rows}
    assert found == {"own", "child", "before"}
    assert rows.sessions_of_key(wanted) == {"s1", "s2"}
    await rows.delete(["own", "said since"])
    assert rows.is_of_key("own", wanted) and rows.sessions_of_key(wanted) == {"s1", "s2"}
    assert not rows.is_session_of_key("empty", wanted) and not rows.is_of_key("nothing", wanted)
    assert rows.find(RunFilter(of_key=KeyRuns(key="", agents=frozenset()))).total == 0


@pytest.mark.parametrize("name", sorted(path.name for path in FORMATS.glob("1*")))
async def test_data_of_an_older_app_that_may_not_be_written_is_read_as_if_it_were_migrated(name: str, tmp_path: Path):
    shutil.copytree(FORMATS / name, tmp_path / "data")
    main = JournalDB(tmp_path / "data" / "app.tdb")
    main.journal.commit([("api_keys", {99: key("k1", created=0)})])
    main.close()
    before = fingerprint(tmp_path / "data")
    database = opened_to_read(tmp_path / "data", "It may not be written.")
    assert schema_of(database.journal) == SCHEMA
    assert ApiKeys(database).get("k1").once_named == "n8n"
    assert "assistant" in {agent.slug for agent in Agents(database).all()} and Rows(database).find(RunFilter()).total
    database.close()
    assert fingerprint(tmp_path / "data") == before


async def test_an_app_that_knows_schema_1_opens_the_keys_of_a_later_one_read_only(tmp_path: Path):
    shutil.copytree(FORMATS / "2", tmp_path / "data")
    (run_id,) = (path.stem for path in (FORMATS / "2" / "runs").iterdir())
    (session_id,) = (path.stem for path in (FORMATS / "2" / "sessions").iterdir())
    before = fingerprint(tmp_path / "data")
    newer = newer_data(tmp_path / "data", target=1)
    assert newer is not None and "schema 2, this one reads up to 1" in str(newer)
    database = opened_to_read(tmp_path / "data", str(newer), target=1)
    assert "assistant" in {agent.slug for agent in Agents(database).all()}
    assert [one.run_id for one in Rows(database).find(RunFilter()).rows] == [run_id]
    assert Sessions(database).get(session_id).runs == (run_id,)
    assert [one.name for one in ApiKeys(database).all()] == ["CI"]
    database.close()
    assert fingerprint(tmp_path / "data") == before
