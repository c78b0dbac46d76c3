"""What is done on Tools is taken back whole, and nothing that was done since with it."""

from pathlib import Path

from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.tool_settings import HttpTool
from app.ui.elements.addresses import http_tool_address
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until

SECRET = "planted-0123456789"


async def press(user: User, testid: str) -> None:
    await until(lambda: marked(user, testid))
    UserInteraction(user, {the(user, testid)}, None).trigger("click")


async def test_a_request_tool_that_was_deleted_comes_back_with_its_secret(tmp_path: Path):
    form = HttpTool(name="ask", description="Asks.", address="https://host/", headers={"X-Api-Key": SECRET})
    async with visitor(tmp_path) as (user, workbench):
        source, keys = workbench.http_tools, workbench.data.provider_keys
        await source.create(form)
        await user.open(http_tool_address("ask"))
        await source.save(form.model_copy(update={"description": "Asks in another tab."}))
        await press(user, "delete-request")
        await until(lambda: not source.forms() and not keys.values())
        await press(user, "undo-button")
        (back,) = await until(source.forms)
        assert back.description == "Asks in another tab."
        assert list(keys.values().values()) == [SECRET]
        assert SECRET not in back.model_dump_json()
