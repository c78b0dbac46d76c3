"""Forks: a run goes on from one of its steps, in a run of its own, and the run it comes from stays as it was."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.domain.agents import Limits, PromptBehaviour, ToolChoice, new_agent, with_variant
from app.domain.edits import EditedArguments, EditedMessage, EditedResult, ToolSource
from app.domain.errors import Conflict, NotFound, WorkbenchError
from app.domain.events import FileChanged, Forked, ToolCalled, ToolReturned
from app.domain.forks.forks import ForkPlan, ToolPlan
from app.domain.messages import ToolCall, ToolResult
from app.domain.models import Price
from app.domain.provenance import Trigger
from app.domain.tools import CallContext
from app.domain.trace import conversation, files_after, run_row, totals, trajectory
from app.engine.forks.forks import Forks
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.store.folder.folder import DataFolder
from app.tools.function.tool import AnyTool, tool
from app.tools.registry import Registry
from tests.deciding import resolve
from tests.engine.conftest import QuickClock
from tests.engine.scripted import ScriptedModels, forever, reply
from tests.waiting import until

PAGE = Trigger(kind="page")


@dataclass
class World:
    """An app with tools whose work is counted."""

    data: DataFolder
    models: ScriptedModels
    registry: Registry
    runs: Runs
    chat: Chat
    forks: Forks
    done: list[str] = field(default_factory=list)

    async def run(self, *tools: ToolChoice | str, text: str = "pay 5 twice", **limits: float) -> Run:
        """A run that pays 5 and writes /a.txt, then pays 7, then says so."""
        choices = tuple(ToolChoice(name=one) if isinstance(one, str) else one for one in tools or ("pay", "note"))
        behaviour = PromptBehaviour(
            system_prompt="Be {{mood}}.", model="scripted/model", tools=choices, limits=Limits(**limits)
        )
        agent = await self.data.agents.create(new_agent("Payer", behaviour, taken_slugs=self.data.agents.slugs()))
        session = await self.chat.new_session(agent.id)
        self.models.say(reply("first", pay("c1", 5), ToolCall(call_id="n1", name="note", arguments={"text": "one"})))
        self.models.say(reply("then", pay("c2", 7)))
        self.models.say("paid twice")
        return await self.ended(await self.chat.send(session.id, text))

    async def fork(self, live: Run, seq: int, **plan: object) -> Run:
        return await self.ended(await self.forks.start(live.run_id, ForkPlan(seq=seq, **plan), trigger=PAGE))

    async def ended(self, live: Run) -> Run:
        await asyncio.wait_for(live.ended(), 30)
        return live


def pay(call_id: str, amount: int) -> ToolCall:
    return ToolCall(call_id=call_id, name="pay", arguments={"amount": amount})


def tools(done: list[str]) -> list[AnyTool]:
    async def pay(amount: int) -> str:
        """Pays."""
        done.append(f"pay {amount}")
        return f"paid {amount}, {len(done)} done"

    async def note(context: CallContext, text: str) -> str:
        """Writes it down."""
        done.append(f"note {text}")
        await context.files.write("/a.txt", text.encode())
        return "noted"

    async def look() -> str:
        """Looks."""
        return "seen"

    return [tool(side_effects=True)(pay), tool()(note), tool(idempotent=True)(look)]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    data, models, done = DataFolder.open(tmp_path / "data"), ScriptedModels(), list[str]()
    registry = Registry(tools(done))
    runs = Runs(data.traces, data.rows, models, registry, data.artifacts, QuickClock())
    chat = Chat(data.agents, data.sessions, runs, registry)
    yield World(data, models, registry, runs, chat, Forks(data.agents, data.sessions, runs, registry), done)
    await runs.close()
    await registry.close()
    await data.close()


def seq_of(live: Run, kind: type, place: int = 0) -> int:
    return [entry.seq for entry in live.entries if isinstance(entry.event, kind)][place]


def result_of(live: Run, call_id: str) -> str:
    return next(
        one.event.result.text
        for one in reversed(live.entries)
        if isinstance(one.event, ToolReturned) and one.event.call_id == call_id
    )


def forked(live: Run) -> Forked:
    return next(one.event for one in live.entries if isinstance(one.event, Forked))


async def test_a_fork_reuses_what_came_before_and_asks_the_model_for_the_rest(world: World) -> None:
    live = await world.run()
    before = list(live.entries)
    world.models.say("something else")
    fork = await world.fork(live, seq_of(live, ToolReturned, 1))
    assert fork.status == "completed"
    assert world.done == ["pay 5", "note one", "pay 7"], "no tool was called again"
    assert [message.text for message in conversation(fork.entries) if message.role == "assistant"] == [
        "first",
        "something else",
    ]
    assert live.entries == before
    assert fork.started.session_id != live.started.session_id
    assert all(entry.run_id == fork.run_id for entry in fork.entries)
    assert [entry.seq for entry in fork.entries] == list(range(len(fork.entries)))
    view = await world.forks.compare(fork.run_id)
    assert view is not None
    assert view.summary == "1 step reused, 1 new"
    assert [row.verdict for row in view.rows] == ["missing", "same"]


async def test_a_fork_says_where_it_comes_from_and_keeps_the_times_of_its_prefix(world: World) -> None:
    live = await world.run()
    world.models.say("other")
    seq = seq_of(live, ToolReturned, 1)
    fork = await world.fork(live, seq)
    origin = forked(fork)
    assert (origin.run_id, origin.seq) == (live.run_id, seq)
    assert origin.prefix_digest == live.entries[seq].digest
    assert [one.at for one in fork.entries[: seq + 1]] == [one.at for one in live.entries[: seq + 1]]
    assert run_row(fork.entries, alive=False).started_at > live.entries[-1].at


async def test_only_what_comes_after_the_point_is_counted(world: World) -> None:
    world.models.priced = Price(input=0.00001, output=0.00001)
    live = await world.run(max_steps=3)
    for call_id in ("d1", "d2"):
        world.models.say(reply("more", pay(call_id, 1)))
    world.models.say("done")
    fork = await world.fork(live, seq_of(live, ToolReturned, 2))
    assert fork.status == "completed", "its three steps are counted from the point on"
    assert totals(fork.entries).model_calls == 3
    row = world.runs.rows.get(fork.run_id)
    assert row is not None
    assert row.model_calls == 3
    assert row.tool_calls == 2
    assert row.cost == pytest.approx(60 * 0.00001)
    assert row.request == "pay 5 twice"


async def test_a_step_in_the_middle_of_open_calls_moves_to_the_one_before(world: World) -> None:
    live = await world.run()
    check = await world.forks.check(live.run_id, ForkPlan(seq=seq_of(live, ToolCalled, 2)))
    assert check.seq == seq_of(live, ToolReturned, 1)
    assert "open" in check.moved
    assert check.reused_steps == 1
    assert check.reused_calls == 2


async def test_after_the_last_answer_the_model_is_asked_for_it_again(world: World) -> None:
    live = await world.run()
    world.models.say("said anew")
    fork = await world.fork(live, len(live.entries) - 1)
    assert conversation(fork.entries)[-1].text == "said anew"
    assert len(conversation(fork.entries)) == len(conversation(live.entries))


@pytest.mark.parametrize("seq", [-1, 10_000])
async def test_a_step_there_is_not_is_refused(world: World, seq: int) -> None:
    live = await world.run()
    with pytest.raises(WorkbenchError, match="no entry"):
        await world.forks.start(live.run_id, ForkPlan(seq=seq), trigger=PAGE)
    assert world.data.sessions.count() == 1


async def test_a_run_there_is_not_is_refused(world: World) -> None:
    with pytest.raises(NotFound):
        await world.forks.start("nothing", ForkPlan(seq=1), trigger=PAGE)


async def test_files_are_as_they_were_at_the_step(world: World) -> None:
    live = await world.run()
    for _ in range(2):
        world.models.say("again")
    early = await world.fork(live, 1)
    late = await world.fork(live, seq_of(live, ToolReturned, 1))
    assert files_after(early.entries) == {}
    assert files_after(late.entries) == files_after(live.entries) != {}


async def test_an_edited_message_is_what_the_model_gets(world: World) -> None:
    live = await world.run()
    world.models.say("fine")
    fork = await world.fork(live, 1, edits=(EditedMessage(seq=1, text="pay nothing"),))
    assert world.models.requests[-1].messages[-1].text == "pay nothing"
    assert forked(fork).edited == (1,)
    assert world.runs.rows.get(fork.run_id).request == "pay nothing"


async def test_a_call_with_edited_arguments_is_made_again_and_its_neighbour_is_not(world: World) -> None:
    live = await world.run()
    world.done.clear()
    world.models.say("fine")
    plan = {"edits": (EditedArguments(call_id="c1", arguments={"amount": 50}),)}
    check = await world.forks.check(live.run_id, ForkPlan(seq=seq_of(live, ToolCalled), **plan))
    assert [(call.call_id, call.arguments) for call in check.again] == [("c1", {"amount": 50})]
    assert check.reused_steps == 0
    fork = await world.fork(live, seq_of(live, ToolCalled), **plan)
    assert world.done == ["pay 50"]
    assert result_of(fork, "c1") == "paid 50, 1 done"
    assert result_of(fork, "n1") == "noted"
    assert len(world.models.requests[-1].messages) == 4, "the question, the calls and their two results"


async def test_an_edited_result_takes_the_place_of_the_call(world: World) -> None:
    live = await world.run()
    world.done.clear()
    world.models.say("fine")
    fork = await world.fork(
        live, seq_of(live, ToolReturned), edits=(EditedResult(call_id="c1", text="bounced", status="error"),)
    )
    assert world.done == []
    parts = [part for message in world.models.requests[-1].messages for part in message.parts]
    results = {part.call_id: part for part in parts if isinstance(part, ToolResult)}
    assert (results["c1"].text, results["c1"].status) == ("bounced", "error")
    assert results["n1"].text == "noted"
    assert result_of(live, "c1") != "bounced"
    assert fork.status == "completed"


@pytest.mark.parametrize(
    ("seq", "edit", "words"),
    [
        (1, EditedMessage(seq=0, text="x"), "cannot be edited as a message"),
        (1, EditedMessage(seq=99, text="x"), "no entry 99"),
        (1, EditedMessage(seq=3, text="x"), "not copied"),
        (1, EditedResult(call_id="zz", text="x"), "no call 'zz'"),
        (1, EditedResult(call_id="c1", text="x"), "not copied"),
        (99, EditedArguments(call_id="c1", arguments={}), "made again in the middle"),
    ],
)
async def test_an_edit_that_fits_nothing_is_refused(world: World, seq: int, edit: object, words: str) -> None:
    live = await world.run()
    with pytest.raises(WorkbenchError, match=words):
        await world.forks.check(live.run_id, ForkPlan(seq=min(seq, len(live.entries) - 1), edits=(edit,)))


async def test_the_same_thing_edited_twice_is_refused(world: World) -> None:
    live = await world.run()
    edits = (EditedMessage(seq=1, text="a"), EditedMessage(seq=1, text="b"))
    with pytest.raises(WorkbenchError, match="twice"):
        await world.forks.check(live.run_id, ForkPlan(seq=1, edits=edits))


async def test_a_recorded_tool_is_not_called_again(world: World) -> None:
    live = await world.run()
    world.done.clear()
    world.models.say(reply("the same", pay("x1", 7)))
    world.models.say(reply("another", pay("x2", 9)))
    world.models.say("done")
    recorded = {"pay": ToolPlan(after=ToolSource(mode="recorded"))}
    fork = await world.fork(live, seq_of(live, ToolReturned, 1), tools=recorded)
    assert world.done == []
    assert result_of(fork, "x1") == result_of(live, "c2")
    assert "was recorded" in result_of(fork, "x2")


async def test_what_was_not_recorded_may_be_live_or_edited(world: World) -> None:
    live = await world.run("pay", "note", "look")
    world.done.clear()
    world.models.say(
        reply("the same", pay("x1", 7)),
    )
    world.models.say(reply("another", pay("x2", 9), ToolCall(call_id="x3", name="look")))
    world.models.say("done")
    chosen = {
        "pay": ToolPlan(after=ToolSource(mode="recorded_or_live")),
        "look": ToolPlan(after=ToolSource(mode="edited", text="nothing there")),
    }
    fork = await world.fork(live, seq_of(live, ToolReturned, 1), tools=chosen)
    assert world.done == ["pay 9"]
    assert result_of(fork, "x3") == "nothing there"


async def test_a_recorded_call_changes_the_files_as_it_did(world: World) -> None:
    live = await world.run()
    world.done.clear()
    world.models.say(reply("same", ToolCall(call_id="x1", name="note", arguments={"text": "one"})))
    world.models.say("done")
    fork = await world.fork(live, 1, tools={"note": ToolPlan(after=ToolSource(mode="recorded"))})
    assert world.done == []
    changes = [one.event for one in fork.entries if isinstance(one.event, FileChanged)]
    assert [(change.call_id, change.path) for change in changes] == [("x1", "/a.txt")]
    assert files_after(fork.entries) == files_after(live.entries)


async def test_tools_before_the_point_may_be_called_again_with_the_recorded_answers_of_the_model(world: World) -> None:
    world.models.priced = Price(input=0.00001, output=0.00001)
    live = await world.run()
    world.done.clear()
    asked = len(world.models.requests)
    world.models.say("new end")
    fork = await world.fork(live, seq_of(live, ToolReturned, 2), tools={"pay": ToolPlan(before="live")})
    assert world.done == ["pay 5", "pay 7"], "the notes were not taken again"
    assert len(world.models.requests) == asked + 1, "only the end was asked for"
    assert conversation(fork.entries)[-1].text == "new end"
    assert totals(fork.entries).cost == pytest.approx(20 * 0.00001)


async def test_tools_with_side_effects_are_named_before_anything_runs(world: World) -> None:
    live = await world.run("pay", "note", "look")
    check = await world.forks.check(live.run_id, ForkPlan(seq=1))
    assert check.live == ("pay", "note", "look")
    assert check.side_effects == ("pay",)
    recorded = {"pay": ToolPlan(after=ToolSource(mode="recorded"))}
    assert (await world.forks.check(live.run_id, ForkPlan(seq=1, tools=recorded))).side_effects == ()
    assert world.done == ["pay 5", "note one", "pay 7"]


async def test_a_tool_that_the_run_has_not_is_refused(world: World) -> None:
    live = await world.run()
    with pytest.raises(WorkbenchError, match="no tool 'fly'"):
        await world.forks.check(live.run_id, ForkPlan(seq=1, tools={"fly": ToolPlan()}))


async def test_another_model_answers_and_the_session_goes_on_with_it(world: World) -> None:
    live = await world.run()
    world.models.say("from another")
    fork = await world.fork(live, 1, model="scripted/other")
    assert world.models.requests[-1].model == "scripted/other"
    world.models.say("still")
    following = await world.ended(await world.chat.send(fork.started.session_id, "and now?"))
    assert following.started.model == "scripted/other"
    assert [message.text for message in following.started.history] == ["pay 5 twice", "from another"]


async def test_an_unknown_model_is_refused(world: World) -> None:
    live = await world.run()
    with pytest.raises(WorkbenchError, match="no provider"):
        await world.forks.check(live.run_id, ForkPlan(seq=1, model="unknown/one"))


async def test_another_variant_brings_its_prompt_tools_and_limits(world: World) -> None:
    live = await world.run()
    other = PromptBehaviour(system_prompt="Be short.", model="scripted/model", tools=(ToolChoice(name="look"),))
    await world.data.agents.change(live.started.agent.id, lambda agent: with_variant(agent, other, origin=1))
    world.models.say("short")
    fork = await world.fork(live, 1, variant=2)
    request = world.models.requests[-1]
    assert request.system.text == "Be short."
    assert [spec.name for spec in request.tools] == ["look"]
    assert fork.started.agent.variant == 2
    assert world.data.sessions.get(fork.started.session_id).variant == 2
    with pytest.raises(NotFound, match="no variant 3"):
        await world.forks.check(live.run_id, ForkPlan(seq=1, variant=3))


async def test_another_system_prompt_holds_for_the_run(world: World) -> None:
    live = await world.run()
    world.models.say("ok")
    fork = await world.fork(live, 1, system_prompt="Never be {{mood}}.")
    assert world.models.requests[-1].system.text == "Never be {{mood}}."
    assert 0 in forked(fork).edited
    check = await world.forks.check(live.run_id, ForkPlan(seq=1, system_prompt="x"))
    assert any("this run only" in note for note in check.notes)


async def test_a_run_of_a_deleted_agent_goes_on_as_it_was_recorded(world: World) -> None:
    live = await world.run()
    await world.data.agents.delete(live.started.agent.id)
    world.models.say("still here")
    fork = await world.fork(live, 1)
    assert fork.status == "completed"
    assert any("deleted" in note for note in (await world.forks.check(live.run_id, ForkPlan(seq=1))).notes)
    with pytest.raises(WorkbenchError, match="is deleted"):
        await world.forks.check(live.run_id, ForkPlan(seq=1, variant=1))


async def test_two_forks_at_once_do_not_touch_each_other(world: World) -> None:
    live = await world.run()
    for _ in range(2):
        world.models.say("one of two")
    plan = ForkPlan(seq=1)
    forks = await asyncio.gather(*(world.forks.start(live.run_id, plan, trigger=PAGE) for _ in range(2)))
    for fork in forks:
        assert (await world.ended(fork)).status == "completed"
    assert len({fork.run_id for fork in forks} | {fork.started.session_id for fork in forks}) == 4


async def test_a_run_that_goes_on_can_be_forked_from_what_is_finished(world: World) -> None:
    behaviour = PromptBehaviour(model="scripted/model", tools=(ToolChoice(name="pay"),))
    agent = await world.data.agents.create(new_agent("Slow", behaviour, taken_slugs=()))
    session = await world.chat.new_session(agent.id)
    world.models.say(reply("", pay("c1", 1)))
    world.models.say(forever)
    world.models.say("the fork is quicker")
    live = await world.chat.send(session.id, "go")
    await until(lambda: len(world.models.requests) == 2)
    fork = await world.fork(live, len(live.entries) - 1)
    assert fork.status == "completed"
    assert live.status == "running"
    with pytest.raises(Conflict, match="still going on"):
        await world.forks.replay(live.run_id)


async def test_what_is_stored_of_a_fork_is_whole_before_its_end(world: World) -> None:
    live = await world.run()
    world.models.say(forever)
    fork = await world.forks.start(live.run_id, ForkPlan(seq=seq_of(live, ToolReturned, 1)), trigger=PAGE)
    stored = await world.data.traces.read(fork.run_id)
    length = next(entry.seq for entry in fork.entries if isinstance(entry.event, Forked)) + 1
    assert stored.entries[:length] == fork.entries[:length]
    assert stored.damaged == ()


async def test_a_fork_that_its_process_left_goes_on_with_the_same_recording(world: World) -> None:
    live = await world.run()
    world.done.clear()
    world.models.say(reply("", pay("x0", 5)))
    world.models.say(forever)
    recorded = {"pay": ToolPlan(after=ToolSource(mode="recorded"))}
    fork = await world.forks.start(live.run_id, ForkPlan(seq=1, tools=recorded), trigger=PAGE)
    await until(lambda: len(world.models.requests) == 5)
    await world.runs.close()
    again = Runs(world.data.traces, world.data.rows, world.models, world.registry, world.data.artifacts, QuickClock())
    assert again.status(fork.run_id, (await again.trace(fork.run_id)).entries) == "interrupted"
    world.models.say(reply("", pay("x1", 5), pay("x2", 7)))
    world.models.say("over")
    resumed = await world.ended(await again.resume(fork.run_id))
    assert resumed.status == "completed"
    assert world.done == []
    assert result_of(resumed, "x0") == "paid 5, 1 done"
    assert "was recorded" in result_of(resumed, "x1"), "its result was used up before the restart"
    assert result_of(resumed, "x2") == result_of(live, "c2")
    await again.close()


async def test_a_fork_of_a_fork_counts_what_came_after_the_last_point(world: World) -> None:
    live = await world.run()
    world.models.say(reply("again", pay("d1", 3)))
    world.models.say("done")
    fork = await world.fork(live, seq_of(live, ToolReturned, 1))
    world.models.say("finally")
    second = await world.fork(fork, seq_of(fork, ToolReturned, 2))
    assert totals(second.entries).model_calls == 1
    assert len(trajectory(second.entries)) == 3
    view = await world.forks.compare(second.run_id)
    assert view is not None
    assert view.summary == "2 steps reused, 1 new"


async def test_the_session_of_a_fork_has_what_was_said_before(world: World) -> None:
    live = await world.run()
    world.models.say("second answer")
    second = await world.ended(await world.chat.send(live.started.session_id, "and?"))
    world.models.say("another second answer")
    fork = await world.fork(second, 1)
    session = world.data.sessions.get(fork.started.session_id)
    assert session.runs == (live.run_id, fork.run_id)
    assert session.title.endswith("(from step 1)")
    world.models.say("third time")
    again = await world.ended(await world.chat.regenerate(session.id, fork.run_id))
    assert [message.text for message in again.started.history] == [message.text for message in second.started.history]


async def test_a_permission_is_not_taken_along(world: World) -> None:
    behaviour = PromptBehaviour(model="scripted/model", tools=(ToolChoice(name="pay", policy="ask"),))
    agent = await world.data.agents.create(new_agent("Asks", behaviour, taken_slugs=()))
    session = await world.chat.new_session(agent.id)
    world.models.say(reply("", pay("c1", 1)))
    world.models.say("paid")
    live = await world.chat.send(session.id, "go")
    await until(lambda: live.control.waits)
    resolve(live, "c1", "always")
    await world.ended(live)
    world.models.say(reply("", pay("c2", 2)))
    fork = await world.forks.start(live.run_id, ForkPlan(seq=seq_of(live, ToolReturned)), trigger=PAGE)
    await until(lambda: fork.control.waits)
    fork.stop()
    await world.ended(fork)
    assert world.done == ["pay 1"]


async def test_a_damaged_trace_is_refused_in_words(world: World) -> None:
    live = await world.run()
    path = next((world.data.path / "runs").rglob(f"{live.run_id}*"))
    path.write_bytes(path.read_bytes().replace(b"first", b"f\x00rst", 1))
    fresh = Runs(world.data.traces, world.data.rows, world.models, world.registry, world.data.artifacts, QuickClock())
    forks = Forks(world.data.agents, world.data.sessions, fresh, world.registry)
    with pytest.raises(Conflict, match="cannot be read"):
        await forks.check(live.run_id, ForkPlan(seq=1))
