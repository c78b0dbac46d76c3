"""What Settings says of where spans go, and what becomes of the headers that go along."""

from pathlib import Path

from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.ui.settings.collector import _state
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until


def test_a_password_in_an_address_of_the_environment_is_not_shown():
    told = _state("https://user:s3cret@host/v1/traces?key=abc", "")
    assert "cannot be used" in told and "s3cret" not in told and "key=abc" not in told


def add(user: User, name: str, value: str) -> None:
    for testid, text in (("collector-header-name", name), ("collector-header-value", value)):
        box = the(user, testid)
        assert isinstance(box, ui.input)
        box.value = text
    UserInteraction(user, {the(user, "collector-header-add")}, None).click()


async def remove(user: User, name: str) -> None:
    label = f"Remove the header {name}"

    def buttons() -> list[ui.element]:
        return [one for one in user.current_layout.descendants() if one.props.get("aria-label") == label]

    [found] = await until(buttons)
    UserInteraction(user, {found}, None).click()
    await until(lambda: marked(user, "undo-bar") and not buttons())


async def test_a_header_that_was_removed_is_offered_back_until_it_has_another_value(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.collector.keep_header("x-api-key", "old")
        await user.open("/settings?section=collector")
        await remove(user, "x-api-key")
        add(user, "other", "value")
        await until(lambda: "Remove the header other" in str([one.props for one in user.current_layout.descendants()]))
        assert marked(user, "undo-bar")
        add(user, " X-API-Key ", "new")
        await until(lambda: the(user, "collector-header-name").props.get("value") == "")
        assert not marked(user, "undo-bar")
        assert await workbench.collector.headers() == {"other": "value", "x-api-key": "new"}
