"""What the canvas tells becomes one operation, and hostile words become none."""

import pytest

from app.domain.errors import WorkbenchError
from app.domain.workflows.document import AgentNode, Edge, InputNode, MapNode, OutputNode, Template, Workflow
from app.ui.build.gestures import done, edited

FLOW = Workflow(
    nodes=(
        InputNode(id="input", title="Input"),
        AgentNode(id="draft", title="Draft", x=280),
        MapNode(id="each", title="Each", y=200),
        OutputNode(id="output", title="Output", x=560),
    ),
    edges=(Edge(source="input", target="draft"), Edge(source="draft", target="output")),
)


def test_nodes_that_are_moved_together_are_one_step() -> None:
    change = done(FLOW, "move", [[["draft", 300, 10, ""], ["output", 600, 20, ""]]])
    places = {node.id: (node.x, node.y) for node in change.workflow.nodes}
    assert places["draft"] == (300, 10)
    assert places["output"] == (600, 20)
    assert change.said == "Moved 2 nodes."


def test_a_node_that_is_dropped_on_a_box_stands_in_it_where_it_was_dropped() -> None:
    change = done(FLOW, "move", [[["draft", 30, 60, "each"]]])
    node = change.workflow.by_id()["draft"]
    assert (node.scope, node.x, node.y) == ("each", 30, 60)
    assert change.said.startswith("Put Draft into Each.")
    assert change.workflow.edges == ()


def test_nodes_and_edges_that_are_chosen_go_together() -> None:
    change = done(FLOW, "remove", ["input|next|draft", "output"])
    assert [node.id for node in change.workflow.nodes] == ["input", "draft", "each"]
    assert change.workflow.edges == ()
    assert done(FLOW, "remove", ["input|next|draft"]).workflow.edges == FLOW.edges[1:]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("move", [[["draft", "left", None, ""]]]),
        ("move", [[["draft", float("nan"), 0, ""]]]),
        ("move", [[["draft", 1e300, 0, ""]]]),
        ("connect", ["output", "next", "input"]),
        ("connect", ["draft", "next", "input"]),
        ("connect", ["draft", "next"]),
        ("remove", ["nobody"]),
        ("scope", ["draft", "output"]),
        ("paste", ["<script>", 0, 0]),
        ("explode", []),
    ],
)
def test_what_cannot_be_is_refused_in_words(name: str, told: list[object]) -> None:
    with pytest.raises(WorkbenchError):
        done(FLOW, name, told)


def test_a_title_changes_and_the_id_stays() -> None:
    change = edited(FLOW, FLOW.nodes[1].model_copy(update={"title": "Write"}), "title")
    assert change.workflow.by_id()["draft"].title == "Write"
    node = AgentNode(id="draft", title="Draft", x=280, message=Template(text="{{input.text}}"))
    assert edited(FLOW, node, "message").workflow.by_id()["draft"] == node
