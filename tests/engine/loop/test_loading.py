"""Tools that do not fit: what is sent when, found, recorded, and told again by forks, replays and after a restart."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app.domain.agents import Agent, PromptBehaviour, ToolChoice, new_agent
from app.domain.errors import ToolError
from app.domain.events import Entry, ModelCalled, ToolReturned
from app.domain.forks.forks import ForkPlan
from app.domain.provenance import Trigger
from app.domain.settings import Preferences
from app.domain.tools import ToolSpec
from app.domain.trace import open_pauses
from app.domain.trace.requests import request_at
from app.engine.run.run import Run
from app.tools.builtin.find_tools import best, find_tools
from app.workbench import Workbench
from tests.api.over import opened
from tests.tools.context import Context
from tests.waiting import until

KITS = ("calculator", "json_utils", "data_transform", "date_utils", "formula_engine")
SUM = "What is 5 + 10?"
THEN = "What is 7 + 10?"


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = opened(tmp_path)
    await workbench.start()
    yield workbench
    await workbench.close()


async def agent_of(workbench: Workbench, **behaviour: object) -> Agent:
    tools = tuple(ToolChoice(name=name) for name in KITS)
    made = PromptBehaviour(tools=tools).model_copy(update=behaviour)
    return await workbench.agents.create(new_agent("Handy", made, taken_slugs=workbench.agents.slugs()))


async def asked(workbench: Workbench, agent: Agent, text: str = SUM, session_id: str = "") -> Run:
    session_id = session_id or (await workbench.chat.new_session(agent.id)).id
    live = await workbench.chat.send(session_id, text)
    await live.ended()
    return live


def sent(entries: list[Entry]) -> Iterator[set[str]]:
    """The names of the tools of each call, as Messages shows them."""
    for entry in entries:
        if isinstance(entry.event, ModelCalled):
            yield {spec.name for spec in request_at(entries, entry.seq).tools}


async def test_on_demand_only_what_was_found_is_sent_from_the_next_call_on(workbench):
    agent = await agent_of(workbench, tool_loading="on_demand")
    live = await asked(workbench, agent)
    assert "15" in live.entries[-2].event.model_dump_json() or live.status == "completed"
    first, second, *_ = sent(live.entries)
    assert first == {"find_tools", "read_result"}
    assert second == {"find_tools", "read_result", "calculator"}
    [found] = [one.event for one in live.entries if isinstance(one.event, ToolReturned) and one.event.loaded]
    assert (found.loaded, found.result.name) == (("calculator",), "find_tools")
    finder = live.started.tools[0].spec
    assert "json_utils (" in finder.description and "calculator" in finder.description.lower()
    stored = (await workbench.runs.trace(live.run_id)).entries
    assert list(sent(stored)) == list(sent(live.entries))
    changed = [one for one in stored if isinstance(one.event, ModelCalled)][1]
    assert request_at(stored, changed.seq).changed == ("tools",)


async def test_what_was_called_before_is_sent_at_once_in_the_next_run(workbench):
    agent = await agent_of(workbench, tool_loading="on_demand")
    before = await asked(workbench, agent)
    live = await asked(workbench, agent, THEN, before.started.session_id)
    assert next(sent(live.entries)) == {"find_tools", "read_result", "calculator"}
    assert not any(isinstance(one.event, ToolReturned) and one.event.loaded for one in live.entries)


async def test_replays_and_forks_see_the_same(workbench):
    agent = await agent_of(workbench, tool_loading="on_demand")
    live = await asked(workbench, agent)
    report = await workbench.forks.replay(live.run_id)
    assert report.identical, report.words
    [place] = [one.seq for one in live.entries if isinstance(one.event, ToolReturned) and one.event.loaded]
    fork = await workbench.forks.start(live.run_id, ForkPlan(seq=place), trigger=Trigger(kind="page"))
    await fork.ended()
    assert fork.status == "completed"
    assert list(sent(fork.entries)) == list(sent(live.entries))


async def test_a_run_that_was_left_goes_on_with_what_it_had_found(tmp_path):
    first = opened(tmp_path)
    await first.start()
    careful = tuple(ToolChoice(name=name, policy="ask") for name in KITS)
    agent = await agent_of(first, tool_loading="on_demand", tools=careful)
    live = await first.chat.send((await first.chat.new_session(agent.id)).id, SUM)
    await until(lambda: live.status == "paused")
    await first.close()
    second = opened(tmp_path)
    [pause] = open_pauses((await second.runs.trace(live.run_id)).entries)
    again = await second.pauses.decide(live.run_id, pause.pause_id, "approve")
    await again.ended()
    assert (again.status, again.tools_since.notes) == ("completed", ())
    assert {tool.spec.name: tool.policy for tool in again.started.tools}["find_tools"] == "auto"
    assert list(sent(again.entries))[-1] == {"find_tools", "read_result", "calculator"}
    await second.close()


@pytest.mark.parametrize(("percent", "deferred"), [(1, True), (100, False)])
async def test_without_a_choice_the_share_of_the_context_decides(workbench, percent, deferred):
    await workbench.preferences.save(Preferences(tool_percent=percent))
    tools = tuple(ToolChoice(name=spec.name) for spec in workbench.tools.all())
    live = await asked(workbench, await agent_of(workbench, tools=tools))
    assert bool(live.started.unsent) == deferred
    assert live.status == "completed"


async def test_who_wants_all_gets_all(workbench):
    await workbench.preferences.save(Preferences(tool_percent=1))
    live = await asked(workbench, await agent_of(workbench, tool_loading="all"))
    assert live.started.unsent == () and "find_tools" not in next(sent(live.entries))


async def test_an_agent_below_finds_its_own_tools(workbench):
    agent = await agent_of(
        workbench, tool_loading="on_demand", tools=(*(ToolChoice(name=name) for name in (*KITS, "spawn_task")),)
    )
    live = await asked(workbench, agent, "Use spawn_task with task='What is 5 + 10?'")
    [child] = [one.event.child_run_id for one in live.entries if one.event.type == "child_started"]
    if (below := workbench.runs.live(child)) is not None:
        await below.ended()
    entries = (await workbench.runs.trace(child)).entries
    assert entries[-1].event.status == "completed"
    assert [one.event.result.name for one in entries if isinstance(one.event, ToolReturned)] == [
        "find_tools",
        "calculator",
    ]


def spec(name: str, description: str, kit: str = "") -> ToolSpec:
    return ToolSpec(name=name, description=description, parameters={"type": "object"}, kit=kit)


SPECS = (
    spec("github__create_issue", "Create an issue in a repository.", "github"),
    spec("github__list_issues", "List issues.", "github"),
    spec("weather__forecast", "The weather of the next days in a city.", "weather"),
)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("weather__forecast", ["weather__forecast"]),
        ("weather-forecast in Paris", ["weather__forecast"]),
        ("make an issue", ["github__create_issue", "github__list_issues"]),
        ("github", ["github__create_issue", "github__list_issues"]),
        ("what will the weather in the city be", ["weather__forecast"]),
        ("knitting", []),
    ],
)
def test_tools_are_found_by_name_group_and_words(words, names):
    assert [one.name for one in best(SPECS, words) if one.name in names] == names
    assert bool(best(SPECS, words)) == bool(names)


async def test_what_fits_nothing_is_answered_with_the_names_there_are():
    context = Context(unsent=SPECS)
    with pytest.raises(ToolError, match="github__create_issue"):
        await find_tools.run({"words": "knitting"}, context)
    assert context.loaded == []
    await find_tools.run({"words": "forecast"}, context)
    assert context.loaded == ["weather__forecast"]
