"""Runs that their process left: decided on, gone on with, from every place in which they can be left."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.domain.agents import ToolChoice
from app.domain.errors import Conflict, NotFound
from app.domain.events import Entry, RunResumed, ToolCalled
from app.domain.messages import ToolCall
from app.domain.models import Price
from app.domain.provenance import Trigger
from app.domain.streaming import TextDelta
from app.domain.tools import CallContext, Question
from app.domain.trace import RunFilter, conversation, open_pauses, totals
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.engine.sessions.pauses import Pauses
from app.store.folder.folder import DataFolder
from app.tools.function.tool import AnyTool, tool
from app.tools.registry import Registry
from tests.deciding import resolve
from tests.engine.conftest import Bench, QuickClock
from tests.engine.scripted import ScriptedModels, forever, reply
from tests.waiting import until


@dataclass
class World:
    """What the tools have done, and whether they come back."""

    done: list[str] = field(default_factory=list)
    hanging: bool = False
    processes: list[Runs] = field(default_factory=list)

    def tools(self) -> list[AnyTool]:
        async def pay(amount: int) -> str:
            """Pays; must not be called twice."""
            return await self.work(f"pay {amount}")

        async def look() -> str:
            """Looks; may be called twice."""
            return await self.work("look")

        async def wonder(context: CallContext) -> str:
            """Asks first."""
            answer = await context.ask(Question(text="Which size?"))
            return await self.work(f"{answer.decision} {answer.values}")

        once = [tool(side_effects=True)(one) for one in (pay, wonder)]
        return [*once, tool(idempotent=True)(look)]

    async def work(self, what: str) -> str:
        self.done.append(what)
        if self.hanging:
            await forever()
        return f"did {what}"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def bench(tmp_path: Path, world: World) -> AsyncIterator[Bench]:
    data = DataFolder.open(tmp_path / "data")
    bench = with_process(Bench(data, ScriptedModels(), QuickClock(), *(None, None)), world)
    yield bench
    for runs in world.processes:
        await runs.close()
    await data.close()


def with_process(bench: Bench, world: World, *, tools: list[AnyTool] | None = None) -> Bench:
    """The same data in the hands of a new process."""
    data, registry = bench.data, Registry(world.tools() if tools is None else tools)
    runs = Runs(data.traces, data.rows, bench.models, registry, data.artifacts, bench.clock)
    world.processes.append(runs)
    return replace(bench, runs=runs, chat=Chat(data.agents, data.sessions, runs, registry))


async def restarted(bench: Bench, world: World, *, tools: list[AnyTool] | None = None) -> Bench:
    await bench.runs.close()
    world.hanging = False
    return with_process(bench, world, tools=tools)


async def begun(bench: Bench, *calls: ToolCall, policy: str = "ask") -> Run:
    """A run whose model makes these calls and then ends."""
    bench.models.say(reply("", *calls))
    bench.models.say("The end.")
    session = await bench.session(*(ToolChoice(name=name, policy=policy) for name in {call.name for call in calls}))
    return await bench.chat.send(session.id, "go")


async def asked(live: Run, count: int = 1):
    pauses = await until(lambda: len(open_pauses(live.entries)) == count and open_pauses(live.entries))
    await until(lambda: all(live.control.expects(pause.pause_id) for pause in pauses))
    return pauses


async def ended(live: Run) -> dict[str, str]:
    """What came of each call, when the run has ended."""
    await asyncio.wait_for(live.ended(), 30)
    return {e.event.call_id: e.event.result.text for e in live.entries if e.event.type == "tool_returned"}


def types(live: Run) -> list[str]:
    return [entry.event.type for entry in live.entries]


PAY = ToolCall(call_id="c1", name="pay", arguments={"amount": 5})
LOOK = ToolCall(call_id="c2", name="look")
WONDER = ToolCall(call_id="c3", name="wonder")


async def test_a_decision_on_a_run_that_was_left_lets_it_go_on_in_its_trace(bench, world):
    live = await begun(bench, PAY)
    [pause] = await asked(live)
    after = await restarted(bench, world)
    assert (await after.runs.lists.page(RunFilter(status="paused"))).total == 1
    assert len(await Pauses(after.chat).waiting()) == 1
    resumed = await Pauses(after.chat).decide(live.run_id, pause.pause_id, "approve", subject=pause.subject)
    assert await ended(resumed) == {"c1": "did pay 5"}
    assert resumed.status == "completed" and world.done == ["pay 5"]
    assert [e.event for e in resumed.entries][: len(live.entries)] == [e.event for e in live.entries]
    assert types(resumed)[len(live.entries) :] == [
        *("run_resumed", "pause_resolved", "tool_called", "tool_returned"),
        *("model_called", "message_added", "model_returned", "run_finished"),
    ]
    stored = await after.data.traces.read(live.run_id)
    assert stored.entries == resumed.entries and not stored.damaged
    assert after.data.rows.get(live.run_id).status == "completed"
    assert not await Pauses(after.chat).waiting()


async def test_secrets_are_taken_out_by_who_started_a_run_whoever_lets_it_go_on(bench, world):
    speakers = []

    async def no_secrets(speaker: Trigger) -> None:
        speakers.append(speaker)

    bench.runs.starting.redactions, key = no_secrets, Trigger(kind="api_key", name="n8n")
    bench.models.say(reply("", PAY))
    bench.models.say("The end.")
    session = await bench.session(ToolChoice(name="pay", policy="ask"))
    live = await bench.chat.send(session.id, "go", trigger=key)
    await asked(live)
    after = await restarted(bench, world)
    after.runs.starting.redactions = no_secrets
    await ended(await Pauses(after.chat).decide(live.run_id, "c1", "deny"))
    assert speakers == [key, key]


async def test_the_reason_of_a_denial_reaches_the_model_also_after_a_restart(bench, world):
    live = await begun(bench, PAY)
    await asked(live)
    after = await restarted(bench, world)
    resumed = await Pauses(after.chat).decide(live.run_id, "c1", "deny", note="too dear")
    assert await ended(resumed) == {"c1": "The user denied this call: too dear"}
    assert bench.models.requests[-1].messages[-1].parts[0].text == "The user denied this call: too dear"
    assert world.done == []


async def test_a_denial_that_was_the_last_thing_written_is_still_told(bench, world):
    live = await begun(bench, PAY)
    [pause] = await asked(live)
    resolve(live, pause.pause_id, "deny", note="too dear")
    await ended(live)
    left = next(n for n, entry in enumerate(live.entries) if entry.event.type == "pause_resolved") + 1
    resumed = await (await cut(bench, world, live, left)).runs.resume("cut")
    assert await ended(resumed) == {"c1": "The user denied this call: too dear"}


async def test_a_resumed_run_waits_for_the_same_question_again(bench, world):
    live = await begun(bench, PAY)
    [pause] = await asked(live)
    after = await restarted(bench, world)
    resumed = await after.chat.resume(live.run_id)
    assert await asked(resumed) == [pause] and resumed.status == "paused"
    resolve(resumed, pause.pause_id, "edit", arguments={"amount": 3})
    await ended(resumed)
    assert world.done == ["pay 3"]


async def test_a_call_that_had_begun_runs_again_only_when_a_person_says_so(bench, world):
    world.hanging = True
    live = await begun(bench, PAY, policy="auto")
    await until(lambda: world.done)
    after = await restarted(bench, world)
    resumed = await after.chat.resume(live.run_id)
    [pause] = await asked(resumed)
    assert pause.begun and pause.arguments == {"amount": 5} and world.done == ["pay 5"]
    resolve(resumed, pause.pause_id, "approve")
    assert await ended(resumed) == {"c1": "did pay 5"}
    assert world.done == ["pay 5", "pay 5"]


async def test_the_model_is_told_of_a_call_that_was_not_run_again(bench, world):
    world.hanging = True
    live = await begun(bench, PAY, policy="auto")
    await until(lambda: world.done)
    after = await restarted(bench, world)
    resumed = await after.chat.resume(live.run_id)
    [pause] = await asked(resumed)
    resolve(resumed, pause.pause_id, "deny", note="it is paid")
    told = (await ended(resumed))["c1"]
    assert "was not run again" in told and told.endswith(": it is paid")
    assert world.done == ["pay 5"]


async def test_a_call_that_may_run_twice_runs_again_unasked(bench, world):
    world.hanging = True
    live = await begun(bench, LOOK, policy="auto")
    await until(lambda: world.done)
    after = await restarted(bench, world)
    assert await ended(await after.chat.resume(live.run_id)) == {"c2": "did look"}


async def test_a_call_is_run_again_with_the_arguments_as_decided(bench, world):
    world.hanging = True
    live = await begun(bench, PAY)
    [pause] = await asked(live)
    resolve(live, pause.pause_id, "edit", arguments={"amount": 3})
    await until(lambda: world.done)
    after = await restarted(bench, world)
    resumed = await after.chat.resume(live.run_id)
    [again] = await asked(resumed)
    assert again.arguments == {"amount": 3}
    resolve(resumed, again.pause_id, "approve")
    await ended(resumed)
    assert world.done == ["pay 3", "pay 3"]


async def test_an_answer_to_a_question_that_was_left_runs_its_call_again_with_it(bench, world):
    live = await begun(bench, WONDER, policy="auto")
    [pause] = await asked(live)
    after = await restarted(bench, world)
    resumed = await Pauses(after.chat).decide(live.run_id, pause.pause_id, "answer", arguments={"size": 4})
    assert await ended(resumed) == {"c3": "did accept {'size': 4}"}
    assert not open_pauses(resumed.entries)


async def test_a_declined_question_that_was_left_does_not_run_its_call_again(bench, world):
    live = await begun(bench, WONDER, policy="auto")
    [pause] = await asked(live)
    after = await restarted(bench, world)
    resumed = await Pauses(after.chat).decide(live.run_id, pause.pause_id, "deny")
    assert "was not run again" in (await ended(resumed))["c3"] and world.done == []


async def test_words_that_were_cut_off_are_kept_but_not_sent(bench, world):
    bench.models.priced = Price(input=0.5, output=0.5)
    bench.models.say(TextDelta("Half a sen"), forever)
    session = await bench.session(run_cost=1e9, day_cost=1e9)
    live = await bench.chat.send(session.id, "go")
    await until(lambda: live.draft.text)
    after = await restarted(bench, world)
    bench.models.say("A whole sentence.")
    resumed = await after.chat.resume(live.run_id)
    await ended(resumed)
    said = [e.event.message for e in resumed.entries if e.event.type == "message_added"][1:]
    assert [(message.text, message.partial) for message in said] == [("Half a sen", True), ("A whole sentence.", False)]
    assert [message.role for message in bench.models.requests[-1].messages] == ["user"]
    assert [message.text for message in conversation(resumed.entries)] == ["go", "A whole sentence."]
    assert totals(resumed.entries).cost > totals(resumed.entries).usage.output_tokens * 0.5 > 5, "both are paid for"


async def test_a_model_that_had_said_nothing_yet_is_asked_again(bench, world):
    bench.models.say(forever)
    session = await bench.session()
    live = await bench.chat.send(session.id, "go")
    await until(lambda: bench.models.requests)
    after = await restarted(bench, world)
    bench.models.say("Here.")
    resumed = await after.chat.resume(live.run_id)
    await ended(resumed)
    assert types(resumed)[2:6] == ["model_called", "model_failed", "run_resumed", "model_called"]
    assert resumed.status == "completed"


async def test_steps_and_time_that_were_used_up_before_count(bench, world):
    live = await begun(bench, PAY)
    await asked(live)
    old = [entry.model_copy(update={"at": entry.at.replace(year=2020)}) for entry in live.entries[:1]]
    trace = [*old, *live.entries[1:]]
    after = await cut(bench, world, live, len(trace), entries=trace)
    resumed = await after.runs.resume("cut")
    await asyncio.wait_for(resumed.ended(), 30)
    assert resumed.status == "limited"
    assert next(e.event for e in resumed.entries if e.event.type == "limit_reached").limit == "time"


async def test_a_run_that_has_ended_cannot_go_on(bench, world):
    bench.models.say("Done.")
    live = await bench.ask("go")
    after = await restarted(bench, world)
    with pytest.raises(Conflict, match="has ended"):
        await after.chat.resume(live.run_id)
    with pytest.raises(NotFound):
        await after.chat.resume("nowhere")


async def test_a_run_is_resumed_once(bench, world):
    live = await begun(bench, PAY)
    [pause] = await asked(live)
    after = await restarted(bench, world)
    both = await asyncio.gather(*(after.chat.resume(live.run_id) for _ in range(2)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in both) == ["Conflict", "Run"]
    resumed = after.runs.live(live.run_id)
    await asked(resumed)
    resolve(resumed, pause.pause_id, "approve")
    await ended(resumed)
    assert types(resumed).count("run_resumed") == 1


async def test_a_run_behind_which_the_conversation_went_on_stays_as_it_is(bench, world):
    live = await begun(bench, PAY)
    [pause] = await asked(live)
    after = await restarted(bench, world)
    await asyncio.wait_for((await after.chat.send(live.started.session_id, "never mind")).ended(), 30)
    with pytest.raises(Conflict, match="went on"):
        await Pauses(after.chat).decide(live.run_id, pause.pause_id, "approve")
    assert not await Pauses(after.chat).waiting() and world.done == []


async def test_a_run_that_was_left_can_be_given_up(bench, world):
    live = await begun(bench, PAY)
    await asked(live)
    after = await restarted(bench, world)
    await Pauses(after.chat).stop(live.run_id)
    stored = await after.data.traces.read(live.run_id)
    assert after.runs.status(live.run_id, stored.entries) == "cancelled"
    assert after.data.rows.get(live.run_id).status == "cancelled"
    assert not await Pauses(after.chat).waiting()


async def test_a_tool_that_is_gone_is_told_in_words(bench, world):
    live = await begun(bench, PAY)
    await asked(live)
    after = await restarted(bench, world, tools=[])
    resumed = await after.chat.resume(live.run_id)
    assert (await ended(resumed))["c1"] == "The tool 'pay' is not available any more: it was removed or turned off."
    notes = next(entry.event.notes for entry in resumed.entries if isinstance(entry.event, RunResumed))
    assert notes == ("The tool 'pay' is not available any more: it was removed or turned off.",)
    assert not open_pauses(resumed.entries)


async def test_a_tool_that_has_changed_is_asked_about_anew(bench, world):
    async def pay(amount: int, tip: int = 0) -> str:
        """Pays, with a tip."""
        return f"{amount} and {tip}"

    live = await begun(bench, PAY)
    [pause] = await asked(live)
    after = await restarted(bench, world, tools=[tool()(pay)])
    with pytest.raises(Conflict, match="has changed"):
        await Pauses(after.chat).decide(live.run_id, pause.pause_id, "approve", subject=pause.subject)
    resumed = after.runs.live(live.run_id)
    await until(lambda: pause not in open_pauses(resumed.entries) and resumed.control.waits)
    [anew] = await asked(resumed)
    assert anew.tool != pause.tool
    assert "has changed" in next(e.event.notes for e in resumed.entries if isinstance(e.event, RunResumed))[0]
    resolve(resumed, anew.pause_id, "approve")
    assert await ended(resumed) == {"c1": "5 and 0"}


async def cut(bench: Bench, world: World, live: Run, length: int, *, entries: list[Entry] | None = None) -> Bench:
    """A new process that finds the run as it was after so many entries, under the id `cut`."""
    run_id = "cut"
    await bench.data.traces.delete(run_id)
    writer = await bench.data.traces.create(run_id, live.started.session_id)
    for entry in (entries or live.entries)[:length]:
        writer.append(entry.model_copy(update={"run_id": run_id}))
    await writer.close()
    return with_process(bench, world)


async def test_from_every_place_it_comes_to_the_end_without_losing_a_step_or_running_a_tool_twice(bench, world):
    look, pay = LOOK, PAY.model_copy(update={"call_id": "c4"})
    bench.models.say(reply("", PAY, look))
    bench.models.say(reply("", pay))
    bench.models.say("The end.")
    session = await bench.session("pay", "look")
    live = await bench.chat.send(session.id, "go")
    whole = await ended(live)
    for length in range(2, len(live.entries)):
        after = await cut(bench, world, live, length)
        before = live.entries[:length]
        world.done.clear()
        bench.models.scripts.clear()
        answers = sum(e.event.type == "message_added" and e.event.origin == "model" for e in before)
        for script in (reply("", PAY, look), reply("", pay), "The end.")[answers:]:
            bench.models.say(script)
        resumed = await after.runs.resume("cut")
        paid_before = {e.event.call_id for e in before if isinstance(e.event, ToolCalled) and e.event.name == "pay"}
        await finish(resumed)
        assert resumed.status == "completed", (length, resumed.entries[-1])
        results = await ended(resumed)
        assert results.keys() == whole.keys()
        assert world.done.count("pay 5") == 2 - len(paid_before), length
        assert [entry.event for entry in resumed.entries[:length]] == [entry.event for entry in before]
        await after.runs.close()


async def finish(live: Run) -> None:
    """Tell the model of every call that had begun that it was not run again."""
    while live.alive:
        for pause in open_pauses(live.entries):
            if live.control.waits and live.control.expects(pause.pause_id):
                assert pause.begun
                resolve(live, pause.pause_id, "deny")
        await asyncio.sleep(0)
