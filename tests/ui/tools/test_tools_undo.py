"""What is done on Tools is taken back whole, and nothing that was done since with it."""

from itertools import count
from pathlib import Path

import pytest
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.tool_settings import HttpTool
from app.ui.elements.addresses import TOOL_SOURCES, http_tool_address, tool_address, tool_file_address
from app.ui.elements.undo_bar import UndoBar
from app.ui.markdown.code_editor import CodeEditor
from app.ui.tools.saved_calls import SavedCallsBar
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


async def written(user: User, text: str) -> ui.textarea:
    """The box in which is written what models are told of a tool, with that text."""
    await press(user, "describe-tool")
    await until(lambda: marked(user, "description-input"))
    box = the(user, "description-input")
    assert isinstance(box, ui.textarea)
    box.value = text
    return box


async def test_words_for_models_come_back_unless_others_were_written_since(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):

        def told() -> str | None:
            return workbench.data.tool_settings.get("calculator").description

        async def tell(text: str) -> None:
            await written(user, text)
            await press(user, "save-description")
            await until(lambda: told() == text)

        async def reset() -> None:
            await press(user, "reset-description")
            await until(lambda: told() is None)

        await user.open(tool_address("calculator"))
        await tell("Old.")
        await reset()
        await press(user, "undo-button")
        await until(lambda: told() == "Old.")
        await reset()
        await tell("New.")
        await press(user, "undo-button")
        await until(lambda: "Models were told something else since, which stays." in user.notify.messages)
        assert told() == "New."


async def test_a_call_is_offered_a_name_of_its_own_and_one_that_it_replaces_comes_back(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):

        def saved() -> dict[str, object]:
            return {one.name: one.arguments["n"] for one in workbench.data.saved_calls.of("calculator")}

        async def save(name: str = "") -> None:
            """Under that name, or the one that is offered; each call has another number."""
            await press(user, "save-it")
            await until(lambda: marked(user, "question-input"))
            box = the(user, "question-input")
            assert isinstance(box, ui.input)
            box.value = name or box.value
            await press(user, "question-confirm")
            await until(lambda: not marked(user, "question-input"))

        await user.open("/jobs")
        numbers = count(1)
        with user.current_layout:
            bar = SavedCallsBar(workbench, "calculator", UndoBar(), on_choose=print)
            ui.button("Save", on_click=lambda: bar.save({"n": next(numbers)})).props("data-testid=save-it")
        for number in (1, 2, 3):
            await save()
            await until(lambda: saved().get(f"Call {number}") == number)  # noqa: B023  awaited within the round
        chips = next(one for one in bar.descendants() if isinstance(one, ui.html))
        first = next(one for one in workbench.data.saved_calls.of("calculator") if one.name == "Call 1")
        UserInteraction(user, {chips}, None).trigger("click", ["delete", first.id])
        await until(lambda: saved() == {"Call 2": 2, "Call 3": 3})
        await save()
        await until(lambda: saved() == {"Call 1": 4, "Call 2": 2, "Call 3": 3})
        await save("Call 2")
        await user.should_see("Replaced “Call 2”")
        assert saved() == {"Call 1": 4, "Call 2": 5, "Call 3": 3}
        await press(user, "undo-button")
        await until(lambda: saved() == {"Call 1": 4, "Call 2": 2, "Call 3": 3})


async def go(user: User, address: str, testid: str) -> None:
    """Follow a link, and wait for what is there."""
    with user.current_layout:
        ui.navigate.to(address)
    await until(lambda: marked(user, testid))


def editor(user: User) -> CodeEditor:
    (found,) = (one for one in user.current_layout.descendants() if isinstance(one, CodeEditor))
    return found


def write(user: User, text: str) -> None:
    UserInteraction(user, {editor(user)}, None).trigger("edited", text)


@pytest.mark.parametrize("opened_again", [False, True])
async def test_a_text_that_the_files_replaced_comes_back_until_something_else_is_written(
    tmp_path: Path, *, opened_again: bool
):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        path = workbench.user_tools.folder / "mine.py"

        async def replaced(*, mine: str, theirs: str) -> None:
            """Somebody wrote `mine` while another program wrote `theirs`, which was taken."""
            write(user, mine)
            path.write_text(theirs, encoding="utf-8")
            await press(user, "take-theirs")
            assert editor(user).text == theirs

        path.write_text("first = 1\n", encoding="utf-8")
        await until(workbench.user_tools.files)
        await user.open(tool_file_address("mine.py"))
        await until(lambda: marked(user, "save-source"))
        await replaced(mine="mine = 1\n", theirs="theirs = 1\n")
        await press(user, "undo-button")
        await until(lambda: editor(user).text == "mine = 1\n")
        await replaced(mine="mine = 2\n", theirs="theirs = 2\n")
        assert marked(user, "undo-bar")
        if opened_again:
            await go(user, TOOL_SOURCES, "sources-overview")
            assert marked(user, "undo-bar")
            await go(user, tool_file_address("mine.py"), "save-source")
        else:
            write(user, "newer = 2\n")
        assert not marked(user, "undo-bar")
