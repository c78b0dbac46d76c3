"""The turns above those that a session is opened with."""

import asyncio
from pathlib import Path

from nicegui import background_tasks
from nicegui.testing.user_interaction import UserInteraction

from app.domain.agents import PromptBehaviour, new_agent
from app.ui.conversation.conversation import SHOWN_TURNS, Conversation
from tests.seeds import seed_runs
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until


async def test_earlier_turns_that_are_asked_for_twice_at_once_come_once(tmp_path: Path) -> None:
    runs = await seed_runs(tmp_path, SHOWN_TURNS + 3)
    async with visitor(tmp_path) as (user, workbench):
        agent = await workbench.agents.create(new_agent("Talker", PromptBehaviour(), taken_slugs=()))
        session = await workbench.chat.new_session(agent.id)
        await workbench.sessions.change(session.id, lambda one: one.model_copy(update={"runs": tuple(runs)}))
        await user.open(f"/playground/{session.id}")
        await until(lambda: marked(user, "show-earlier"))
        button = UserInteraction(user, {the(user, "show-earlier")}, None)
        others = set(background_tasks.running_tasks)
        button.click()
        button.click()
        await asyncio.gather(*(background_tasks.running_tasks - others))
        (conversation,) = (one for one in user.current_layout.descendants() if isinstance(one, Conversation))
        assert [turn.run_id for turn in conversation.turns] == runs
