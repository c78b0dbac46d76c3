"""The list, the code and what bindings are offered, as functions of the document."""

import pytest

from app.domain.workflows.document import AgentNode, Edge, InputNode, LoopNode, MapNode, OutputNode, Workflow
from app.domain.workflows.world import World
from app.tools.expressions import JsonExpressions
from app.ui.build.code_view import read_workflow, workflow_text
from app.ui.build.node_list import in_order
from app.ui.build.offers import offered
from app.ui.schema_form.json import BrokenJson

FLOW = Workflow(
    nodes=(
        OutputNode(id="output"),
        AgentNode(id="write", scope="each"),
        MapNode(id="each"),
        AgentNode(id="check", scope="each"),
        InputNode(id="start", history=True),
    ),
    edges=(
        Edge(source="start", target="each"),
        Edge(source="each", target="output"),
        Edge(source="write", target="check"),
    ),
)


def test_the_list_follows_the_edges_and_shows_bodies_below_their_box() -> None:
    assert [(node.id, depth) for node, depth in in_order(FLOW)] == [
        ("start", 0), ("each", 0), ("write", 1), ("check", 1), ("output", 0),
    ]  # fmt: skip


def test_nodes_in_a_circle_or_in_no_box_are_listed_too() -> None:
    circle = (Edge(source="a", target="b"), Edge(source="b", target="a"))
    nodes = (AgentNode(id="a"), AgentNode(id="b"), AgentNode(id="lost", scope="gone"), LoopNode(id="l", scope="l"))
    assert {node.id for node, _ in in_order(Workflow(nodes=nodes, edges=circle))} == {"a", "b", "lost", "l"}


def test_a_binding_is_offered_what_comes_before_it_here_and_around() -> None:
    names = offered(FLOW, World(JsonExpressions()), FLOW.nodes[3])
    assert names == [
        "write",
        "start",
        "start.text",
        "start.history",
        "input",
        "input.text",
        "input.history",
        "item",
        "index",
    ]
    assert "write" not in offered(FLOW, World(JsonExpressions()), FLOW.nodes[0])


def test_code_that_is_written_out_is_read_back() -> None:
    assert read_workflow(workflow_text(FLOW)) == FLOW


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Line 1"),
        ("[]", "The document"),
        ('{"nodes": [\n{"kind": "agent",\n "id": "a", "colour": 1}]}', "Line 3: nodes.0.colour"),
        ('{"nodes": [{"kind": "rocket", "id": "a"}]}', "nodes.0"),
        ('{"nodes": [{"id": {}}]}', "nodes.0"),
        ('{"nodes": 3}', "nodes"),
    ],
)
def test_code_that_is_no_workflow_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(BrokenJson, match=words):
        read_workflow(text)
