"""The data folder in Settings, where something else happens while it is asked or stored."""

from pathlib import Path

from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from tests.leaving import held, leave
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


async def test_a_backup_that_is_taken_when_its_page_was_left_is_told_on_the_next(tmp_path: Path, monkeypatch):
    async with visitor(tmp_path) as (user, workbench):
        taken = held(monkeypatch, workbench.data.backups, "take")
        await user.open("/settings?section=data")
        await press(user, "backup-button")
        await until(lambda: "loading" in the(user, "backup-button").props)
        told = await leave(user)
        taken.set()
        [words] = await until(lambda: told)
        assert "is taken" in words


async def test_old_runs_that_are_gone_when_the_page_was_left_are_told_on_the_next(tmp_path: Path, monkeypatch):
    await seed_runs(tmp_path, 3)
    async with visitor(tmp_path) as (user, workbench):
        removed = held(monkeypatch, workbench.retention, "remove")
        await user.open("/settings?section=data")
        await keep_one_run(user)
        await press(user, "question-confirm")
        await until(lambda: workbench.preferences.get().keep_runs == 1)
        told = await leave(user)
        removed.set()
        assert await until(lambda: told) == ["Saved."]


async def test_a_backup_that_is_to_be_restored_is_told_on_the_page_that_is_shown_then(tmp_path: Path, monkeypatch):
    async with visitor(tmp_path) as (user, workbench):
        backup = await workbench.data.backups.take()
        looked_through = held(monkeypatch, workbench.data.backups, "restore")
        await user.open("/settings?section=data")
        await until(lambda: backup.name in str(the(user, "backup-list").props.get("innerHTML", "")))
        UserInteraction(user, {the(user, "backup-list")}, None).trigger("click", ["restore", backup.name])
        await press(user, "question-confirm")
        await until(lambda: not marked(user, "question-confirm"))
        told = await leave(user)
        looked_through.set()
        [words] = await until(lambda: told)
        assert "restored at the next start" in words
