"""Values pinned in place of what nodes give, on the page of a workflow."""

from pathlib import Path

from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction
from pydantic import JsonValue

from app.domain.agents import WorkflowBehaviour, WorkingCopy, new_agent
from app.domain.values import now
from app.domain.workflows.document import TransformNode
from app.ui.graph.canvas import Canvas
from tests.domain.workflows.worlds import chain
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until

STEPS = chain(TransformNode(id="a", code="input.text"), TransformNode(id="b", code="a"), answer="{{b}}")


def gesture(user: User, name: str, node: str) -> None:
    [canvas] = [one for one in user.current_layout.descendants() if isinstance(one, Canvas)]
    UserInteraction(user, {canvas}, None).trigger("act", [name, [node]])


async def press(user: User, testid: str) -> None:
    await until(lambda: marked(user, testid))
    UserInteraction(user, {the(user, testid)}, None).click()


async def pin(user: User, node: str, value: str) -> None:
    gesture(user, "pin", node)
    await until(lambda: marked(user, "pin-value"))
    box = the(user, "pin-value")
    assert isinstance(box, ui.textarea)
    box.value = value
    await press(user, "pin-done")


async def test_a_pin_comes_back_with_undo_and_leaves_those_that_were_made_since(tmp_path: Path):
    agent = new_agent("Steps", WorkflowBehaviour(workflow=STEPS), taken_slugs=())
    pinned = WorkingCopy(
        agent_id=agent.id, origin=1, behaviour=agent.active_variant.behaviour, pins={"a": "one"}, updated_at=now()
    )
    async with visitor(tmp_path) as (user, workbench):

        def pins() -> dict[str, JsonValue]:
            kept = workbench.working_copies.get(agent.id)
            return kept.pins if kept else {}

        await workbench.agents.create(agent)
        await workbench.working_copies.save(pinned)
        await user.open("/build/steps")
        await until(lambda: marked(user, "workflow-run-button"))
        gesture(user, "choose", "a")
        await until(lambda: marked(user, "node-ways") and marked(user, "node-pinned"))
        await press(user, "node-unpin")
        await until(lambda: pins() == {})
        await pin(user, "b", "two")
        await until(lambda: pins() == {"b": "two"})
        user.find("Undo").click()
        await until(lambda: "a" in pins())
        assert pins() == {"a": "one", "b": "two"}
