"""What is done with an agent on its page is taken back, and nothing else with it."""

from pathlib import Path

from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.agents import Agent, PromptBehaviour, new_agent, template_of, with_variant
from app.ui.elements.prompt_editor import PromptEditor
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


def write(user: User, text: str) -> None:
    """Write it before the prompt."""
    [editor] = [one for one in user.current_layout.descendants() if isinstance(one, PromptEditor)]
    length = len(editor.text) + len(text)
    UserInteraction(user, {editor}, None).trigger("edited", {"edit": [0, 0, text], "length": length})


async def test_changes_that_were_discarded_come_back_until_something_is_written_in_their_place(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        agent = await tutor(workbench)

        def prompt() -> str:
            """What is in the editor and in no variant."""
            kept = workbench.working_copies.get(agent.id)
            return template_of(kept.behaviour) if kept else ""

        async def discard() -> None:
            UserInteraction(user, {the(user, "reset-prompt-button")}, None).click()
            await until(lambda: not prompt())

        await user.open("/agents/tutor")
        await until(lambda: marked(user, "versions"))
        write(user, "Old. ")
        await until(lambda: prompt() == "Old. One.")
        await discard()
        await undo(user)
        await until(lambda: prompt() == "Old. One.")
        await discard()
        assert marked(user, "undo-bar")
        write(user, "New. ")
        await until(lambda: prompt() == "New. One.")
        assert not marked(user, "undo-bar")


async def test_a_promotion_can_be_taken_back_while_somebody_writes(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        agent = await tutor(workbench)
        await user.open("/agents/tutor")
        await act(user, "copy", 2)
        await act(user, "promote", 3)
        await until(lambda: workbench.agents.get(agent.id).active == 3)
        write(user, "New. ")
        await until(lambda: workbench.working_copies.get(agent.id))
        await undo(user)
        await until(lambda: workbench.agents.get(agent.id).active == 1)
