"""Each template of a workflow does on the demo model what its description says, without a key and without a network."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.messages import Attachment, FilePart
from app.domain.trace import open_pauses, status
from app.domain.trace.nodes import NodeRuns, nodes
from app.engine.run.run import Run
from app.workbench import Workbench
from app.workbench.samples import bring, samples
from tests.waiting import until


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(tmp_path / "data")
    await workbench.start()
    yield workbench
    await workbench.close()


async def begun(workbench: Workbench, name: str, text: str, *attached: Attachment) -> Run:
    [template] = [one for one in samples("workflows") if one.name == name]
    sample = await bring(template, workbench.agents)
    agent = await workbench.agents.create(sample.agent(workbench.agents.slugs()))
    session = await workbench.chat.new_session(agent.id)
    return await workbench.chat.send(session.id, text, attached)


async def ran(workbench: Workbench, name: str, text: str, *attached: Attachment) -> Run:
    live = await begun(workbench, name, text, *attached)
    await asyncio.wait_for(live.ended(), 60)
    assert status(live.entries, alive=False) == "completed"
    return live


def answer(live: Run) -> str:
    return [
        one.event.message.text
        for one in live.entries
        if one.event.type == "message_added" and one.event.message.role == "assistant"
    ][-1]


def reached(live: Run) -> set[str]:
    found: NodeRuns = nodes(live.entries)
    return {one.node for one in found.by_call.values() if one.state == "done"}


@pytest.mark.parametrize(
    ("text", "words", "way"),
    [
        ("I was charged twice last month", "Double charges are returned", {"billing", "billed"}),
        ("The app crashes when I log in", "update it first", {"technical", "mended"}),
        ("When are you open?", "A person will read this", {"passed_on"}),
    ],
)
async def test_a_request_is_sorted_and_answered_on_its_way(
    workbench: Workbench, text: str, words: str, way: set[str]
) -> None:
    live = await ran(workbench, "Sort a request", text)
    assert words in answer(live) and reached(live) == {"input", "sort", "topic"} | way


async def test_each_file_is_summarised_in_their_order_and_none_is_told(workbench: Workbench) -> None:
    async def file(name: str, text: str) -> FilePart:
        digest = await workbench.artifacts.put(text.encode())
        return FilePart(artifact=digest, media_type="text/plain", filename=name, size=len(text))

    oaks = await file("oaks.txt", "Oaks live long. Oaks grow slowly and live for centuries. It rained.")
    bees = await file("bees.txt", "Bees fly far. Bees carry pollen and bees make honey. It was late.")
    live = await ran(workbench, "Summarise files", "Please", oaks, bees)
    said = answer(live)
    assert said.index("Bees carry pollen and bees make honey.") < said.index("Oaks grow slowly and live for centuries.")
    assert "bees.txt**" in said and "It rained" not in said and "none" not in reached(live)
    assert "no files" in answer(await ran(workbench, "Summarise files", "Please"))


async def test_a_text_is_revised_until_the_review_is_good(workbench: Workbench) -> None:
    live = await ran(workbench, "Write, review, revise", "The office moves. Anna has the keys. Please pack on Friday.")
    rounds = [one.rounds for one in nodes(live.entries).by_call.values() if one.node == "review"]
    assert rounds == [(0,), (1,), (2,)]
    assert "the office moves. Anna has the keys. Please pack on Friday." in answer(live) and "just" not in answer(live)


async def test_three_tools_begin_together_and_make_one_answer(workbench: Workbench) -> None:
    live = await ran(workbench, "Three tools side by side", "30 April 2027 14:00")
    assert "is a Friday in week 2027-W17" in answer(live) and "2027-04-23" in answer(live)
    assert "2027-04-30T08:00" in answer(live)
    events = [one.event for one in live.entries]
    begun = [place for place, one in enumerate(events) if one.type == "tool_called"]
    assert len(begun) == 3 and max(begun) < min(
        place for place, one in enumerate(events) if one.type == "tool_returned"
    )


@pytest.mark.parametrize("decision", ["answer", "deny"])
async def test_nothing_is_sent_before_a_person_has_agreed_and_then_what_they_wrote(
    workbench: Workbench, decision: str
) -> None:
    live = await begun(workbench, "Ask before sending", "A thank-you note to the team")
    [pause] = await until(lambda: open_pauses(live.entries))
    assert "thank-you note" in str(pause.arguments["text"]) and "send" not in reached(live)
    if decision == "answer":
        await workbench.pauses.decide(live.run_id, pause.pause_id, "answer", arguments={"text": "Thank you all!"})
    else:
        await workbench.pauses.decide(live.run_id, pause.pause_id, "deny", note="Not today.")
    await asyncio.wait_for(live.ended(), 30)
    sent = [one.event.arguments for one in live.entries if one.event.type == "tool_called"]
    if decision == "answer":
        assert sent == [{"path": "/outbox/message.txt", "content": "Thank you all!"}]
        assert answer(live) == "Sent: Thank you all!"
    else:
        assert sent == [] and answer(live) == "Not sent. Not today."


async def test_what_was_made_of_a_run_comes_to_the_same(workbench: Workbench) -> None:
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    first = await workbench.chat.send(session.id, "What is 5 + 10, then multiply by 3?")
    await asyncio.wait_for(first.ended(), 30)
    made = await workbench.workflows_of_runs.make(first.run_id)
    again = await workbench.chat.new_session(made.id)
    live = await workbench.chat.send(again.id, "What is 5 + 10, then multiply by 3?")
    await asyncio.wait_for(live.ended(), 30)
    returned = [one.event.result.text for one in live.entries if one.event.type == "tool_returned"]
    assert returned == ["5 + 10 = 15", "15 * 3 = 45"] and status(live.entries, alive=False) == "completed"
