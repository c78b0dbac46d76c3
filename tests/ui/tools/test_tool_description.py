"""What models are told of a tool, while it is written."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.errors import StorageError
from app.domain.tool_settings import ToolSetting
from app.ui.elements.undo_bar import UndoBar
from app.ui.tools.tool_detail import ToolDetail
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until


@asynccontextmanager
async def writing(folder: Path, tries: list[str]) -> AsyncIterator[tuple[User, ui.textarea]]:
    """Somebody who begins to write what models are told; the disk is full until it was tried once."""

    async def store(_name: str, setting: ToolSetting) -> None:
        tries.append(setting.description or "")
        if len(tries) == 1:
            raise StorageError("The disk is full.")

    async with visitor(folder) as (user, workbench):
        await user.open("/jobs")
        listed = next(one for one in workbench.tools.listed() if one.spec.name == "calculator")
        with user.current_layout:
            ToolDetail(workbench, listed, UndoBar(), on_setting=store)
        press(user, "describe-tool")
        box = the(user, "description-input")
        assert isinstance(box, ui.textarea)
        yield user, box


def press(user: User, testid: str, how: str = "click") -> None:
    UserInteraction(user, {the(user, testid)}, None).trigger(how)


async def test_what_was_typed_stays_until_it_is_stored(tmp_path: Path):
    tries: list[str] = []
    async with writing(tmp_path, tries) as (user, box):
        box.value = "Adds up."
        press(user, "save-description")
        await until(lambda: "The disk is full." in user.notify.messages)
        assert the(user, "description-input") is box and box.value == "Adds up."
        assert not marked(user, "describe-tool")
        press(user, "save-description")
        await until(lambda: marked(user, "describe-tool"))
        assert tries == ["Adds up.", "Adds up."] and not marked(user, "description-input")


async def test_escape_throws_away_nothing_that_was_typed(tmp_path: Path):
    async with writing(tmp_path, []) as (user, box):
        told = box.value
        box.value = "Adds up."
        press(user, "description-input", "keydown.esc")
        assert marked(user, "description-input") == [box]
        box.value = told
        press(user, "description-input", "keydown.esc")
        assert not marked(user, "description-input") and marked(user, "describe-tool")
