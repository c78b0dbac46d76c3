"""What is done with an agent on its page is taken back, and nothing else with it."""

from pathlib import Path

from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.agents import Agent, PromptBehaviour, new_agent, with_variant
from app.workbench import Workbench
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until


async def tutor(workbench: Workbench) -> Agent:
    """One with three variants, the first of them active."""
    agent = new_agent("Tutor", PromptBehaviour(system_prompt="One."), taken_slugs=())
    for number, prompt in enumerate(("Two.", "Three."), 1):
        agent = with_variant(agent, PromptBehaviour(system_prompt=prompt), origin=number)
    await workbench.agents.create(agent)
    return agent


async def act(user: User, action: str, number: int) -> None:
    """Press that button of that variant."""
    await until(lambda: marked(user, "versions"))
    UserInteraction(user, {the(user, "versions")}, None).trigger("click", [action, str(number)])


async def undo(user: User) -> None:
    await until(lambda: marked(user, "undo-button"))
    user.find("Undo").click()


async def test_a_promotion_is_taken_back_and_what_was_archived_since_stays_so(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        agent = await tutor(workbench)
        await user.open("/agents/tutor")
        await act(user, "promote", 3)
        await until(lambda: workbench.agents.get(agent.id).active == 3)
        await act(user, "archive", 2)
        await until(lambda: workbench.agents.get(agent.id).archived == (2,))
        await undo(user)
        await until(lambda: workbench.agents.get(agent.id).active == 1)
        assert workbench.agents.get(agent.id).archived == (2,)


async def test_a_promotion_of_somebody_else_since_is_not_taken_back(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        agent = await tutor(workbench)
        await user.open("/agents/tutor")
        await act(user, "promote", 3)
        await until(lambda: workbench.agents.get(agent.id).active == 3)
        await workbench.gating.activate(agent.id, 2, by="page")
        await undo(user)
        await until(lambda: "variant 2 was promoted since" in " ".join(user.notify.messages))
        after = workbench.agents.get(agent.id)
        assert after.active == 2
        assert [one.variant for one in after.activations] == [1, 3, 2]
