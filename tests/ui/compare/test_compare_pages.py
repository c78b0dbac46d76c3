"""The Compare pages in this process, over a real store."""

from functools import partial
from pathlib import Path

import pytest
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.agents import PromptBehaviour, ToolChoice, archived, new_agent, with_variant
from app.domain.comparisons import ColumnChoice, ComparedTurn
from app.domain.errors import Conflict
from app.domain.trace import run_row
from app.domain.values import new_id
from app.ui.compare.board import Board
from app.ui.compare.compare_page import newest_candidate, suggested, variant_words
from app.ui.compare.comparison_page import answer_again, promote
from app.workbench import Workbench
from tests.traces import ADD, MULTIPLY, asked, called, finished, ran, returned, said, started, trace_of
from tests.ui.runs.test_runs_pages import marked, sees, visitor, words
from tests.waiting import until

COUNTER = with_variant(
    new_agent("Counter", PromptBehaviour(system_prompt="Count."), taken_slugs=()),
    PromptBehaviour(system_prompt="Well."),
    origin=1,
)


async def compared(workbench: Workbench, *, columns: int, turns: int) -> str:
    """A comparison of that many columns and turns, each answer with two calls; its id."""
    if COUNTER.slug not in workbench.agents.slugs():
        await workbench.agents.create(COUNTER)
    choices = [ColumnChoice(agent_id=COUNTER.id, variant=1 + place % 2) for place in range(columns)]
    comparison = await workbench.compare.start(choices)
    for number in range(turns):
        runs = {session_id: await answered(workbench, session_id, number) for session_id in comparison.sessions}
        turn = ComparedTurn(text=f"Question {number}", runs=runs)
        await workbench.comparisons.change(
            comparison.id, lambda one, turn=turn: one.model_copy(update={"turns": (*one.turns, turn)})
        )
    return comparison.id


async def answered(workbench: Workbench, session_id: str, number: int) -> str:
    """A stored run of that session; its id."""
    entries = trace_of(
        started(session_id=session_id),
        asked(f"Question {number}"),
        called("m1"),
        said("", ADD, MULTIPLY, reasoning="Both at once."),
        returned("m1"),
        *ran(ADD, "15"),
        *ran(MULTIPLY, "45"),
        called("m2"),
        said(f"Answer {number}."),
        returned("m2"),
        finished(),
        run_id=new_id(),
    )
    writer = await workbench.data.traces.create(entries[0].run_id, session_id)
    for entry in entries:
        writer.append(entry)
    await writer.flush()
    await writer.close()
    await workbench.rows.save(run_row(entries, alive=False))
    await workbench.sessions.change(
        session_id, lambda one: one.model_copy(update={"runs": (*one.runs, entries[0].run_id)})
    )
    return entries[0].run_id


def elements(user: User) -> int:
    return sum(1 for _ in user.current_layout.descendants())


async def filled(user: User) -> None:
    """Return when the page shows all that it shows at first."""
    await until(lambda: marked(user, "show-earlier"), seconds=20, pause=0.05)


async def test_four_columns_of_many_turns_stay_light(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, workbench):
        comparison = await compared(workbench, columns=4, turns=12)
        await user.open(f"/compare/{comparison}")
        await filled(user)
        shown = words(user)
        assert "Answer 11." in shown
        assert len(marked(user, "compare-column")) == 4
        assert elements(user) < 500
        assert {shown.count(f"Answer {number}.") for number in range(12)} == {0, 4}


async def test_earlier_turns_are_shown_when_asked_for(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, workbench):
        comparison = await compared(workbench, columns=4, turns=8)
        await user.open(f"/compare/{comparison}")
        await filled(user)
        assert len(marked(user, "assistant-message")) < 32
        user.find("Show earlier").click()
        await until(lambda: len(marked(user, "assistant-message")) == 32, seconds=20, pause=0.05)
        assert not marked(user, "show-earlier")


async def test_the_address_names_agent_and_variants(tmp_path: Path) -> None:
    other = new_agent("Another", PromptBehaviour(), taken_slugs=())
    other = with_variant(other, PromptBehaviour(), origin=1)
    async with visitor(tmp_path) as (user, workbench):
        await workbench.agents.create(COUNTER)
        await workbench.agents.create(other)
        await user.open("/compare?agent=counter&variant=2&variant=1")
        assert [box.value for box in marked(user, "agent-select")] == [COUNTER.id, COUNTER.id]
        assert [box.value for box in marked(user, "variant-select")] == [2, 1]
        await user.open("/compare?agent=counter&variant=2")
        assert [box.value for box in marked(user, "variant-select")] == [1, 2]
        await user.open("/compare?agent=nobody&variant=99")
        assert [box.value for box in marked(user, "variant-select")] == [1, 2]


async def test_without_agents_there_is_a_way_on(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, _):
        await user.open("/compare")
        await sees(user, "No agents")
        assert 'href="/agents"' in words(user)


async def test_a_deleted_comparison_says_so(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, workbench):
        comparison = await compared(workbench, columns=2, turns=1)
        await workbench.comparisons.delete(comparison)
        await user.open(f"/compare/{comparison}")
        await sees(user, "This comparison was deleted.")


async def test_columns_that_all_wait_for_a_person_are_not_said_to_stream(tmp_path: Path) -> None:
    asking = new_agent("Asking", PromptBehaviour(tools=(ToolChoice(name="calculator", policy="ask"),)), taken_slugs=())
    async with visitor(tmp_path) as (user, workbench):
        await workbench.agents.create(asking)
        comparison = await workbench.compare.start([ColumnChoice(agent_id=asking.id, variant=1)] * 2)
        await user.open(f"/compare/{comparison.id}")
        await workbench.compare.send(comparison.id, "What is 5 + 10?")
        (bar,) = marked(user, "status-bar")
        assert isinstance(bar, ui.html)
        await until(lambda: "Waiting for you" in bar.content)
        workbench.compare.stop(comparison.id)
        await until(lambda: "Idle" in bar.content)


async def test_promoting_a_model_saves_it_as_a_variant_first(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (_, workbench):
        await workbench.agents.create(COUNTER)
        session = await workbench.chat.new_session(COUNTER.id, 2, model="openai/gpt-4o")
        agent = await promote(workbench, session)
        assert agent.active == 3
        assert agent.active_variant.origin == 2
        assert agent.active_variant.behaviour == COUNTER.variant(2).behaviour.model_copy(
            update={"model": "openai/gpt-4o"}
        )
        after = workbench.sessions.get(session.id)
        assert (after.variant, after.model) == (3, None)


async def test_promoting_a_variant_saves_no_other(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (_, workbench):
        await workbench.agents.create(COUNTER)
        agent = await promote(workbench, await workbench.chat.new_session(COUNTER.id, 2))
        assert (agent.active, len(agent.variants)) == (2, 2)


async def test_an_archived_variant_that_was_promoted_is_archived_again_with_undo(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, workbench):
        comparison = await compared(workbench, columns=2, turns=1)
        await workbench.agents.change(COUNTER.id, partial(archived, number=2))
        await user.open(f"/compare/{comparison}")
        [board] = await until(lambda: [one for one in user.current_layout.descendants() if isinstance(one, Board)])
        UserInteraction(user, {board.grid}, None).trigger("click", ["promote", "1", ""])
        await until(lambda: workbench.agents.get(COUNTER.id).active == 2)
        await until(lambda: marked(user, "undo-button"))
        user.find("Undo").click()
        await until(lambda: workbench.agents.get(COUNTER.id).active == 1)
        assert workbench.agents.get(COUNTER.id).status_of(2) == "archived"


async def test_only_the_newest_answer_is_given_again(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (_, workbench):
        comparison = workbench.comparisons.get(await compared(workbench, columns=2, turns=2))
        session_id = comparison.sessions[0]
        earlier, newest = (turn.runs[session_id] for turn in comparison.turns)
        with pytest.raises(Conflict, match="Only the newest"):
            await answer_again(workbench, comparison, session_id, earlier)
        await answer_again(workbench, comparison, session_id, newest)
        replaced = workbench.comparisons.get(comparison.id).turns[1].runs
        assert replaced[session_id] == workbench.sessions.get(session_id).runs[1] != newest
        assert replaced[comparison.sessions[1]] == comparison.turns[1].runs[comparison.sessions[1]]


def test_an_archived_variant_is_no_candidate() -> None:
    assert suggested(COUNTER) == (1, 2)
    assert newest_candidate(archived(COUNTER, 2)) is None
    assert suggested(archived(COUNTER, 2)) == (1, 1)


def test_variants_are_named_with_their_status_the_newest_first() -> None:
    assert list(variant_words(COUNTER).items()) == [(2, "v2 · Newer"), (1, "v1 · Active")]


async def test_a_refusal_takes_the_place_of_a_run_that_never_began(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, workbench):
        comparison_id = await compared(workbench, columns=2, turns=0)
        first, second = workbench.comparisons.get(comparison_id).sessions
        runs = {first: await answered(workbench, first, 0)}
        announced = ComparedTurn(text="Question 0", runs={**runs, second: new_id()})
        refused = ComparedTurn(text="Question 0", runs=runs, refusals={second: "gone_tool is not there."})
        await user.open(f"/compare/{comparison_id}")
        for turn, told in ((announced, "There is no run"), (refused, "gone_tool is not there.")):
            await workbench.comparisons.change(
                comparison_id, lambda one, turn=turn: one.model_copy(update={"turns": (turn,)})
            )
            await sees(user, told)
