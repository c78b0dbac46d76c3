"""The turns above those that a session is opened with."""

import asyncio
from itertools import count
from pathlib import Path

from nicegui import background_tasks
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.provenance import Parent
from app.ui.conversation.conversation import SHOWN_TURNS, Conversation
from app.workbench import Workbench
from tests.cancelling import AtAwait
from tests.seeds import seed_runs
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until

MANY = SHOWN_TURNS + 3


async def opened(user: User, workbench: Workbench, runs: list[str]) -> Conversation:
    """A session of these runs, opened and without the first ones."""
    agent = await workbench.agents.create(new_agent("Talker", PromptBehaviour(), taken_slugs=()))
    session = await workbench.chat.new_session(agent.id)
    await workbench.sessions.change(session.id, lambda one: one.model_copy(update={"runs": tuple(runs)}))
    await user.open(f"/playground/{session.id}")
    await until(lambda: marked(user, "show-earlier"))
    (conversation,) = (one for one in user.current_layout.descendants() if isinstance(one, Conversation))
    return conversation


async def test_earlier_turns_that_are_asked_for_twice_at_once_come_once(tmp_path: Path) -> None:
    runs = await seed_runs(tmp_path, MANY)
    async with visitor(tmp_path) as (user, workbench):
        conversation = await opened(user, workbench, runs)
        button = UserInteraction(user, {the(user, "show-earlier")}, None)
        others = set(background_tasks.running_tasks)
        button.click()
        button.click()
        await asyncio.gather(*(background_tasks.running_tasks - others))
        assert [turn.run_id for turn in conversation.turns] == runs


async def test_an_earlier_turn_of_a_workflow_counts_with_what_its_nodes_used(tmp_path: Path) -> None:
    runs = await seed_runs(tmp_path, MANY)
    async with visitor(tmp_path) as (user, workbench):
        nothing = {"input_tokens": 0, "output_tokens": 0, "cost": 0.0, "unpriced": False}
        used = {"input_tokens": 10, "output_tokens": 5, "cost": 0.25, "unpriced": True}
        row = workbench.rows.get(runs[0])
        node = {"run_id": "node", "parent": Parent(run_id=runs[0], call_id="n1")}
        await workbench.rows.save(row.model_copy(update={"model": "", **nothing}))
        await workbench.rows.save(row.model_copy(update={**node, **used}))
        conversation = await opened(user, workbench, runs)
        first = conversation.figures[0]
        assert conversation.hidden[0] == runs[0] and len(conversation.figures) == MANY
        assert (first.input_tokens, first.output_tokens, first.cost, first.unpriced) == (10, 5, 0.25, True)


async def test_no_turn_is_seen_anywhere_but_where_it_stays_when_those_before_it_come(tmp_path: Path) -> None:
    runs = await seed_runs(tmp_path, MANY)
    async with visitor(tmp_path) as (user, workbench):
        opened_before, loop, awaited = await opened(user, workbench, runs), asyncio.get_running_loop(), count(1)
        seen = 0
        for nth in awaited:
            with opened_before.parent_slot.parent:
                shown = Conversation(workbench, opened_before._new_turn)

            def look(shown: Conversation = shown) -> None:
                nonlocal seen
                seen += bool(shown.turns)
                assert not shown.turns or "from-below" in shown._place.classes

            at_await = AtAwait(Conversation.show.__qualname__, nth, look)
            loop.set_task_factory(at_await)
            showing = loop.create_task(shown.show(tuple(runs)))
            loop.set_task_factory(None)
            await showing
            if not at_await.reached:
                break
        assert seen > 0
