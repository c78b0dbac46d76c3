"""One workflow in two tabs: each keeps what it did, and says what the other did."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from nicegui.testing import User

from app.domain.agents import WorkflowBehaviour, new_agent
from app.ui.build.workflow_editor import WorkflowEditor
from app.workbench import Workbench
from tests.ui.build.test_pins import STEPS, gesture, press
from tests.ui.runs.test_runs_pages import marked, visitor
from tests.waiting import until


@asynccontextmanager
async def two_tabs(folder: Path) -> AsyncIterator[tuple[User, User, Workbench]]:
    async with visitor(folder) as (first, workbench):
        await workbench.agents.create(new_agent("Steps", WorkflowBehaviour(workflow=STEPS), taken_slugs=()))
        second = User(first.http_client)
        for tab in (first, second):
            await opened(tab)
        yield first, second, workbench


async def opened(tab: User) -> None:
    await tab.open("/build/steps")
    await until(lambda: marked(tab, "workflow-run-button"))


def ids(tab: User) -> list[str]:
    """The nodes in its editor."""
    [editor] = [one for one in tab.current_layout.descendants() if isinstance(one, WorkflowEditor)]
    return [node.id for node in editor.workflow.nodes]


async def removed(tab: User, node: str) -> None:
    gesture(tab, "remove", node)
    await until(lambda: node not in ids(tab))


async def test_undo_takes_back_what_was_done_in_this_tab(tmp_path: Path):
    async with two_tabs(tmp_path) as (first, second, _):
        whole = ids(first)
        for node in ("a", "b"):
            await removed(first, node)
        await removed(second, "output")
        await press(first, "undo-button")
        await until(lambda: ids(first) == [id_ for id_ in whole if id_ != "a"])
        await press(second, "undo-button")
        await until(lambda: ids(second) == whole)


async def test_a_page_that_is_opened_again_takes_back_what_was_done_last(tmp_path: Path):
    async with two_tabs(tmp_path) as (first, _, _):
        whole = ids(first)
        await removed(first, "a")
        await opened(first)
        await press(first, "undo-button")
        await until(lambda: ids(first) == whole)
