"""One workflow in two tabs: each keeps what it did, and says what the other did."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from nicegui.testing import User

from app.domain.agents import WorkflowBehaviour, new_agent
from app.ui.build.workflow_editor import WorkflowEditor
from app.workbench import Workbench
from tests.ui.build.test_pins import STEPS, gesture, pin, press
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


def editor(tab: User) -> WorkflowEditor:
    [found] = [one for one in tab.current_layout.descendants() if isinstance(one, WorkflowEditor)]
    return found


def ids(tab: User) -> list[str]:
    return [node.id for node in editor(tab).workflow.nodes]


def pinned(tab: User) -> set[str]:
    """The nodes that are marked as pinned."""
    return set(editor(tab)._pinned)


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


async def test_a_pin_of_one_tab_is_one_of_the_other_until_it_is_taken_off(tmp_path: Path):
    async with two_tabs(tmp_path) as (first, second, workbench):
        agent = workbench.agents.by_slug("steps")
        await pin(first, "a", "one")
        await until(lambda: pinned(second) == {"a"})
        gesture(first, "choose", "a")
        await until(lambda: marked(first, "node-ways") and marked(first, "node-pinned"))
        await press(first, "node-unpin")
        await until(lambda: workbench.working_copies.get(agent.id) is None)
        await until(lambda: not pinned(second))


async def test_a_node_is_marked_as_pinned_only_where_it_is_so_in_what_the_other_tab_has(tmp_path: Path):
    async with two_tabs(tmp_path) as (first, second, _):
        await removed(first, "output")
        await pin(first, "a", "one")
        await until(lambda: pinned(first) == {"a"})
        await removed(second, "b")
        await until(lambda: marked(first, "changed-elsewhere"))
        first.find("Show the other tab's changes").click()
        await until(lambda: "output" in ids(first))
        assert not pinned(first)
