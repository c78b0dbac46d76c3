"""The data folder in Settings, where something else happens while it is asked or stored."""

from pathlib import Path

from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from tests.seeds import seed_runs
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until


async def press(user: User, testid: str) -> None:
    await until(lambda: marked(user, testid))
    UserInteraction(user, {the(user, testid)}, None).click()


async def keep_one_run(user: User) -> None:
    await until(lambda: marked(user, "keep-runs"))
    box = the(user, "keep-runs")
    assert isinstance(box, ui.number)
    box.value = 1
    await press(user, "save-retention")


async def test_what_is_set_in_another_tab_while_old_runs_are_asked_about_stays_so(tmp_path: Path):
    await seed_runs(tmp_path, 3)
    async with visitor(tmp_path) as (user, workbench):
        preferences = workbench.preferences
        await user.open("/settings?section=data")
        await keep_one_run(user)
        await until(lambda: marked(user, "question-confirm"))
        await preferences.save(preferences.get().model_copy(update={"day_cost": 0.5}))
        await press(user, "question-confirm")
        await until(lambda: preferences.get().keep_runs == 1)
        assert preferences.get().day_cost == 0.5
