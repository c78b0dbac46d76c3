"""Dialogs in which something was typed: neither Escape nor a click beside them takes it away."""

from collections.abc import Callable
from pathlib import Path

import pytest
from nicegui import background_tasks, ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.evals.gates import GateLine, GateOutcome
from app.ui.conversation.save_case import SaveCase
from app.ui.elements.gate_dialog import ask_about
from app.ui.run.fork_dialog import open_fork
from app.workbench import Workbench
from tests.seeds import seed_trace
from tests.traces import the_sum
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until

AGENT = new_agent("Talker", PromptBehaviour(), taken_slugs=())


def fork(_: User, workbench: Workbench) -> None:
    open_fork(workbench, "r1", the_sum(), 1)


def save_case(_: User, workbench: Workbench) -> None:
    SaveCase(workbench, "r1")


def gate(user: User, workbench: Workbench) -> None:
    line = GateLine(rule="fresh", state="red", words="It was not tried yet.")
    asking = ask_about(workbench, AGENT.id, GateOutcome(variant=1, against=1, lines=(line,)))
    background_tasks.create(asking, name="ask about a gate", context=user.current_layout)


def criteria(user: User, _: Workbench) -> None:
    UserInteraction(user, {the(user, "review-criteria")}, None).click()


async def typed_into(
    user: User, workbench: Workbench, opened: Callable[[User, Workbench], None], box: str
) -> ui.dialog:
    """The dialog that comes, once something was typed into its box."""
    await workbench.agents.create(AGENT)
    await user.open("/review")
    await until(lambda: marked(user, "review-criteria"))
    with user.current_layout:
        opened(user, workbench)
    await until(lambda: marked(user, box))
    around = list(the(user, box).ancestors())
    (dialog,) = (one for one in around if isinstance(one, ui.dialog))
    assert not dialog.props.get("persistent")
    UserInteraction(user, {around[around.index(dialog) - 1]}, None).trigger("input.once")
    return dialog


@pytest.mark.parametrize(
    ("opened", "box"),
    [(fork, "fork-edit"), (save_case, "case-note"), (gate, "gate-reason"), (criteria, "criteria-input")],
)
async def test_a_dialog_is_closed_by_its_buttons_alone_once_something_was_typed(
    tmp_path: Path, opened: Callable[[User, Workbench], None], box: str
) -> None:
    await seed_trace(tmp_path, the_sum())
    async with visitor(tmp_path) as (user, workbench):
        dialog = await typed_into(user, workbench, opened, box)
        assert dialog.props.get("persistent")


async def test_escape_closes_it_again_once_what_was_typed_is_stored(tmp_path: Path) -> None:
    await seed_trace(tmp_path, the_sum())
    async with visitor(tmp_path) as (user, workbench):
        dialog = await typed_into(user, workbench, save_case, "case-note")
        UserInteraction(user, {the(user, "case-save")}, None).click()
        await until(lambda: marked(user, "case-saved"))
        assert not dialog.props.get("persistent")
