"""Each limit ends a run as `limited`, says which it was and how to raise it, and nothing is called after it."""

import asyncio
from datetime import timedelta

import pytest

from app.domain.agents import LimitName, Limits, Parameters
from app.domain.events import LimitReached, RunStarted
from app.domain.messages import TextPart, ToolCall, ToolResult, Usage
from app.domain.models import Price
from app.domain.provenance import AgentRef
from app.domain.streaming import ModelRequest, Reply
from app.domain.trace import run_row
from app.domain.usage.days import local_midnight, local_month
from app.engine.run.ledger import size_of
from app.engine.run.limits import SENTENCES, Prompt, sentence
from app.engine.runs.runs import Runs
from tests.deciding import resolve
from tests.engine.scripted import reply
from tests.traces import the_sum

PRICE = Price(input=0.01, output=0.01)


def add(call_id: str, x: int = 1) -> ToolCall:
    return ToolCall(call_id=call_id, name="add", arguments={"x": x, "y": 2})


def limits(live) -> list[LimitReached]:
    return [entry.event for entry in live.entries if isinstance(entry.event, LimitReached)]


def ended_by(live) -> str:
    """The limit that ended the run; after it came nothing but the end."""
    [limit] = limits(live)
    assert live.status == "limited" and live.entries[-1].event.error.text == sentence(limit)
    assert [entry.event.type for entry in live.entries][-2:] == ["limit_reached", "run_finished"]
    return limit.limit


async def test_tokens_of_a_run_are_looked_at_before_the_next_call(bench):
    for number in range(4):
        bench.models.say(reply("", add(f"c{number}", number), tokens=40))
    live = await bench.ask("x", "add", run_tokens=160)
    assert ended_by(live) == "run_tokens"
    assert len(bench.models.requests) == 2 and limits(live)[0].reached == 161


async def test_an_answer_above_the_tokens_runs_none_of_its_tools(bench):
    bench.models.say(reply("", add("c1"), tokens=500))
    live = await bench.ask("x", "add", run_tokens=200)
    assert ended_by(live) == "run_tokens" and limits(live)[0].reached == 1000
    assert "tool_called" not in [entry.event.type for entry in live.entries]


async def test_a_final_answer_above_a_limit_is_an_answer(bench):
    bench.models.say(reply("done", tokens=500))
    assert (await bench.ask("x", run_tokens=200)).status == "completed"


async def test_the_fourth_same_call_with_the_same_result_ends_the_run(bench):
    for number in range(9):
        bench.models.say(reply("", add(f"c{number}")))
    live = await bench.ask("x", "add")
    assert ended_by(live) == "repeats"
    assert (limits(live)[0].allowed, limits(live)[0].reached) == (3, 4)
    assert len(bench.models.requests) == 4


async def test_other_arguments_in_between_begin_the_count_anew(bench):
    for number, x in enumerate([1, 1, 1, 2, 1, 1]):
        bench.models.say(reply("", add(f"c{number}", x)))
    bench.models.say("done")
    assert (await bench.ask("x", "add")).status == "completed"


async def test_repeated_calls_may_be_allowed(bench):
    for number in range(6):
        bench.models.say(reply("", add(f"c{number}")))
    bench.models.say("done")
    assert (await bench.ask("x", "add", repeats=0)).status == "completed"


async def test_a_result_that_is_too_big_ends_the_run(bench):
    bench.models.say(reply("", add("c1")))
    bench.models.say("done")
    assert (await bench.ask("x", "add", result_size=0)).status == "completed"
    bench.models.say(reply("", add("c1", 10**6)))
    live = await bench.ask("x", "add", result_size=6)
    assert ended_by(live) == "result_size" and limits(live)[0].reached == 7


def test_a_result_is_as_big_as_its_text_and_its_files():
    assert size_of(ToolResult(call_id="c", name="n", parts=(TextPart(text="ä" * 10),))) == 20


async def test_the_money_of_a_session_counts_its_runs(bench):
    bench.models.priced = PRICE
    session = await bench.session(parameters=Parameters(max_tokens=10), session_cost=0.35, run_cost=1)
    bench.models.say(reply("first", tokens=10))
    first = await bench.chat.send(session.id, "x")
    await first.ended()
    second = await bench.chat.send(session.id, "y")
    await second.ended()
    assert first.status == "completed" and ended_by(second) == "session_cost"
    other = await bench.chat.new_session(session.agent_id)
    bench.models.say(reply("there", tokens=10))
    third = await bench.chat.send(other.id, "z")
    await third.ended()
    assert third.status == "completed"


async def test_the_money_of_a_day_has_a_ceiling_for_all_agents(bench):
    bench.models.priced = PRICE
    bench.runs.ledger.day_ceiling = lambda: 0.05
    session = await bench.session(parameters=Parameters(max_tokens=10))
    live = await bench.chat.send(session.id, "x")
    await live.ended()
    assert ended_by(live) == "app_day_cost" and bench.models.requests == []


async def test_the_money_of_a_month_has_a_ceiling_for_all_agents(bench):
    bench.models.priced = PRICE
    bench.runs.ledger.month_ceiling = lambda: 0.15
    session = await bench.session(parameters=Parameters(max_tokens=10), run_cost=1)
    bench.models.say(reply("dear", tokens=10))
    first = await bench.chat.send(session.id, "x")
    await first.ended()
    assert first.status == "completed" and bench.runs.ledger.month_cost() == bench.runs.ledger.day_cost() > 0
    second = await bench.chat.send(session.id, "y")
    await second.ended()
    assert ended_by(second) == "app_month_cost" and "this month's spending" in second.entries[-1].event.error.text


async def test_a_month_counts_the_days_before_today(bench):
    today = bench.clock.now()
    began = local_month(today)
    row = run_row(the_sum(), alive=False)
    for number, moment in enumerate((began, began - timedelta(seconds=1))):
        earlier = {"run_id": f"r{number}", "started_at": moment, "cost": 1.0 + number}
        await bench.data.rows.save(row.model_copy(update=earlier))
    assert bench.runs.ledger.month_cost() == 1.0
    assert bench.runs.ledger.day_cost() == (1.0 if began == local_midnight(today) else 0.0)


async def test_what_is_free_is_held_back_by_no_money_ceiling(bench):
    bench.models.priced = Price(input=0, output=0)
    bench.models.say("free")
    assert (await bench.ask("x", run_cost=0, day_cost=0)).status == "completed"


async def test_a_free_model_answers_when_the_money_of_the_day_is_spent(bench):
    bench.models.priced = PRICE
    session = await bench.session(parameters=Parameters(max_tokens=10), day_cost=0.15, run_cost=1)
    bench.models.say(reply("dear", tokens=20))
    await (await bench.chat.send(session.id, "x")).ended()
    bench.models.priced = Price(input=0, output=0)
    bench.models.say("free")
    live = await bench.chat.send(session.id, "y")
    await live.ended()
    assert live.status == "completed"


async def test_ten_runs_side_by_side_pass_a_ceiling_no_further_than_one_would(bench):
    bench.models.priced, gate = PRICE, asyncio.Event()
    for _ in range(10):
        bench.models.say(gate.wait, reply("done", tokens=10))
    session = await bench.session(parameters=Parameters(max_tokens=10), day_cost=0.75, run_cost=1)
    lives = []
    for _ in range(10):
        own = await bench.chat.new_session(session.agent_id)
        lives.append(await bench.chat.send(own.id, "x" * 10))
    gate.set()
    await asyncio.gather(*(live.ended() for live in lives))
    spent = bench.runs.ledger.day_cost()
    assert spent == pytest.approx(0.6) and len(bench.models.requests) < 10
    assert {live.status for live in lives} == {"completed", "limited"}
    assert sum(live.status == "completed" for live in lives) == len(bench.models.requests)


async def test_what_is_reserved_for_a_call_that_fails_is_free_again(bench):
    bench.models.priced = PRICE
    session = await bench.session(parameters=Parameters(max_tokens=10), day_cost=0.15, run_cost=1)
    bench.models.say(RuntimeError("no"))
    await (await bench.chat.send(session.id, "x")).ended()
    bench.models.say(reply("there", tokens=1))
    live = await bench.chat.send(session.id, "x")
    await live.ended()
    assert live.status == "completed"


async def test_what_a_call_cost_takes_the_place_of_what_was_reserved(bench):
    bench.models.priced = PRICE
    session = await bench.session("add", parameters=Parameters(max_tokens=10), run_cost=0.35)
    bench.models.say(reply("", add("c1"), tokens=10))
    bench.models.say(reply("3", tokens=1))
    live = await bench.chat.send(session.id, "x")
    await live.ended()
    assert live.status == "completed"


async def test_what_a_child_costs_counts_against_its_parent(bench):
    ledger = bench.runs.ledger
    agent = AgentRef(id="a", slug="a", name="A", variant=1)
    parent = ledger.open("p", RunStarted(session_id="s", agent=agent, model="m", limits=Limits(run_cost=1)))
    child = ledger.open("c", parent.started.model_copy(update={"parent": None}))
    child.parent = parent
    child.spending.cost = 0.7
    assert ledger.run_cost(parent) == pytest.approx(0.7)
    ledger.close(child)
    assert ledger.run_cost(parent) == pytest.approx(0.7)
    ledger.close(parent)


async def test_usage_that_nobody_named_is_estimated(bench):
    message = reply("0123456789").message
    bench.models.say(Reply(message, Usage(), "stop"))
    live = await bench.ask("four")
    [returned] = [entry.event for entry in live.entries if entry.event.type == "model_returned"]
    assert returned.usage == Usage(input_tokens=4, output_tokens=10, estimated=True)


async def asked_about_the_price(bench, decision: str, session_id: str):
    live = await bench.chat.send(session_id, "x")
    async with asyncio.timeout(30):
        async for entry in live.follow():
            if entry.event.type == "pause_requested":
                resolve(live, entry.event.pause_id, decision)
    await live.ended()
    return live


async def test_an_unknown_price_is_asked_about_once_in_a_session(bench):
    bench.models.bills = True
    session = await bench.session()
    bench.models.say("one")
    bench.models.say("two")
    first = await asked_about_the_price(bench, "approve", session.id)
    second = await asked_about_the_price(bench, "deny", session.id)
    assert [live.status for live in (first, second)] == ["completed", "completed"]
    assert "pause_requested" in [entry.event.type for entry in first.entries]
    assert "pause_requested" not in [entry.event.type for entry in second.entries]


async def test_who_agreed_is_not_asked_again_for_another_answer_to_the_first_message(bench):
    bench.models.bills = True
    session = await bench.session()
    bench.models.say("one")
    bench.models.say("another one")
    first = await asked_about_the_price(bench, "approve", session.id)
    second = await bench.chat.regenerate(session.id, first.run_id)
    await asyncio.wait_for(second.ended(), 30)
    assert second.status == "completed" and not second.started.unpriced_agreed


async def test_who_agreed_is_not_asked_again_after_a_restart(bench):
    bench.models.bills = True
    session = await bench.session()
    bench.models.say("one")
    bench.models.say("two")
    await asked_about_the_price(bench, "approve", session.id)
    bench.chat.runs = Runs(
        bench.data.traces, bench.data.rows, bench.models, bench.runs.toolbox, bench.data.artifacts, bench.clock
    )
    second = await asked_about_the_price(bench, "deny", session.id)
    assert second.status == "completed" and second.started.unpriced_agreed
    assert bench.models.requests[-1].messages[0].text == "x"


async def test_who_says_no_to_an_unknown_price_asks_nothing_of_the_model(bench):
    bench.models.bills = True
    live = await asked_about_the_price(bench, "deny", (await bench.session()).id)
    assert live.status == "failed" and bench.models.requests == []
    assert "without a known price" in live.entries[-1].event.error.text


@pytest.mark.parametrize("name", SENTENCES)
def test_each_limit_says_how_to_raise_it(name: LimitName):
    words = sentence(LimitReached(limit=name, allowed=3, reached=4))
    assert "aise" in words and "{" not in words


@pytest.mark.parametrize(
    ("amount", "told"),
    [(0, "$0.00"), (0.0042, "$0.0042"), (0.00005, "$0.00005"), (0.1, "$0.10"), (12.5, "$12.50"), (120, "$120.00")],
)
def test_an_amount_of_money_keeps_its_digits(amount: float, told: str):
    words = sentence(LimitReached(limit="run_cost", allowed=amount, reached=2))
    assert f"above its ceiling of {told}. " in words


def test_the_next_call_costs_at_most_its_prompt_and_the_longest_answer():
    request = ModelRequest("m", (), parameters=Parameters(max_tokens=50))
    assert Prompt(request, 10, 0).cost_at_most(PRICE) == pytest.approx(0.6)
    assert Prompt(request, 10, 0).cost_at_most(None) == 0
