"""Tables are cleaned up by the sample agent through the whole engine: real tools, the demo model, the store."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.agents import Agent, PromptBehaviour, new_agent
from app.domain.trace import CallView, steps
from app.engine.loop.attachments import kept
from app.engine.run.run import Run
from app.engine.run.stopwatch import SystemClock
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.llm.demo.model import DemoModel
from app.paths import assets
from app.store.folder.folder import DataFolder
from app.tools.registry import Registry
from tests.builtin_tools import builtin_registry
from tests.engine.loop.test_real_small_model import OnlyNeedle
from tests.fakes.needle import NAME, why_not

SAMPLE = json.loads((assets() / "agents" / "table-cleaner.json").read_bytes())
ISSUE = "name,date,amount,region / John,1/15/24,1500,West / Jane,2024-02-20,2000,East / Bob,March 5 2024,1200,West"
TABLE = ISSUE.replace(" / ", "\n")
READ, DATES, EVALUATE = "data_transform__csv_to_json", "date_utils__parse_dates", "formula_engine__evaluate"


class OnlyDemo(OnlyNeedle):
    """A directory in which every name leads to the demo model."""

    def __init__(self) -> None:
        self.model = DemoModel(pace=0)


class Desk:
    """An agent with the kits, and runs of it."""

    def __init__(self, folder: Path, models: OnlyNeedle) -> None:
        self.data = DataFolder.open(folder)
        self.registry: Registry = builtin_registry()
        self.runs = Runs(self.data.traces, self.data.rows, models, self.registry, self.data.artifacts, SystemClock())
        self.chat = Chat(self.data.agents, self.data.sessions, self.runs, self.registry)

    async def agent(self, **changes: object) -> Agent:
        behaviour = PromptBehaviour.model_validate({**SAMPLE["behaviour"], **changes})
        return await self.data.agents.create(new_agent(SAMPLE["name"], behaviour, taken_slugs=self.data.agents.slugs()))

    async def ask(self, text: str, **changes: object) -> Run:
        session = await self.chat.new_session((await self.agent(**changes)).id)
        live = await self.chat.send(session.id, text)
        await asyncio.wait_for(live.ended(), 30)
        return live

    async def close(self) -> None:
        await self.runs.close()
        await self.registry.close()
        await self.data.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path / "data", OnlyDemo())
    yield desk
    await desk.close()


def calls(live: Run) -> list[CallView]:
    assert live.status == "completed", live.entries[-1]
    return [step.call for step in steps(live.entries) if step.type == "tool-call"]


def answer(live: Run) -> str:
    return [step.text for step in steps(live.entries) if step.type == "agent-response"][-1]


async def test_the_sample_agent_has_the_slug_and_the_kits_that_are_promised(desk: Desk):
    agent = await desk.agent()
    assert agent.slug == "table-cleaner"
    assert [tool.name for tool in agent.active_variant.behaviour.tools] == [
        "data-transform",
        "date-utils",
        "formula-engine",
        "json-utils",
    ]
    assert desk.registry.missing(tuple(tool.name for tool in agent.active_variant.behaviour.tools)) == ()


@pytest.mark.parametrize("table", [ISSUE, TABLE], ids=["slashes", "lines"])
async def test_the_cleaning_task_comes_out_right(desk: Desk, table: str):
    live = await desk.ask(f"Clean up this CSV: {table}")
    made = calls(live)
    assert [call.name for call in made] == [READ, DATES, EVALUATE]
    dates = json.loads(made[1].result.text)
    assert [one["iso"] for one in dates["dates"]] == ["2024-01-15", "2024-02-20", "2024-03-05"]
    assert json.loads(made[2].result.text)["groups"] == [
        {"region": "West", "row_count": 2, "value": 2700},
        {"region": "East", "row_count": 1, "value": 2000},
    ]
    said = answer(live)
    assert "| Bob | 2024-03-05 | 1200 | West |" in said
    assert "West: 2,700 · East: 2,000" in said
    assert "March" not in said.partition("What you may")[0]


async def test_other_tables_are_handled_as_what_they_are(desk: Desk):
    semicolons = (
        "Tidy this table:\n\nproduct;sold on;price\nTea;03.02.2024;2,50\nCoffee;2024-02-04;3,20\nTea;Feb 5, 2024;2,50"
    )
    said = answer(await desk.ask(semicolons))
    assert "| Tea | 2024-02-03 | 2,50 |" in said and "Tea: 5 · Coffee: 3.2" in said
    assert "it may mean 2024-03-02" in said

    live = await desk.ask("Please clean this csv\nname,city\nAnn,Rome\nBob,Oslo\n")
    assert [call.name for call in calls(live)] == [READ]
    assert "no column of dates" in answer(live) and "no column of amounts" in answer(live)

    live = await desk.ask("clean:\n```csv\nday,hours,notes\n1/2/24,3,ok\nsoon,4,\n1/30/24,n/a,ok\n```")
    assert "“soon” is no date" in answer(live) and "| soon | 4 |" in answer(live)


async def test_a_table_in_the_data_of_a_request_is_read_there(desk: Desk):
    data = json.dumps({"csv": TABLE})
    live = await desk.ask(f"Clean the data and total by region\n\nData:\n{data}")
    assert [call.name for call in calls(live)] == [READ, DATES, EVALUATE]
    rows = json.dumps([{"when": "1/15/24", "total": "1,500"}, {"when": "Feb 20 2024", "total": "500"}])
    live = await desk.ask(f"Clean up these rows\n\nData:\n{rows}")
    assert [call.name for call in calls(live)] == [DATES, EVALUATE]
    assert "**Sum of total:** 2,000" in answer(live)


async def test_asked_for_json_the_demo_answers_with_what_the_tools_found(desk: Desk):
    task = "Clean this CSV: fix the date formats to ISO, calculate the total amount per region, and return as JSON"
    live = await desk.ask(f"{task}\n\nData:\n{json.dumps({'csv': TABLE})}")
    assert [call.name for call in calls(live)] == [READ, DATES, EVALUATE]
    assert json.loads(answer(live)) == {
        "cleaned_data": [
            {"name": "John", "date": "2024-01-15", "amount": 1500, "region": "West"},
            {"name": "Jane", "date": "2024-02-20", "amount": 2000, "region": "East"},
            {"name": "Bob", "date": "2024-03-05", "amount": 1200, "region": "West"},
        ],
        "totals_by_region": {"West": 2700, "East": 2000},
    }
    live = await desk.ask("Clean this up in JSON:\n\nday,in,out\n1/30/24,3,1\n2/1/24,4,1")
    assert json.loads(answer(live))["totals"] == {"in": 7, "out": 2}


async def test_a_table_file_of_the_session_is_read_by_its_path(desk: Desk):
    session = await desk.chat.new_session(
        (await desk.agent(tools=[*SAMPLE["behaviour"]["tools"], {"name": "write_file"}])).id
    )
    live = await desk.chat.send(session.id, 'write "day,amount\n2024-01-01,5\n2024-01-02,6" to /sales.csv')
    await asyncio.wait_for(live.ended(), 30)
    live = await desk.chat.send(session.id, "Clean up /sales.csv")
    await asyncio.wait_for(live.ended(), 30)
    assert calls(live)[0].arguments == {"csv": "/sales.csv"}
    assert "**Sum of amount:** 11" in answer(live)


async def test_without_the_kits_the_demo_model_says_what_it_lacks(desk: Desk):
    live = await desk.ask(f"Clean up this CSV: {ISSUE}", tools=[])
    assert calls(live) == [] and READ in answer(live)
    live = await desk.ask(f"Clean up this CSV: {ISSUE}", tools=[{"name": "data-transform"}])
    assert [call.name for call in calls(live)] == [READ] and DATES in answer(live)


async def test_a_table_too_big_for_the_demo_model_is_not_guessed_at(desk: Desk):
    table = "day,amount,region\n" + "\n".join(f"2024-01-{n % 28 + 1:02},{n},West" for n in range(3000))
    live = await desk.ask(f"Clean this CSV:\n{table}")
    assert calls(live) == [] and "characters" in answer(live)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "it is here")
@pytest.mark.long
@pytest.mark.parametrize("given", [ISSUE, "/sales.csv"], ids=["in the message", "as a file"])
async def test_a_small_real_model_begins_by_reading_the_table(tmp_path: Path, given: str):
    desk = Desk(tmp_path / "data", OnlyNeedle())
    session = await desk.chat.new_session((await desk.agent(model=NAME)).id)
    # All kits are more than it reads in a few seconds: the tools that the agent's prompt names stay switched on.
    others = tuple(tool.spec.name for tool in desk.registry.listed() if tool.spec.name not in (READ, DATES, EVALUATE))
    await desk.data.sessions.change(session.id, lambda newest: newest.model_copy(update={"tools_off": others}))
    file = await kept(desk.data.artifacts, TABLE.encode(), media_type="text/csv", filename="sales.csv")
    live = await desk.chat.send(session.id, f'Clean this CSV: "{given}"', (file,) if given == "/sales.csv" else ())
    await asyncio.wait_for(live.ended(), 100)
    assert {tool.spec.name for tool in live.started.tools} == {READ, DATES, EVALUATE}
    [first] = calls(live)
    assert first.name == READ and first.arguments == {"csv": given}
    assert json.loads(first.result.text)["rows"] == [
        {"name": "John", "date": "1/15/24", "amount": 1500, "region": "West"},
        {"name": "Jane", "date": "2024-02-20", "amount": 2000, "region": "East"},
        {"name": "Bob", "date": "March 5 2024", "amount": 1200, "region": "West"},
    ]
    await desk.close()
