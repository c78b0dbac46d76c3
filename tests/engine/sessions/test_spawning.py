"""Runs that agents start: what they may do, what they hand back, and how they end."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.agents import ToolChoice
from app.domain.errors import ToolError
from app.domain.events import FileChanged, LimitReached, ToolReturned
from app.domain.messages import ToolCall, ToolResult, user_message
from app.domain.models import Price
from app.domain.provenance import Trigger
from app.domain.tools import Task
from app.domain.trace import files_after, open_pauses, totals
from app.engine.loop.running_call import NoTasks
from tests.deciding import resolve
from tests.engine.households import (
    Family,
    Household,
    called,
    ended,
    finished_children,
    join,
    joining,
    results,
    spawn,
    started,
    write,
)
from tests.engine.scripted import reply
from tests.waiting import until

KEY = Trigger(kind="api_key", name="nightly")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Household]:
    house = Household.opened(tmp_path / "data", Family())
    yield house
    await house.closed()


def told(result: ToolResult) -> dict[str, object]:
    assert result.status == "ok", result.text
    return json.loads(result.text)


async def test_tasks_go_on_side_by_side_and_their_answers_come_back(house):
    live = await house.led(reply("", spawn("c1", "one"), spawn("c2", "two")), joining)

    assert live.status == "completed"
    ends = [told(result) for call_id, result in results(live).items() if call_id.startswith("j")]
    assert [(end["status"], end["answer"]) for end in ends] == [("completed", "one: done"), ("completed", "two: done")]
    assert [end["task_id"] for end in ends] == started(live)
    assert finished_children(live) == dict.fromkeys(started(live), "completed")


async def test_a_child_says_in_its_trace_whose_it_is(house):
    live = await house.led(reply("", spawn("c1", "one")), joining)

    began = (await house.runs.trace(started(live)[0])).entries[0].event
    assert (began.parent.run_id, began.parent.call_id) == (live.run_id, "c1")
    assert (began.depth, began.background, began.trigger.kind, began.trigger.name) == (1, True, "agent", "Parent")
    assert began.agent == live.started.agent


async def test_a_child_has_no_tool_that_its_parent_has_not_and_the_stricter_policy_of_both(house):
    await house.agent("Helper", tools=(ToolChoice(name="write_file", policy="ask"), "list_files", "look", "join_task"))
    house.models.plans["lead"] = [reply("", spawn("c1", "one", agent="helper"))]
    parent = await house.agent(tools=("spawn_task", "write_file", ToolChoice(name="look", policy="ask")))
    live = await house.begun(parent)
    await ended(live)

    child = (await house.runs.trace(started(live)[0])).entries[0].event
    assert {tool.spec.name: tool.policy for tool in child.tools} == {"write_file": "ask", "look": "ask"}
    assert child.agent.slug == "helper"


async def test_a_parent_may_give_away_fewer_tools_and_none_that_it_has_not(house):
    live = await house.led(
        reply("", spawn("c1", "one", tools=["look"]), spawn("c2", "two", tools=["execute_python"])),
    )

    [child] = started(live)
    began = (await house.runs.trace(child)).entries[0].event
    assert [tool.spec.name for tool in began.tools] == ["look"]
    assert "'execute_python'" in results(live)["c2"].text and results(live)["c2"].status == "error"


@pytest.mark.parametrize("agent", ["nobody", "gone"])
async def test_an_agent_that_is_not_there_is_told_with_those_there_are(house, agent):
    gone = await house.agent("Gone")
    await house.data.agents.delete(gone)
    live = await house.led(reply("", spawn("c1", "one", agent=agent)))

    assert f"There is no agent {agent!r}" in results(live)["c1"].text and "Agents: parent." in results(live)["c1"].text
    assert started(live) == [] and live.status == "completed"


async def test_an_agent_goes_by_its_name_too(house):
    await house.agent("The Helper")
    live = await house.led(reply("", spawn("c1", "one", agent="the helper")), joining)

    assert (await house.runs.trace(started(live)[0])).entries[0].event.agent.slug == "the-helper"


async def test_a_key_reaches_no_agent_through_a_run_that_it_cannot_use_itself(house):
    house.models.reach = {"nightly": ("Parent", "Helper")}
    await house.agent("Helper")
    await house.agent("Secret")
    house.models.plans["lead"] = [
        reply(
            "", spawn("c1", "one", agent="helper"), spawn("c2", "two", agent="secret"), spawn("c3", "x", agent="Odd")
        ),
        joining,
    ]
    house.models.plans["one"] = [reply("", spawn("c4", "three", agent="SECRET"))]
    live = await house.begun(await house.agent(), trigger=KEY)
    await ended(live)

    [child] = started(live)
    below = house.runs.recent(child)
    for result, name in (
        (results(live)["c2"], "secret"),
        (results(live)["c3"], "Odd"),
        (results(below)["c4"], "SECRET"),
    ):
        assert result.status == "error"
        assert result.text.endswith(
            f"There is no agent {name!r}: it is not known, or was deleted. Agents: helper, parent."
        )
    assert started(below) == [] and live.status == "completed"


async def test_a_run_of_a_page_reaches_all_agents(house):
    house.models.reach = {"nightly": ("Parent",)}
    await house.agent("Secret")
    live = await house.led(reply("", spawn("c1", "one", agent="secret")), joining)

    assert told(results(live)["j0"])["answer"] == "one: done"


async def test_a_level_too_deep_is_told_to_the_run_that_wanted_it_which_goes_on(house):
    for name, below in (("lead", "two"), ("two", "three"), ("three", "four")):
        house.models.plans[name] = [reply("", spawn("c1", below)), joining]
    live = await house.begun(await house.agent(spawn_depth=2))
    await ended(live)

    child = (await house.runs.trace(started(live)[0])).entries
    deepest = (await house.runs.trace(started_in(child)[0])).entries
    refused = next(entry.event.result for entry in deepest if isinstance(entry.event, ToolReturned))
    assert refused.status == "error" and "do it yourself. Agents may start one another 2 levels deep" in refused.text
    assert (deepest[-1].event.status, started_in(deepest), live.status) == ("completed", [], "completed")


def started_in(entries) -> list[str]:
    return [entry.event.child_run_id for entry in entries if entry.event.type == "child_started"]


async def test_an_agent_below_cannot_raise_the_depth(house):
    await house.agent("Digger", spawn_depth=9)
    house.models.plans["two"] = [reply("", spawn("c1", "three"))]
    live = await house.led(reply("", spawn("c1", "two", agent="digger")), joining, spawn_depth=1)

    child = (await house.runs.trace(started(live)[0])).entries
    assert told(results(live)["j0"])["status"] == "completed" and started_in(child) == []


async def test_a_task_for_which_no_money_is_left_is_told_to_the_run_which_goes_on(house):
    house.models.priced = Price(input=0.0, output=0.01)
    await house.agent("Wordy", max_tokens=50)
    live = await house.led(reply("", spawn("c1", "one", agent="wordy")), reply("I did it."), run_cost=0.35)

    refused = results(live)["c1"]
    assert (refused.status, live.status, started(live)) == ("error", "completed", [])
    assert "do what is left yourself" in refused.text and "above its ceiling of $0.35" in refused.text


async def test_a_child_has_no_more_time_than_its_parent_has_left(house):
    live = await house.led(reply("", spawn("c1", "one")), joining, total_time=30)

    child = (await house.runs.trace(started(live)[0])).entries[0].event
    assert 1 <= child.limits.total_time <= 30


async def test_a_seventeenth_child_has_to_wait_for_another_to_end(house):
    calls = [spawn(f"c{number}", f"waits {number}") for number in range(17)]
    house.models.plans["lead"] = [reply("", *calls)]
    live = await house.begun(await house.agent())
    await ended(live)

    statuses = [result.status for result in results(live).values()]
    assert sorted(statuses) == ["error"] + ["ok"] * 16
    assert any("16 tasks of this run have not ended yet" in result.text for result in results(live).values())


@pytest.mark.parametrize(("children", "ceiling"), [(4, 0.35), (8, 0.75), (8, 3.0)])
async def test_children_together_do_not_pass_the_ceiling_of_their_parent(house, children, ceiling):
    house.models.priced = Price(input=0.0, output=0.01)
    calls = [spawn(f"c{number}", f"waits {number}") for number in range(children)]
    house.models.plans["lead"] = [reply("", *calls), joining]
    live = await house.begun(await house.agent(run_cost=ceiling, repeats=0))
    await until(lambda: len(started(live)) == children)
    house.models.gate.set()
    await until(lambda: not house.runs.live_runs())

    traces = [(await house.runs.trace(run_id)).entries for run_id in (live.run_id, *started(live))]
    spent = sum(totals(entries).cost for entries in traces)
    assert spent <= ceiling + 1e-9
    assert house.runs.ledger.run_cost(live.budget.account) == pytest.approx(spent)
    if spent < 0.1 * (children + 2):
        assert "limited" in {entries[-1].event.status for entries in traces}


async def test_tokens_of_children_count_against_the_ceiling_of_their_parent(house):
    house.models.tokens = 40
    live = await house.led(reply("", spawn("c1", "one"), spawn("c2", "two"), tokens=1), joining, run_tokens=100)

    [limit] = [entry.event for entry in live.entries if isinstance(entry.event, LimitReached)]
    assert limit.limit == "run_tokens" and limit.reached > 160


async def test_grandchildren_that_outlive_a_child_still_cost_the_first(house):
    house.models.priced = Price(input=0.0, output=0.01)
    house.models.plans["one"] = [reply("", spawn("d1", "waits"))]
    live = await house.led(reply("", spawn("c1", "one")), joining)
    [grandchild] = house.runs.live_runs()
    house.models.gate.set()
    await ended(grandchild)

    assert house.runs.ledger.run_cost(live.budget.account) == pytest.approx(0.6)


async def test_files_of_a_child_become_those_of_its_parent(house):
    house.models.plans["one"] = [reply("", write("w1", "/a.txt", "child"))]
    live = await house.led(reply("", spawn("c1", "one")), joining)

    assert told(results(live)["j0"])["files"] == ["/a.txt"]
    [change] = [entry.event for entry in live.entries if isinstance(entry.event, FileChanged)]
    assert (change.call_id, change.path, change.before) == ("j0", "/a.txt", None)
    assert await house.data.artifacts.get(files_after(live.entries)["/a.txt"]) == b"child"


async def test_a_file_that_was_changed_on_both_sides_stays_as_the_parent_has_it(house):
    house.models.plans["one"] = [reply("", write("w1", "/a.txt", "child"), write("w2", "/b.txt", "child"))]
    live = await house.led(
        reply("", write("w0", "/a.txt", "before")),
        reply("", spawn("c1", "one")),
        reply("", write("w3", "/a.txt", "parent")),
        joining,
    )

    end = told(results(live)["j0"])
    assert (end["files"], end["files_kept"]) == (["/b.txt"], ["/a.txt"])
    assert await house.data.artifacts.get(files_after(live.entries)["/a.txt"]) == b"parent"


async def test_a_child_begins_with_the_files_of_its_parent(house):
    live = await house.led(reply("", write("w0", "/a.txt", "x")), reply("", spawn("c1", "one")), joining)

    assert list((await house.runs.trace(started(live)[0])).entries[0].event.files) == ["/a.txt"]


async def test_stop_of_a_parent_stops_its_children(house):
    house.models.plans["lead"] = [reply("", spawn("c1", "waits"), spawn("c2", "waits too")), joining]
    live = await house.begun(await house.agent())
    lives = await until(lambda: "j1" in called(live) and house.runs.live_runs())
    live.stop()
    await asyncio.gather(*(ended(one) for one in lives))

    assert {one.status for one in lives} == {"cancelled"} and len(lives) == 3


async def test_a_parent_that_ends_lets_its_children_go_on_as_jobs(house):
    live = await house.led(reply("", spawn("c1", "waits")))

    assert live.status == "completed" and house.jobs.running() == 1
    [child] = house.runs.live_runs()
    house.models.gate.set()
    await ended(child)
    assert child.status == "completed" and [row.run_id for row in house.jobs.ended] == [child.run_id]
    assert finished_children(live) == {}


async def test_a_later_turn_may_ask_what_came_of_a_task(house):
    session = await house.chat.new_session(await house.agent())
    house.models.plans["lead"] = [reply("", spawn("c1", "one"))]
    live = await house.chat.send(session.id, "lead")
    await ended(live)
    house.models.plans["lead"] += [reply("done"), reply("", join("j1", started(live)[0]))]
    later = await house.chat.send(session.id, "and?")
    await ended(later)

    assert told(results(later)["j1"])["answer"] == "one: done"


async def test_only_tasks_of_the_session_can_be_joined(house):
    first = await house.led(reply("", spawn("c1", "one")), joining)
    house.models.plans["other"] = [reply("", join("j1", started(first)[0]))]
    second = await house.begun(first.started.agent.id, "other")
    await ended(second)

    assert results(second)["j1"].status == "error" and "There is no task" in results(second)["j1"].text


async def test_a_steer_ends_the_waiting_and_not_the_child(house):
    house.models.plans["lead"] = [reply("", spawn("c1", "waits")), joining]
    live = await house.begun(await house.agent())
    await until(lambda: "j0" in called(live))
    live.control.steer(user_message("never mind"))
    await ended(live)

    assert results(live)["j0"].status == "cancelled" and live.status == "completed"
    [child] = house.runs.live_runs()
    assert child.status == "running"


async def test_the_time_out_of_a_tool_stands_still_while_a_child_goes_on(house):
    house.models.plans["lead"] = [reply("", spawn("c1", "waits")), joining]
    live = await house.begun(await house.agent(tool_timeout=1.5, retry_on_error=False))
    await until(lambda: "j0" in called(live))
    left = live.stopwatch.left
    await until(lambda: live.stopwatch.left < left - 1.7)
    house.models.gate.set()
    await ended(live)

    assert told(results(live)["j0"])["status"] == "completed"


async def test_a_child_pauses_like_any_run_and_the_join_waits_with_it(house):
    look = ToolChoice(name="look", policy="ask")
    house.models.plans["lead"] = [reply("", spawn("c1", "one")), joining]
    house.models.plans["one"] = [reply("", ToolCall(call_id="l1", name="look"))]
    live = await house.begun(await house.agent(tools=("spawn_task", "join_task", look)))
    child = await until(lambda: next((one for one in house.runs.live_runs() if one.control.waits), None))
    assert child.started.parent and len(await house.pauses.waiting()) == 1
    [pause] = open_pauses(child.entries)
    await until(lambda: "waits for you" in str(live.recorder.progress))
    await house.pauses.decide(child.run_id, pause.pause_id, "approve")
    await ended(live)

    assert told(results(live)["j0"])["answer"] == "one: done" and house.looked == ["look"]


async def test_the_session_of_a_child_is_listed_once_somebody_opens_it_or_goes_on(house):
    live = await house.led(reply("", spawn("c1", "one"), spawn("c2", "two")), joining)
    assert [session.id for session in house.data.sessions.recent()] == [live.started.session_id]
    first, second = (house.data.rows.get(run_id).session_id for run_id in started(live))

    await house.jobs.opened(started(live)[0])
    await ended(await house.chat.send(second, "more"))

    assert {session.id for session in house.data.sessions.recent()} == {live.started.session_id, first, second}


async def test_a_call_by_hand_hands_nothing_over():
    with pytest.raises(ToolError, match="Only an agent in a run"):
        await NoTasks().spawn(Task(text="x"))
    with pytest.raises(ToolError, match="'t'"):
        await NoTasks().join("t", lambda _: None)


@pytest.mark.parametrize(("own_model", "asked"), [("scripted/model", 0), ("other/one", 1)])
async def test_a_child_asks_about_another_model_of_an_unknown_price_where_a_page_shows_it(house, own_model, asked):
    house.models.bills = True
    helper = await house.agent("Helper")
    variant = house.data.agents.get(helper).active_variant
    behaviour = variant.behaviour.model_copy(update={"model": own_model})
    await house.data.agents.change(
        helper, lambda one: one.model_copy(update={"variants": (variant.model_copy(update={"behaviour": behaviour}),)})
    )
    house.models.plans["lead"] = [reply("", spawn("c1", "one", agent="helper")), joining]
    live = await house.begun(await house.agent())
    await until(lambda: live.control.waits)
    resolve(live, open_pauses(live.entries)[0].pause_id, "approve")
    if asked:
        await until(lambda: started(live) and (child := house.runs.live(started(live)[0])) and child.control.waits)
        child = house.runs.live(started(live)[0])
        [pause] = open_pauses(child.entries)
        assert own_model in pause.question
        resolve(child, pause.pause_id, "approve")
    await ended(live)

    child = house.runs.recent(started(live)[0])
    assert [entry.event.type for entry in child.entries].count("pause_requested") == asked
    assert told(results(live)["j0"])["answer"] == "one: done"


async def test_a_child_of_a_program_asks_nobody_what_its_model_costs(house):
    house.models.bills = True
    house.models.plans["lead"] = [reply("", spawn("c1", "one")), joining]
    live = await house.begun(await house.agent(), trigger=KEY)
    await ended(live)

    assert told(results(live)["j0"])["answer"] == "one: done"
