"""What is kept around the agents: working copies, variable sets, comparisons, and what they did in a week."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, VariableSet, WorkingCopy, new_agent, with_variant
from app.domain.comparisons import ComparedTurn, Comparison
from app.domain.errors import Conflict, NotFound
from app.domain.sessions import Session
from app.domain.trace import RunRow, Week, run_row
from app.domain.values import now
from app.store.folder.folder import DataFolder
from app.store.journal.database import JournalDB
from app.store.records.sessions import Sessions
from app.store.records.tables import Agents, Comparisons, VariableSets, WorkingCopies
from app.store.runs.rows import Rows
from tests.processor import at_work
from tests.traces import asked, finished, returned, started, trace_of


@pytest.fixture
def database(tmp_path: Path) -> JournalDB:
    return JournalDB(tmp_path / "app.tdb")


def working_copy(prompt: str, agent_id: str = "a") -> WorkingCopy:
    return WorkingCopy(agent_id=agent_id, origin=1, behaviour=PromptBehaviour(system_prompt=prompt), updated_at=now())


async def test_hundreds_of_agents_are_read_before_a_page_lists_them(database: JournalDB, tmp_path: Path):
    prompt = PromptBehaviour(system_prompt="Answer politely. " * 1000)
    agents = Agents(database)
    for number in range(200):
        await agents.create(new_agent(f"Agent {number}", prompt, taken_slugs=()))
    await (data := DataFolder.open(tmp_path)).warm()
    assert seconds_of(data.agents) < seconds_of(Agents(JournalDB(tmp_path / "app.tdb"))) / 2
    await data.close()


def seconds_of(agents: Agents) -> float:
    """Of the loop's thread, for a first list of them."""
    with at_work() as work:
        assert len(agents.all()) == 200
    return work.seconds


async def test_a_working_copy_survives_the_app_until_it_is_dropped(database: JournalDB, tmp_path: Path):
    copies = WorkingCopies(database)
    assert copies.find("a") is None
    await copies.save(working_copy("x" * 200_000))
    await copies.save(last := working_copy("Be {{mood}}."))
    assert WorkingCopies(JournalDB(tmp_path / "app.tdb")).find("a") == last
    await copies.delete("a")
    await copies.delete("a")
    assert copies.find("a") is None
    assert WorkingCopies(JournalDB(tmp_path / "app.tdb")).find("a") is None


async def test_agents_are_sorted_as_people_look_for_them(database: JournalDB):
    agents = Agents(database)
    for name in ("Zebra", "Übersetzer", "unterwegs", "Uwe", "apfel", "U\u0308ben", "Vera"):
        await agents.create(new_agent(name, PromptBehaviour(), taken_slugs=agents.slugs()))
    names = [agent.name for agent in agents.all()]
    assert names == ["apfel", "unterwegs", "Uwe", "U\u0308ben", "Übersetzer", "Vera", "Zebra"]


async def test_each_agent_has_its_own_working_copy(database: JournalDB):
    copies = WorkingCopies(database)
    await copies.save(working_copy("one", "a"))
    await copies.save(working_copy("two", "b"))
    await copies.delete("a")
    kept = copies.find("b")
    assert kept is not None and kept.behaviour.system_prompt == "two"


async def test_a_working_copy_that_cannot_be_read_is_none(database: JournalDB, tmp_path: Path):
    copies = WorkingCopies(database)
    await copies.save(working_copy("one"))
    database.table("working_copies").update({"value": {"agent_id": "a"}})
    assert WorkingCopies(database).find("a") is None
    await copies.save(working_copy("two"))
    assert copies.find("a") is not None


async def test_two_tabs_that_save_at_once_make_two_variants(database: JournalDB):
    agents = Agents(database)
    cook = await agents.create(new_agent("Cook", PromptBehaviour(), taken_slugs=()))
    await asyncio.gather(
        *(
            agents.change(
                cook.id, lambda newest, p=prompt: with_variant(newest, PromptBehaviour(system_prompt=p), origin=1)
            )
            for prompt in ("soup", "cake")
        )
    )
    saved = [(variant.number, variant.behaviour.system_prompt) for variant in agents.get(cook.id).variants]
    assert saved == [(1, ""), (2, "soup"), (3, "cake")]


async def test_variable_sets_are_listed_by_agent_and_name(database: JournalDB):
    sets = VariableSets(database)
    for set_id, agent_id, name in (("1", "a", "zebra"), ("2", "a", "Ant"), ("3", "b", "bee")):
        await sets.save(VariableSet(id=set_id, agent_id=agent_id, name=name, values={"tone": name}))
    assert [found.name for found in sets.of("a")] == ["Ant", "zebra"]
    await sets.save(VariableSet(id="1", agent_id="a", name="Aardvark", values={"tone": "{{x}}"}))
    first = sets.of("a")[0]
    assert (first.name, first.values) == ("Aardvark", {"tone": "{{x}}"})
    await sets.delete("1")
    await sets.delete("nothere")
    assert [found.name for found in sets.of("a")] == ["Ant"]
    assert sets.of("nobody") == []


def comparison(comparison_id: str, minute: int = 0) -> Comparison:
    at = datetime(2026, 5, 1, 12, minute, tzinfo=UTC)
    return Comparison(id=comparison_id, sessions=("s1", "s2"), created_at=at, updated_at=at)


async def test_comparisons_come_newest_first_without_deleted_ones(database: JournalDB):
    comparisons = Comparisons(database)
    for comparison_id, minute in (("old", 1), ("new", 3), ("mid", 2)):
        await comparisons.create(comparison(comparison_id, minute))
    await comparisons.delete("mid")
    assert [found.id for found in comparisons.recent()] == ["new", "old"]
    assert [found.id for found in comparisons.recent(1)] == ["new"]
    assert comparisons.get("mid").deleted_at is not None
    await comparisons.restore("mid")
    assert [found.id for found in comparisons.recent()] == ["new", "mid", "old"]
    with pytest.raises(NotFound, match="no comparison 'nothere'"):
        comparisons.get("nothere")
    with pytest.raises(Conflict):
        await comparisons.create(comparison("new"))


async def test_a_comparison_is_the_same_after_a_restart(database: JournalDB, tmp_path: Path):
    turn = ComparedTurn(text="hi", runs={"s1": "r1"}, refusals={"s2": "No."})
    kept = comparison("c").model_copy(update={"turns": (turn,), "votes": {0: "s1"}})
    await Comparisons(database).create(kept)
    assert Comparisons(JournalDB(tmp_path / "app.tdb")).get("c") == kept


async def test_a_column_is_listed_once_it_is_a_session_of_its_own(database: JournalDB):
    sessions, at = Sessions(database), now()
    column = Session(
        id="s", agent_id="a", agent_slug="cook", variant=1, comparison="c", created_at=at, updated_at=at, pinned=True
    )
    await sessions.create(column)
    assert (sessions.recent(), sessions.count(), sessions.count("cook")) == ([], 0, 0)
    assert sessions.get("s") == column
    await sessions.change("s", lambda session: session.model_copy(update={"comparison": ""}))
    assert [found.id for found in sessions.recent()] == ["s"]


def row(run_id: str, days_ago: float, **changes: object) -> RunRow:
    entries = trace_of(started(), asked("?"), returned(cost=0.25), finished(), run_id=run_id)
    changes = {"started_at": now() - timedelta(days=days_ago), **changes}
    return run_row(entries, alive=False).model_copy(update=changes)


async def test_an_agents_week_has_its_runs_their_cost_and_the_last_run(database: JournalDB, tmp_path: Path):
    rows = Rows(database)
    other = started().agent.model_copy(update={"id": "a2"})
    await rows.save(last := row("r1", 1))
    await rows.save(row("r2", 3))
    await rows.save(row("r3", 8))
    await rows.save(old := row("r4", 9, agent=other))
    assert rows.week_of("a1") == Week(2, 0.5, last.started_at)
    assert rows.week_of("a2") == Week(0, 0.0, old.started_at)
    assert rows.week_of("nobody") == Week(0, 0.0, None)
    assert Rows(JournalDB(tmp_path / "app.tdb")).week_of("a1") == rows.week_of("a1")


async def test_an_agents_week_says_whether_some_of_it_has_no_price(database: JournalDB):
    rows = Rows(database)
    await rows.save(row("r1", 1))
    await rows.save(row("r2", 8, unpriced=True))
    assert not rows.week_of("a1").unpriced
    await rows.save(row("r3", 2, unpriced=True))
    assert rows.week_of("a1").unpriced


async def test_a_run_that_is_stored_again_counts_once(database: JournalDB):
    rows = Rows(database)
    going_on = row("r1", 1, cost=0.0)
    await rows.save(going_on)
    assert rows.week_of("a1").runs == 1
    await rows.save(going_on.model_copy(update={"cost": 0.75}))
    assert rows.week_of("a1")[:2] == (1, 0.75)


async def test_a_deleted_run_is_not_in_the_week(database: JournalDB):
    rows = Rows(database)
    await rows.save(row("r1", 1))
    await rows.save(older := row("r2", 2))
    await rows.delete(["r1"])
    assert rows.week_of("a1") == Week(1, 0.25, older.started_at)
    await rows.delete(["r2"])
    assert rows.week_of("a1") == Week(0, 0.0, None)
    await rows.restore(["r1", "r2"])
    assert rows.week_of("a1").runs == 2


async def test_the_folder_holds_the_new_collections(tmp_path: Path):
    data = DataFolder.open(tmp_path / "data")
    await data.working_copies.save(working_copy("one"))
    await data.variable_sets.save(VariableSet(id="1", agent_id="a", name="n"))
    await data.comparisons.create(comparison("c"))
    await data.close()
    again = DataFolder.open(tmp_path / "data")
    assert again.working_copies.find("a") is not None
    assert (len(again.variable_sets.of("a")), len(again.comparisons.recent())) == (1, 1)
    await again.close()
