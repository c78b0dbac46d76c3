"""Agents, sessions, rows and preferences as the app asks for them."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import get_args

import pytest
from pydantic import JsonValue

from app.domain.agents import Agent, PromptBehaviour, new_agent
from app.domain.errors import Conflict, NotFound
from app.domain.evals.scores import RATING, given
from app.domain.provenance import Parent, Trigger
from app.domain.sessions import Session
from app.domain.settings import Preferences
from app.domain.tool_settings import ToolSetting
from app.domain.trace import ModelTally, RunFilter, RunRow, SortKey, ToolTally, run_row
from app.store.folder.folder import DataFolder
from app.store.journal.database import JournalDB
from app.store.records.sessions import Sessions
from app.store.records.tables import Agents, PreferencesStore, ToolSettingStore
from app.store.runs.rows import Rows
from tests.store.giving_up import given_up
from tests.traces import BEGAN, asked, finished, returned, started, trace_of


@pytest.fixture
def database(tmp_path: Path) -> JournalDB:
    return JournalDB(tmp_path / "app.tdb")


def agent(name: str, taken: set[str] | None = None) -> Agent:
    return new_agent(name, PromptBehaviour(), taken_slugs=taken or set())


async def test_agents_are_listed_by_name_without_deleted_ones(database: JournalDB):
    agents = Agents(database)
    for name in ("writer", "Analyst", "cook"):
        await agents.create(agent(name))
    await agents.delete(agents.by_slug("cook").id)
    assert [found.name for found in agents.all()] == ["Analyst", "writer"]
    assert [found.name for found in agents.deleted()] == ["cook"]
    assert agents.slugs() == {"analyst", "writer", "cook"}
    with pytest.raises(NotFound, match=r"There is no agent 'cook'\. Agents: analyst, writer"):
        agents.by_slug("cook")


async def test_a_deleted_agent_is_still_known_and_comes_back(database: JournalDB):
    agents = Agents(database)
    cook = await agents.create(agent("Cook"))
    await agents.delete(cook.id)
    assert agents.get(cook.id).deleted_at is not None
    with pytest.raises(Conflict, match="slug 'cook' is taken"):
        await agents.create(agent("Cook"))
    await agents.restore(cook.id)
    assert agents.by_slug("cook") == cook


async def test_an_agent_somebody_else_changed_is_not_overwritten(database: JournalDB):
    agents = Agents(database)
    cook = await agents.create(agent("Cook"))
    await agents.change(cook.id, lambda old: old.model_copy(update={"description": "Soups"}))
    with pytest.raises(Conflict, match="changed meanwhile"):
        await agents.replace(cook.model_copy(update={"description": "Cakes"}), 1)
    await agents.replace(cook.model_copy(update={"description": "Cakes"}), agents.revision(cook.id))
    assert agents.get(cook.id).description == "Cakes"


def session(session_id: str, minute: int, **changes: object) -> Session:
    at = datetime(2026, 5, 1, 12, minute, tzinfo=UTC)
    made = Session(id=session_id, agent_id="a", agent_slug="cook", variant=1, created_at=at, updated_at=at)
    return made.model_copy(update=changes)


async def test_sessions_come_pinned_first_then_newest(database: JournalDB):
    sessions = Sessions(database)
    for made in (
        session("old", 1, pinned=True, title="Soup of the day"),
        session("new", 3, title="Bread"),
        session("mid", 2, title="Cold SOUP"),
    ):
        await sessions.create(made)
    assert [found.id for found in sessions.recent()] == ["old", "new", "mid"]
    assert [found.id for found in sessions.recent(search="soup")] == ["old", "mid"]
    assert [found.id for found in sessions.recent(search="soup cold")] == ["mid"]
    assert [found.id for found in sessions.recent(limit=1, offset=1)] == ["new"]
    assert (sessions.count(), sessions.count("cook"), sessions.count("fish")) == (3, 3, 0)


async def test_a_deleted_session_leaves_the_list_and_comes_back(database: JournalDB):
    sessions = Sessions(database)
    await sessions.create(session("s", 1))
    await sessions.delete("s")
    assert (sessions.recent(), sessions.count(), sessions.get("s").id) == ([], 0, "s")
    await sessions.restore("s")
    assert [found.id for found in sessions.recent()] == ["s"]


def row(run_id: str, minute: int = 0, **changes: object) -> RunRow:
    entries = trace_of(started(), asked(f"Question {run_id}"), returned(cost=0.25), finished(), run_id=run_id)
    began = BEGAN + timedelta(minutes=minute)
    return run_row(entries, alive=False).model_copy(update={"started_at": began, **changes})


async def filled(database: JournalDB) -> Rows:
    rows = Rows(database)
    cook = started().agent.model_copy(update={"slug": "cook", "name": "Köchin", "variant": 2})
    await rows.save(row("r1", 1))
    both = (ModelTally(model="demo/agent", provider="demo"), ModelTally(model="openai/judge", provider="openai"))
    await rows.save(row("r2", 2, agent=cook, status="failed", failure="rate_limit", cost=0.5, models=both))
    await rows.save(row("r3", 3, model="openai/gpt-4o", session_id="s9", duration_ms=None, models=None, purpose="api"))
    await rows.save(
        row("r4", 4, agent=cook, input_tokens=500, tools=(ToolTally(name="calculator", calls=1),), unpriced=True)
    )
    return rows


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (RunFilter(), ["r4", "r3", "r2", "r1"]),
        (RunFilter(text="question R3"), ["r3"]),
        (RunFilter(text="KÖCHIN"), ["r4", "r2"]),
        (RunFilter(text="gpt-4o"), ["r3"]),
        (RunFilter(agent="cook"), ["r4", "r2"]),
        (RunFilter(agent="cook", status="failed"), ["r2"]),
        (RunFilter(variant=1), ["r3", "r1"]),
        (RunFilter(model="openai/gpt-4o"), ["r3"]),
        (RunFilter(model="openai/judge"), ["r2"]),
        (RunFilter(provider="openai"), ["r3", "r2"]),
        (RunFilter(provider="demo"), ["r4", "r2", "r1"]),
        (RunFilter(provider="nobody"), []),
        (RunFilter(tool="calculator"), ["r4"]),
        (RunFilter(tool="calc"), []),
        (RunFilter(purpose="api"), ["r3"]),
        (RunFilter(unpriced=True), ["r4"]),
        (RunFilter(session_id="s9"), ["r3"]),
        (RunFilter(since=BEGAN + timedelta(minutes=3)), ["r4", "r3"]),
        (RunFilter(until=BEGAN + timedelta(minutes=2)), ["r2", "r1"]),
        (RunFilter(text="nothing like this"), []),
        (RunFilter(text='"question R3"'), ["r3"]),
        (RunFilter(text='"R3 question"'), []),
        (RunFilter(failure="rate_limit"), ["r2"]),
        (RunFilter(min_cost=0.5), ["r2"]),
        (RunFilter(max_cost=0.25), ["r4", "r3", "r1"]),
        (RunFilter(min_cost=0.3, max_cost=0.4), []),
        (RunFilter(min_ms=300), ["r4", "r2", "r1"]),
        (RunFilter(max_ms=100), []),
    ],
)
async def test_rows_are_filtered(database: JournalDB, wanted: RunFilter, expected: list[str]):
    page = (await filled(database)).find(wanted)
    assert ([found.run_id for found in page.rows], page.total) == (expected, len(expected))


async def test_what_is_behind_is_shown_to_who_asks_for_its_purpose(database: JournalDB):
    rows = await filled(database)
    await rows.save(row("r5", 5, purpose="judge"))
    assert [found.run_id for found in rows.find(RunFilter(purpose="judge")).rows] == ["r5"]
    assert rows.find(RunFilter(purpose="chat")).total == 3


async def test_a_text_is_also_where_the_trace_says_it(database: JournalDB):
    rows = await filled(database)
    page = rows.find(RunFilter(text="Köchin", status="completed"), matching={"r1", "r2"})
    assert [found.run_id for found in page.rows] == ["r4", "r1"]
    assert (rows.variants("cook"), rows.variants("nobody")) == ([2], [])


@pytest.mark.parametrize("value", [None, 7, {}, {"run_id": "r2", "cost": "much", "agent": "cook", "duration_ms": []}])
async def test_a_damaged_row_hides_no_other(database: JournalDB, value: JsonValue):
    rows = await filled(database)
    database.table("runs").update({"value": value, "started": "never", "text": None}, doc_ids=[2])
    for sort in get_args(SortKey):
        assert {found.run_id for found in rows.find(RunFilter(), sort=sort).rows} == {"r1", "r3", "r4"}
    for wanted in (
        RunFilter(text="cook"),
        RunFilter(min_cost=0),
        RunFilter(max_ms=9),
        RunFilter(variant=2, agent="cook"),
    ):
        rows.find(wanted)
    assert {"r1", "r3", "r4"} <= {run_id for run_id, _ in rows.stamps()}
    assert "assistant" in rows.agents() and "demo/agent" in rows.models() and rows.variants("assistant") == [1]
    assert (rows.providers(), rows.tools()) == (["demo", "openai"], ["calculator"])


async def test_rows_are_sorted_and_paged(database: JournalDB):
    rows = await filled(database)
    assert [found.run_id for found in rows.find(RunFilter(), descending=False).rows] == ["r1", "r2", "r3", "r4"]
    assert rows.find(RunFilter(), sort="cost").rows[0].run_id == "r2"
    assert rows.find(RunFilter(), sort="total_tokens").rows[0].run_id == "r4"
    assert rows.find(RunFilter(), sort="duration_ms", descending=False).rows[0].run_id == "r3"
    page = rows.find(RunFilter(), offset=1, limit=2)
    assert ([found.run_id for found in page.rows], page.total) == (["r3", "r2"], 4)


async def test_moments_within_one_second_are_in_their_order(database: JournalDB):
    rows = Rows(database)
    for name, microseconds in (("late", 5), ("early", 0), ("later", 999_999)):
        await rows.save(row(name).model_copy(update={"started_at": BEGAN + timedelta(microseconds=microseconds)}))
    assert [found.run_id for found in rows.find(RunFilter(), descending=False).rows] == ["early", "late", "later"]


async def test_an_imported_run_has_cost_nothing_here(database: JournalDB):
    rows = await filled(database)
    costs = rows.cost_since(BEGAN), rows.cost_of_session("s1")
    await rows.save(row("r9", 4, cost=5.0).model_copy(update={"imported": True}))
    assert (rows.cost_since(BEGAN), rows.cost_of_session("s1")) == costs
    assert [found.run_id for found in rows.find(RunFilter(min_cost=5)).rows] == ["r9"]


async def test_what_a_day_has_cost_is_what_a_recount_says_whatever_changed_since(database: JournalDB):
    rows, chance = await filled(database), Random(5)
    since = BEGAN + timedelta(minutes=2)
    for _ in range(200):
        rows.cost_since(since)
        rows.cost_since(BEGAN)
        number = chance.randrange(9)
        await rows.save(row(f"r{number}", number, cost=chance.choice((0.1, 0.2, 1e-7, 3.0))))
    counted = rows.find(RunFilter()).rows
    for moment in (since, BEGAN):
        recount = sum(one.cost for one in counted if one.started_at >= moment)
        assert rows.cost_since(moment) == pytest.approx(recount, abs=1e-12)


async def test_the_dearest_runs_of_a_time_are_those_paid_here(database: JournalDB):
    rows = await filled(database)
    await rows.save(row("r5", 5, cost=0.4, purpose="judge"))
    await rows.save(row("r6", 5, cost=9.0).model_copy(update={"imported": True}))
    await rows.save(row("r7", 5, cost=8.0))
    await rows.delete(["r7"])
    await rows.save(row("r8", 5, cost=0.0))
    await rows.save(row("r9", 6, cost=7.0))
    since, until = BEGAN + timedelta(minutes=2), BEGAN + timedelta(minutes=6)
    assert [found.run_id for found in rows.dearest(since, until, limit=3)] == ["r2", "r5", "r3"]


async def test_what_is_added_up_beforehand_is_what_is_said(database: JournalDB):
    rows = await filled(database)
    await rows.spent.warm(BEGAN, BEGAN + timedelta(minutes=3))
    await rows.save(row("r4", 4, cost=3.0))
    assert (rows.cost_since(BEGAN), rows.cost_since(BEGAN + timedelta(minutes=3))) == (4.0, 3.25)
    earlier = BEGAN - timedelta(minutes=1)
    await asyncio.gather(rows.spent.warm(earlier), rows.save(row("r4", 4, cost=5.0)))
    assert rows.cost_since(earlier) == 6.0


async def test_what_a_run_has_cost_is_in_its_row_and_in_the_sums_at_once(tmp_path: Path):
    data = DataFolder.open(tmp_path)
    rows = data.rows
    await rows.save(row("r1", 1, cost=0.0))
    assert rows.cost_since(BEGAN) == 0.0
    saving = [asyncio.create_task(rows.save(row(run_id, 2, cost=0.5))) for run_id in ("r1", "r2")]
    await asyncio.sleep(0)
    assert not any(save.done() for save in saving)  # they wait for the disk
    assert [one and one.cost for one in map(rows.get, ("r1", "r2"))] == [0.5, 0.5]
    assert rows.cost_since(BEGAN) == rows.cost_since(BEGAN - timedelta(minutes=1)) == 1.0
    await asyncio.gather(*saving)
    assert rows.cost_since(BEGAN) == rows.cost_since(BEGAN - timedelta(minutes=1)) == 1.0
    await data.close()


async def test_a_row_on_its_way_to_the_disk_is_counted_once_by_whoever_counts_all_of_them(tmp_path: Path):
    data = DataFolder.open(tmp_path)
    await data.rows.warm()
    saving = asyncio.create_task(data.rows.save(row("r1", 1, cost=0.5)))
    await asyncio.sleep(0)
    assert not saving.done()
    await data.rows.settle_usage()
    await saving
    assert [figures.runs for _, figures in data.rows.usage_figures.ever()()] == [1]
    await data.close()


async def test_two_states_of_a_row_that_are_on_their_way_at_once_count_once(tmp_path: Path):
    data = DataFolder.open(tmp_path)
    await data.rows.save(used("r1", 0))
    await asyncio.gather(data.rows.save(used("r1", 1)), data.rows.save(used("r1", 2)))
    assert data.rows.tool_stats()["add"].calls == 2
    await data.close()


def used(run_id: str, calls: int) -> RunRow:
    return row(run_id, 1).model_copy(update={"tools": (ToolTally(name="add", calls=calls),)})


async def test_whoever_is_gone_before_the_disk_has_a_change_leaves_no_list_behind(tmp_path: Path):
    data = DataFolder.open(tmp_path)
    await data.rows.warm()
    chat = await data.sessions.create(session("chat", 1))
    changes, settings, said = data.sessions.changes, data.tool_settings.revision, data.scores.revision
    assert data.rows.turns("s1") == data.rows.by_age() == []
    await given_up(data.rows.save(row("r1", 1)))
    await given_up(data.sessions.change(chat.id, lambda found: found.model_copy(update={"title": "Soups"})))
    await given_up(data.tool_settings.save("add", ToolSetting(enabled=False)))
    await given_up(data.scores.save(given("r1", RATING, Trigger(kind="page"), value=1)))
    assert [turn.run_id for turn in data.rows.turns("s1")] == ["r1"]
    assert (data.sessions.changes, data.tool_settings.revision) == (changes + 1, settings + 1)
    assert data.scores.revision > said
    await data.close()


async def test_a_run_that_began_anew_has_cost_once(database: JournalDB):
    rows = Rows(database)
    for minutes in (1, 2):
        await rows.save(row("r1", minutes, cost=0.5))
    rows.week_of("a1")
    await rows.save(row("r1", 3, cost=0.75))
    assert rows.cost_since(BEGAN) == 0.75 and len(rows.begun_since(BEGAN)) == 1


async def test_deleted_rows_leave_the_lists_but_their_money_is_spent(database: JournalDB):
    rows = await filled(database)
    assert rows.cost_since(BEGAN + timedelta(minutes=2)) == 1.0
    await rows.delete(["r2", "r4"])
    await rows.save(row("r4", 4, cost=0.75))
    assert [found.run_id for found in rows.find(RunFilter()).rows] == ["r3", "r1"]
    assert rows.get("r4") is None
    assert rows.cost_since(BEGAN + timedelta(minutes=2)) == 1.5
    assert rows.cost_of_session("s1") == 1.5
    assert rows.cost_of_session("s9") == 0.25
    assert (rows.agents(), rows.models()) == (["assistant"], ["demo/agent", "openai/gpt-4o"])
    await rows.restore(["r2", "r4"])
    assert [found.run_id for found in rows.find(RunFilter()).rows] == ["r4", "r3", "r2", "r1"]
    assert rows.agents() == ["assistant", "cook"]


async def test_rows_are_the_same_after_a_restart(database: JournalDB, tmp_path: Path):
    page = (await filled(database)).find(RunFilter())
    again = Rows(JournalDB(tmp_path / "app.tdb"))
    await again.warm()
    assert again.find(RunFilter()) == page


async def test_preferences_are_kept_and_a_damaged_record_gives_those_the_app_comes_with(tmp_path: Path):
    kept = PreferencesStore(JournalDB(tmp_path / "app.tdb"))
    assert kept.get() == Preferences()
    await kept.save(Preferences(theme="dark", day_cost=3))
    path = tmp_path / "app.tdb"
    assert PreferencesStore(JournalDB(path)).get() == Preferences(theme="dark", day_cost=3)
    path.write_text(path.read_text().replace("dark", "dork"))
    assert PreferencesStore(JournalDB(path)).get() == Preferences()


async def test_a_tool_whose_setting_cannot_be_read_is_off_until_it_is_set_again(
    database: JournalDB, caplog: pytest.LogCaptureFixture
):
    await ToolSettingStore(database).save("calculator", ToolSetting())
    database.table("tool_settings").update({"value": {"enabled": "perhaps"}})
    settings = ToolSettingStore(database)
    assert not any(settings.get("calculator").enabled for _ in range(2)) and settings.get("http_get").enabled
    assert caplog.text.count("The tool setting 'calculator' is stored in a form that cannot be read") == 1
    await settings.save("calculator", ToolSetting())
    assert settings.get("calculator").enabled


async def test_the_runs_below_one_are_told_as_a_tree_with_what_they_cost(database: JournalDB):
    rows = Rows(database)
    await rows.save(row("top", 0))
    for run_id, above, minute in (("b", "top", 2), ("a", "top", 1), ("a1", "a", 3)):
        await rows.save(row(run_id, minute, parent=Parent(run_id=above, call_id="c")))
    assert [one.run_id for one in rows.below("top")] == ["a", "a1", "b"]
    assert (rows.cost_below("top"), rows.cost_below("a"), rows.cost_below("a1")) == (0.75, 0.25, 0.0)
    await rows.delete(["b"])
    again = Rows(rows._documents._database)
    assert [one.run_id for one in again.below("top")] == ["a", "a1"]
    assert again.cost_below("top") == 0.75  # it is spent
    await rows.save(row("top", 0, parent=Parent(run_id="a1", call_id="c")))
    assert [one.run_id for one in rows.below("top")] == ["a", "a1"]
