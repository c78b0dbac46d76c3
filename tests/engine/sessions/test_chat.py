import asyncio

import pytest

from app.domain.agents import PromptBehaviour, ToolChoice, Variable, new_agent, with_variant
from app.domain.errors import Conflict, NotFound, TooLarge, WorkbenchError
from app.domain.events import RunFinished
from app.domain.messages import FilePart, ToolCall
from app.domain.provenance import Trigger
from app.domain.trace import RunFilter
from app.engine.sessions.turns import LONGEST_MESSAGE
from tests.engine.scripted import TextDelta, forever, reply


def heard(bench, number):
    return [message.text for message in bench.models.requests[number].messages]


async def say(bench, session, text, answer):
    bench.models.say(answer)
    live = await bench.chat.send(session.id, text)
    await asyncio.wait_for(live.ended(), 30)
    return live


async def ending_at_once(run):
    run.recorder.record(RunFinished(status="completed"))


async def test_the_next_run_knows_what_was_said(bench):
    session = await bench.session()
    await say(bench, session, "one", "first")
    await say(bench, session, "two", "second")
    assert heard(bench, 1) == ["one", "first", "two"]
    assert len(bench.data.sessions.get(session.id).runs) == 2


async def test_a_session_is_titled_by_its_first_message(bench):
    session = await bench.session()
    await say(bench, session, "Hello there\nmore", "hi")
    await say(bench, session, "Something else", "hi")
    assert bench.data.sessions.get(session.id).title == "Hello there"


async def test_an_edited_message_is_sent_with_what_was_said_before_it(bench):
    session = await bench.session()
    await say(bench, session, "one", "1")
    second = await say(bench, session, "two", "2")
    await say(bench, session, "three", "3")
    bench.models.say("2b")
    edited = await bench.chat.edit(session.id, second.run_id, "two b")
    await edited.ended()
    assert heard(bench, 3) == ["one", "1", "two b"]
    assert bench.data.sessions.get(session.id).runs[1:] == (edited.run_id,)
    assert bench.data.rows.find(RunFilter()).total == 4


async def test_regenerating_sends_the_same_message_again(bench):
    session = await bench.session()
    first = await say(bench, session, "one", "1")
    bench.models.say("1b")
    again = await bench.chat.regenerate(session.id, first.run_id)
    await again.ended()
    assert heard(bench, 1) == ["one"] and bench.data.sessions.get(session.id).runs == (again.run_id,)


@pytest.mark.parametrize("begun", ["regenerated", "edited", "by a program"])
async def test_what_is_typed_stays_when_a_run_begins_with_other_words(bench, begun):
    session = await bench.session()
    first = await say(bench, session, "one", "1")
    notes = FilePart(artifact="a", media_type="text/plain", filename="notes.txt", size=1)
    typed = {"composer": "half a thou", "composer_attachments": (notes,)}
    await bench.data.sessions.change(session.id, lambda newest: newest.model_copy(update=typed))
    bench.models.say("2")
    match begun:
        case "regenerated":
            live = await bench.chat.regenerate(session.id, first.run_id)
        case "edited":
            live = await bench.chat.edit(session.id, first.run_id, "one b")
        case _:
            live = await bench.chat.send(session.id, "two", trigger=Trigger(kind="api_key", name="mine"))
    await asyncio.wait_for(live.ended(), 30)
    kept = bench.data.sessions.get(session.id)
    assert {"composer": kept.composer, "composer_attachments": kept.composer_attachments} == typed


async def test_what_was_typed_is_no_draft_any_more_once_it_is_sent(bench):
    session = await bench.session()
    await bench.data.sessions.change(session.id, lambda newest: newest.model_copy(update={"composer": "one"}))
    await say(bench, session, "one", "1")
    assert bench.data.sessions.get(session.id).composer == ""


async def test_files_are_there_in_the_next_run(bench):
    session = await bench.session("talk")
    bench.models.say(reply("", ToolCall(call_id="c1", name="talk")))
    await say(bench, session, "write", "done")
    second = await say(bench, session, "next", "ok")
    assert list(second.started.files) == ["/made.txt"]


@pytest.mark.parametrize("text", ["", "   \n\t"])
async def test_an_empty_message_is_refused_in_words(bench, text):
    session = await bench.session()
    with pytest.raises(WorkbenchError, match="empty"):
        await bench.chat.send(session.id, text)


async def test_a_huge_message_is_refused_with_its_size(bench):
    session = await bench.session()
    with pytest.raises(TooLarge, match="1,000,000 characters"):
        await bench.chat.send(session.id, "x" * 1_000_000)
    bench.models.say("ok")
    live = await bench.chat.send(session.id, "x" * LONGEST_MESSAGE)
    await live.ended()
    assert live.status == "completed"


async def test_one_run_at_a_time_in_a_session(bench):
    session = await bench.session()
    bench.models.say(TextDelta("going on"), forever)
    live = await bench.chat.send(session.id, "one")
    with pytest.raises(Conflict, match="still answering"):
        await bench.chat.send(session.id, "two")
    live.stop()
    await live.ended()
    await say(bench, session, "three", "ok")
    assert heard(bench, 1) == ["one", "going on", "three"]


async def test_a_message_that_comes_as_an_answer_is_stored_is_sent_behind_it(bench):
    session = await bench.session()
    bench.models.say("first", "second")
    live = await bench.chat.send(session.id, "one")
    async for _ in live.follow():
        pass
    assert live.alive, "its end is told before it is stored"
    second = await bench.chat.send(session.id, "two")
    await asyncio.wait_for(second.ended(), 30)
    assert heard(bench, 1) == ["one", "first", "two"]


async def test_two_messages_at_once_start_one_run(bench):
    session = await bench.session()
    bench.models.say(forever)
    sent = await asyncio.gather(
        bench.chat.send(session.id, "a"), bench.chat.send(session.id, "b"), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in sent) == ["Conflict", "Run"]


async def test_a_message_beside_one_whose_run_ends_at_once_is_sent_behind_it(bench):
    session = await bench.session()
    first = await say(bench, session, "one", "1")
    bench.models.say("3")
    second, third = await asyncio.gather(
        bench.chat.send(session.id, "two", work=ending_at_once), bench.chat.send(session.id, "three")
    )
    await asyncio.wait_for(third.ended(), 30)
    assert bench.data.sessions.get(session.id).runs == (first.run_id, second.run_id, third.run_id)
    assert heard(bench, 1) == ["one", "1", "two", "three"]


async def test_a_message_that_waits_for_another_to_begin_goes_by_what_the_session_says_then(bench):
    session = await bench.session()
    bench.models.say("1")
    async with bench.runs.beginning(session.id):
        sending = asyncio.create_task(bench.chat.send(session.id, "one"))
        changes = {"model": "scripted/other", "variables": {"mood": "loud"}}
        changed = bench.data.sessions.change(session.id, lambda newest: newest.model_copy(update=changes))
        await asyncio.create_task(changed)
    live = await sending
    await asyncio.wait_for(live.ended(), 30)
    assert (live.started.model, live.started.system.text) == ("scripted/other", "Be loud.")


async def test_a_deleted_session_takes_no_message_until_it_is_brought_back(bench):
    session = await bench.session()
    await bench.data.sessions.delete(session.id)
    with pytest.raises(Conflict, match=r"was deleted\. Bring it back"):
        await bench.chat.send(session.id, "hi")
    assert bench.data.rows.find(RunFilter()).total == 0
    await bench.data.sessions.restore(session.id)
    await say(bench, session, "hi", "hello")


async def test_an_unknown_session_is_named(bench):
    with pytest.raises(NotFound):
        await bench.chat.send("nothere", "hi")


async def test_a_session_stays_with_its_variant(bench):
    session = await bench.session()
    await bench.data.agents.delete(session.agent_id)
    live = await say(bench, session, "still there?", "yes")
    assert live.started.agent.variant == 1


async def test_a_variant_with_a_tool_that_is_gone_is_refused_with_the_way_out(bench):
    session = await bench.session("add", "vanished")
    with pytest.raises(WorkbenchError, match=r"'vanished'.*Remove"):
        await bench.chat.send(session.id, "hi")


async def test_a_variant_with_a_model_that_is_gone_is_refused_with_the_way_out(bench):
    session = await bench.session()
    await bench.data.sessions.change(session.id, lambda old: old.model_copy(update={"model": "unknown/model"}))
    with pytest.raises(WorkbenchError, match=r"'Tester'.*'unknown/model'.*no provider.*Choose another model"):
        await bench.chat.send(session.id, "hi")
    assert bench.data.sessions.get(session.id).runs == ()
    assert bench.data.rows.find(RunFilter()).total == 0


async def test_a_tool_that_is_gone_and_turned_off_stops_nobody(bench):
    session = await bench.session(
        "add", ToolChoice(name="vanished", policy="off"), ToolChoice(name="talk", policy="off")
    )
    live = await say(bench, session, "hi", "hello")
    assert [tool.spec.name for tool in live.started.tools] == ["add"]


async def test_the_next_run_uses_the_variant_the_session_was_switched_to(bench):
    mood = Variable(name="mood", default="calm")
    first = PromptBehaviour(system_prompt="Be {{mood}}.", model="scripted/model", variables=(mood,))
    loud = first.model_copy(update={"variables": (mood.model_copy(update={"default": "loud"}),)})
    agent = with_variant(new_agent("Moody", first, taken_slugs=()), loud, origin=1)
    await bench.data.agents.create(agent)
    session = await bench.chat.new_session(agent.id)
    before = await say(bench, session, "one", "1")
    await bench.data.sessions.change(session.id, lambda old: old.model_copy(update={"variant": 2}))
    after = await say(bench, session, "two", "2")
    assert [live.started.system.text for live in (before, after)] == ["Be calm.", "Be loud."]
    assert [live.started.agent.variant for live in (before, after)] == [1, 2]


async def test_a_value_chosen_in_the_session_stays_with_it_and_is_not_filled_in_twice(bench):
    session = await bench.session()
    await bench.data.sessions.change(
        session.id, lambda old: old.model_copy(update={"variables": {"mood": "{{mood}} {{x}}"}})
    )
    live = await say(bench, session, "one", "1")
    assert live.started.system.text == "Be {{mood}} {{x}}."


async def test_an_agent_without_a_prompt_is_asked_without_one(bench):
    agent = new_agent("Bare", PromptBehaviour(system_prompt=" \n", model="scripted/model"), taken_slugs=())
    await bench.data.agents.create(agent)
    live = await say(bench, await bench.chat.new_session(agent.id), "one", "1")
    assert live.started.system is None


async def test_the_output_schema_goes_with_each_request(bench):
    schema = {"type": "object"}
    behaviour = PromptBehaviour(model="scripted/model", output_schema=schema)
    agent = await bench.data.agents.create(new_agent("Json", behaviour, taken_slugs=()))
    live = await say(bench, await bench.chat.new_session(agent.id), "one", "{}")
    assert bench.models.requests[0].output_schema == live.started.output_schema == schema


async def test_a_run_left_without_an_end_is_listed_as_interrupted(bench):
    session = await bench.session()
    bench.models.say(TextDelta("so far"), forever)
    live = await bench.chat.send(session.id, "x")
    await bench.runs.close()
    bench.runs._finished.clear()  # as after a restart
    [row] = (await bench.runs.lists.page(RunFilter())).rows
    assert (row.run_id, row.status) == (live.run_id, "interrupted")
    assert (await bench.runs.lists.page(RunFilter(status="interrupted"))).total == 1
    assert (await bench.runs.lists.page(RunFilter(status="running"))).total == 0
    follow_up = await say(bench, session, "go on", "ok")
    assert [m.text for m in follow_up.started.history][:1] == ["x"]


@pytest.mark.parametrize("damaged", [0, 1])
async def test_a_run_whose_first_records_are_damaged_is_still_listed(bench, damaged):
    session = await bench.session()
    bench.models.say(TextDelta("so far"), forever)
    live = await bench.chat.send(session.id, "x")
    await bench.runs.close()
    bench.runs._finished.clear()
    path = bench.data.path / "runs" / f"{live.run_id}.tdb"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[damaged] = b"0" * 8 + lines[damaged][8:]
    path.write_bytes(b"".join(lines))
    [row] = (await bench.runs.lists.page(RunFilter())).rows
    assert (row.run_id, row.status) == (live.run_id, "interrupted")


async def test_the_answers_of_rows_of_an_earlier_version_are_read_once_and_kept(bench):
    session = await bench.session()
    bench.models.say("Good day")
    await (await bench.chat.send(session.id, "hello")).ended()
    row = bench.data.rows.get(bench.data.sessions.get(session.id).runs[0])
    assert row.answer == "Good day"
    await bench.data.rows.save(row.model_copy(update={"answer": None}))
    [old] = (await bench.runs.lists.page(RunFilter())).rows
    assert [told.answer for told in await bench.runs.lists.answered([old])] == ["Good day"]
    assert bench.data.rows.get(row.run_id) == row
    assert await bench.runs.lists.answered([row]) == []
