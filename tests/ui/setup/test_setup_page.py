"""The Setup guide as somebody goes through it."""

from pathlib import Path

from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.settings import SetupProgress
from app.workbench import Workbench
from tests.ui.runs.test_runs_pages import sees, visitor
from tests.waiting import until


async def left_off(workbench: Workbench, progress: SetupProgress) -> None:
    preferences = workbench.preferences
    await preferences.save(preferences.get().model_copy(update={"setup": progress}))


def questions(user: User) -> UserInteraction[ui.element]:
    every = user.current_layout.descendants()
    return UserInteraction(user, {one for one in every if "setup-question" in str(getattr(one, "content", ""))}, None)


async def test_a_guide_whose_server_was_removed_since_says_so_and_lets_one_choose_again(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        name = await workbench.provider_desk.add("Team", "http://127.0.0.1:9/v1")
        await left_off(workbench, SetupProgress(step="choose", provider=name))
        await workbench.provider_desk.remove(name)
        await user.open("/setup")
        await sees(user, "What was chosen here is gone.")
        assert user.notify.messages == []


async def test_a_question_that_is_pressed_twice_is_asked_once(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        agent = workbench.agents.by_slug("assistant")
        await left_off(workbench, SetupProgress(step="ask", provider="demo", model="demo/agent", agent=agent.id))
        await user.open("/setup")
        await sees(user, "setup-question")
        for _ in range(2):
            questions(user).trigger("click", ["What is 2 + 3?"])
        await until(lambda: workbench.preferences.get().setup.step == "tour")
        await user.open("/playground")
        assert len(workbench.sessions.recent()) == 1
