"""The first page, while runs go on behind it."""

from pathlib import Path

from nicegui.testing.user_interaction import UserInteraction

from app.domain.agents import PromptBehaviour, new_agent
from app.ui.playground.landing_page import PAGE_SIZE
from app.workbench import Workbench
from tests.ui.runs.test_runs_pages import marked, sees, the, visitor
from tests.waiting import until


async def ask(workbench: Workbench, question: str) -> str:
    """A session in which that is asked; its id."""
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    await workbench.chat.send(session.id, question)
    return session.id


async def test_a_title_is_typed_in_peace_while_a_run_begins_and_ends(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        renamed = await ask(workbench, "What is 1 + 1?")
        await until(lambda: not workbench.runs.live_runs())
        await user.open("/playground")
        await sees(user, "What is 1 + 1?")
        UserInteraction(user, {the(user, "session-list")}, None).trigger("click", ["rename", renamed])
        await until(lambda: marked(user, "question-input"))
        await ask(workbench, "Tell me a long story")
        await sees(user, "Running")
        assert marked(user, "question-input")


async def test_of_more_agents_than_are_listed_those_that_are_used_come_first(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        behaviour = PromptBehaviour(model="demo/agent")
        for number in range(PAGE_SIZE + 10):
            await workbench.agents.create(
                new_agent(f"Agent {number:02}", behaviour, taken_slugs=workbench.agents.slugs())
            )
        last, before = (workbench.agents.by_slug(f"agent-{number}") for number in (PAGE_SIZE + 9, PAGE_SIZE + 8))
        for agent in (before, last, before, last):
            await workbench.chat.new_session(agent.id)
        await user.open("/playground")
        await sees(user, last.name)
        drawn = "".join(str(element.props.get("innerHTML") or "") for element in user.current_layout.descendants())
        places = [drawn.index(name) for name in (last.name, before.name, "Agent 00", "Agent 01")]
        assert places == sorted(places)
        assert f"Agent {PAGE_SIZE - 2}" not in drawn and f"All {PAGE_SIZE + 10} agents" in drawn
