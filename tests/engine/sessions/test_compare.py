"""Comparing variants and models on the same message."""

import asyncio
from collections.abc import Callable

import pytest

from app.domain.agents import Agent, PromptBehaviour, ToolChoice, new_agent, with_variant
from app.domain.comparisons import ColumnChoice, Comparison
from app.domain.errors import Conflict, NotFound, StorageError, TooLarge, WorkbenchError
from app.domain.messages import FilePart
from app.engine.ports import ComparisonStore, Traces, TraceWriter
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.engine.sessions.compare import Compare
from tests.engine.scripted import TextDelta, forever


@pytest.fixture
def compare(bench) -> Compare:
    return Compare(bench.chat, bench.data.sessions, bench.data.comparisons, bench.runs, bench.data.scores)


async def make_agent(bench, *behaviours: PromptBehaviour) -> Agent:
    first, *others = behaviours or (prompted("one"), prompted("two"))
    agent = new_agent("Tester", first, taken_slugs=bench.data.agents.slugs())
    for behaviour in others:
        agent = with_variant(agent, behaviour, origin=1)
    return await bench.data.agents.create(agent)


def prompted(prompt: str, *tools: str) -> PromptBehaviour:
    choices = tuple(ToolChoice(name=name) for name in tools)
    return PromptBehaviour(system_prompt=prompt, model="scripted/model", tools=choices)


async def two_columns(bench, compare, *behaviours: PromptBehaviour) -> Comparison:
    agent = await make_agent(bench, *behaviours)
    return await compare.start([ColumnChoice(agent_id=agent.id, variant=number) for number in (1, 2)])


async def ask(bench, compare, comparison, text, answer) -> list[Run]:
    for _ in comparison.sessions:
        bench.models.say(answer)
    sent = await compare.send(comparison.id, text)
    lives = [live for live in sent if isinstance(live, Run)]
    await asyncio.wait_for(asyncio.gather(*(live.ended() for live in lives)), 30)
    return lives


async def test_one_message_goes_to_all_columns_with_their_own_variants(bench, compare):
    comparison = await two_columns(bench, compare)
    lives = await ask(bench, compare, comparison, "hello\nthere", "hi")
    assert [live.started.system.text for live in lives] == ["one", "two"]
    assert [live.started.purpose for live in lives] == ["compare", "compare"]
    assert [live.started.agent.variant for live in lives] == [1, 2]
    assert [live.status for live in lives] == ["completed", "completed"]
    kept = bench.data.comparisons.get(comparison.id)
    assert kept.title == "hello"
    assert kept.turns[0].text == "hello\nthere"
    assert [kept.turns[0].runs[session_id] for session_id in kept.sessions] == [live.run_id for live in lives]


async def test_the_next_message_knows_what_its_own_column_said(bench, compare):
    comparison = await two_columns(bench, compare)
    await ask(bench, compare, comparison, "one", "first")
    await ask(bench, compare, comparison, "two", "second")
    heard = [[message.text for message in request.messages] for request in bench.models.requests[2:]]
    assert heard == [["one", "first", "two"]] * 2
    kept = bench.data.comparisons.get(comparison.id)
    assert (kept.title, len(kept.turns)) == ("one", 2)


async def test_an_answer_that_is_asked_for_again_is_part_of_the_comparison_still(bench, compare):
    comparison = await two_columns(bench, compare)
    [live, _] = await ask(bench, compare, comparison, "x", "y")
    bench.models.say("z")
    again = await bench.chat.regenerate(comparison.sessions[0], live.run_id)
    await again.ended()
    assert again.started.purpose == "compare"


async def test_a_column_may_use_another_model(bench, compare):
    agent = await make_agent(bench)
    columns = [ColumnChoice(agent_id=agent.id, variant=1, model=model) for model in (None, "scripted/other")]
    lives = await ask(bench, compare, await compare.start(columns), "x", "y")
    assert [live.started.model for live in lives] == ["scripted/model", "scripted/other"]


async def test_a_column_whose_session_was_deleted_goes_on_in_its_comparison(bench, compare):
    comparison = await two_columns(bench, compare)
    await compare.open_column(comparison.id, comparison.sessions[0])
    await bench.data.sessions.delete(comparison.sessions[0])
    assert len(await ask(bench, compare, comparison, "x", "y")) == 2


@pytest.mark.parametrize("count", [0, 1, 5])
async def test_a_comparison_has_two_to_four_columns(bench, compare, count):
    agent = await make_agent(bench)
    with pytest.raises(WorkbenchError, match=f"2 to 4 columns, not {count}"):
        await compare.start([ColumnChoice(agent_id=agent.id, variant=1)] * count)


async def test_a_variant_that_is_not_there_leaves_no_session_behind(bench, compare):
    agent = await make_agent(bench)
    with pytest.raises(NotFound, match="no variant 7"):
        await compare.start([ColumnChoice(agent_id=agent.id, variant=number) for number in (1, 7)])
    assert bench.data.sessions._documents.documents() == []


async def test_a_deleted_agent_is_not_compared(bench, compare):
    agent = await make_agent(bench)
    await bench.data.agents.delete(agent.id)
    with pytest.raises(NotFound, match="deleted"):
        await compare.start([ColumnChoice(agent_id=agent.id, variant=number) for number in (1, 2)])


async def test_one_columns_refusal_does_not_stop_the_other(bench, compare):
    comparison = await two_columns(bench, compare, prompted("one", "vanished"), prompted("two"))
    bench.models.say("hi")
    refused, live = await compare.send(comparison.id, "x")
    assert isinstance(refused, WorkbenchError) and "vanished" in str(refused)
    assert isinstance(live, Run)
    await live.ended()
    turn = bench.data.comparisons.get(comparison.id).turns[0]
    left, right = comparison.sessions
    assert "vanished" in turn.refusals[left]
    assert turn.runs == {right: live.run_id}


class FullDisk:
    """Comparisons that can be read and not stored."""

    def __init__(self, real: ComparisonStore) -> None:
        self.create, self.get = real.create, real.get

    async def change(self, comparison_id: str, change: Callable[[Comparison], Comparison]) -> Comparison:
        raise StorageError("The disk is full.")


class OneTrace:
    """Traces of which the first is begun at once and the others never, as when the process ends in between."""

    def __init__(self, real: Traces) -> None:
        self._real = real
        self.read, self.reopen = real.read, real.reopen
        self.begun: list[str] = []
        self.waits = asyncio.Event()

    async def create(self, run_id: str, session_id: str) -> TraceWriter:
        if self.begun:
            self.waits.set()
            await asyncio.Event().wait()
        self.begun.append(run_id)
        return await self._real.create(run_id, session_id)


async def test_nothing_begins_while_the_turn_cannot_be_stored(bench, compare):
    comparison = await two_columns(bench, compare)
    compare.comparisons = FullDisk(bench.data.comparisons)
    with pytest.raises(StorageError, match="full"):
        await compare.send(comparison.id, "x")
    assert bench.runs.begun == 0


async def test_a_run_that_began_before_a_kill_is_part_of_the_comparison(bench, compare):
    comparison = await two_columns(bench, compare)
    bench.models.say("hi")
    traces = OneTrace(bench.data.traces)
    runs = Runs(traces, bench.data.rows, bench.models, bench.chat.toolbox, bench.data.artifacts, bench.clock)
    killed = Compare(Chat(bench.data.agents, bench.data.sessions, runs, bench.chat.toolbox), bench.data.sessions,
                     bench.data.comparisons, runs, bench.data.scores)  # fmt: skip
    sending = asyncio.create_task(killed.send(comparison.id, "x"))
    await asyncio.wait_for(traces.waits.wait(), 30)
    assert killed.sending(comparison.id)
    await runs.unbroken.close(patience=0)
    await asyncio.wait([sending])
    assert not killed.sending(comparison.id)
    [turn] = bench.data.comparisons.get(comparison.id).turns
    assert turn.text == "x"
    assert traces.begun[0] in turn.runs.values()
    await runs.close()


async def test_stop_stops_all(bench, compare):
    comparison = await two_columns(bench, compare)
    for _ in range(2):
        bench.models.say(TextDelta("going on"), forever)
    lives = await compare.send(comparison.id, "x")
    assert len(compare.live_runs(comparison.id)) == 2
    compare.stop(comparison.id)
    await asyncio.wait_for(asyncio.gather(*(live.ended() for live in lives)), 30)
    assert [live.status for live in lives] == ["cancelled", "cancelled"]
    assert compare.live_runs(comparison.id) == []


async def test_no_message_is_sent_while_a_column_still_answers(bench, compare):
    comparison = await two_columns(bench, compare)
    bench.models.say("quick")
    bench.models.say(forever)
    await compare.send(comparison.id, "x")
    with pytest.raises(Conflict, match="Not all columns"):
        await compare.send(comparison.id, "y")
    compare.stop(comparison.id)
    assert len(bench.data.comparisons.get(comparison.id).turns) == 1


async def test_two_messages_at_once_are_one_turn(bench, compare):
    comparison = await two_columns(bench, compare)
    for _ in range(4):
        bench.models.say(forever)
    sent = await asyncio.gather(
        compare.send(comparison.id, "x"), compare.send(comparison.id, "y"), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in sent) == ["Conflict", "list"]
    assert len(bench.data.comparisons.get(comparison.id).turns) == 1


async def test_an_empty_or_huge_message_starts_nothing(bench, compare):
    comparison = await two_columns(bench, compare)
    with pytest.raises(WorkbenchError, match="empty"):
        await compare.send(comparison.id, "  ")
    with pytest.raises(TooLarge):
        await compare.send(comparison.id, "x" * 300_000)
    assert bench.data.comparisons.get(comparison.id).turns == ()


async def test_columns_are_no_sessions_until_one_is_opened(bench, compare):
    comparison = await two_columns(bench, compare)
    await ask(bench, compare, comparison, "hello", "hi")
    assert bench.data.sessions.recent() == []
    opened = await compare.open_column(comparison.id, comparison.sessions[1])
    assert [session.id for session in bench.data.sessions.recent()] == [opened.id]
    assert (opened.title, opened.comparison) == ("hello", "")
    bench.models.say("more")
    live = await bench.chat.send(opened.id, "go on")
    await live.ended()
    assert [message.text for message in bench.models.requests[-1].messages] == ["hello", "hi", "go on"]
    assert live.started.purpose == "chat"
    [_, again] = await ask(bench, compare, comparison, "both", "ok")
    assert again.started.purpose == "compare"
    assert len(bench.data.comparisons.get(comparison.id).turns) == 2


async def test_a_vote_is_kept_changed_and_taken_back(bench, compare):
    comparison = await two_columns(bench, compare)
    await ask(bench, compare, comparison, "hello", "hi")
    left, right = comparison.sessions
    for voted in (left, right, None):
        await compare.vote(comparison.id, 0, voted)
        comparison = bench.data.comparisons.get(comparison.id)
        assert compare.votes(comparison) == ({0: voted} if voted else {})
        marks = {one: bench.data.scores.marks(run_id).votes for one, run_id in comparison.turns[0].runs.items()}
        assert marks == {left: voted == left, right: voted == right}


async def test_a_tie_takes_the_place_of_a_vote_and_counts_for_no_column(bench, compare):
    comparison = await two_columns(bench, compare)
    with pytest.raises(NotFound, match="no turn 1"):
        await compare.call_tie(comparison.id, 0)
    await ask(bench, compare, comparison, "hello", "hi")
    left, right = comparison.sessions
    await compare.vote(comparison.id, 0, left)
    await compare.call_tie(comparison.id, 0)
    comparison = bench.data.comparisons.get(comparison.id)
    runs = comparison.turns[0].runs.values()
    assert compare.votes(comparison) == {0: None}
    assert [bench.data.scores.marks(run_id).votes for run_id in runs] == [0, 0]
    assert [score.value for run_id in runs for score in bench.data.scores.of(run_id)] == [0.5, 0.5]
    await compare.vote(comparison.id, 0, right)
    assert compare.votes(comparison) == {0: right}
    await compare.vote(comparison.id, 0, None)
    assert compare.votes(comparison) == {}


async def test_what_is_attached_goes_to_every_column_and_names_a_message_without_words(bench, compare):
    comparison = await two_columns(bench, compare)
    bench.models.say("a")
    bench.models.say("b")
    note = FilePart(artifact="a" * 64, media_type="text/plain", filename="note.txt", size=3)
    for live in await compare.send(comparison.id, "", (note,)):
        await live.ended()
        assert list(live.started.files.values()) == [note.artifact]
    assert bench.data.comparisons.get(comparison.id).title == "note.txt"


async def test_a_vote_for_what_is_not_there_is_refused(bench, compare):
    comparison = await two_columns(bench, compare)
    with pytest.raises(NotFound, match="no turn 1"):
        await compare.vote(comparison.id, 0, comparison.sessions[0])
    await ask(bench, compare, comparison, "hello", "hi")
    with pytest.raises(NotFound, match="column"):
        await compare.vote(comparison.id, 0, "nothere")
    with pytest.raises(NotFound, match="column"):
        await compare.open_column(comparison.id, "nothere")
