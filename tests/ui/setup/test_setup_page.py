"""The Setup guide as somebody goes through it."""

from pathlib import Path

from app.domain.settings import SetupProgress
from app.workbench import Workbench
from tests.ui.runs.test_runs_pages import sees, visitor


async def left_off(workbench: Workbench, progress: SetupProgress) -> None:
    preferences = workbench.preferences
    await preferences.save(preferences.get().model_copy(update={"setup": progress}))


async def test_a_guide_whose_server_was_removed_since_says_so_and_lets_one_choose_again(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        name = await workbench.provider_desk.add("Team", "http://127.0.0.1:9/v1")
        await left_off(workbench, SetupProgress(step="choose", provider=name))
        await workbench.provider_desk.remove(name)
        await user.open("/setup")
        await sees(user, "What was chosen here is gone.")
        assert user.notify.messages == []
