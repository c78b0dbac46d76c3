"""What runs from a node of a workflow, what cannot, and values that stand for what nodes give."""

from app.domain.workflows.document import MapNode, NoteNode, TransformNode
from app.ui.build.node_runs import misfit
from app.ui.graph.node_plans import pins_in, plan_of, why_not
from tests.domain.workflows.worlds import workflow

FLOW = workflow(
    MapNode(id="each", title="Each one"),
    TransformNode(id="inside", scope="each"),
    TransformNode(id="after"),
    NoteNode(id="words"),
    wires=["input > each", "each > after", "after > output"],
)


def why(way, node, *, run_id="r", going_on=False, pinned=False):
    return why_not(way, FLOW.by_id()[node], FLOW, run_id=run_id, going_on=going_on, pinned=pinned)


def test_what_cannot_be_run_says_the_way_out():
    assert why("run-to", "after") == ""
    assert why("run-to", "after", run_id="").startswith("Run the workflow once first")
    assert why("run-from", "after", going_on=True).startswith("A run goes on")
    assert why("pin", "inside") == "It runs in each round of “Each one”. Choose that one."
    assert "Take the pin off" in why("run-only", "after", pinned=True)
    assert why("run-from", "after", pinned=True) == why("pin", "after", run_id="", going_on=True) == ""


def test_a_node_alone_is_a_run_to_it_that_begins_with_it():
    plan = plan_of("run-only", "after", {"each": [1]})
    assert (plan.again, plan.to, plan.pins) == (("after",), "after", {"each": [1]})
    assert (plan_of("run-to", "after", {}).again, plan_of("run-from", "after", {}).to) == ((), None)


def test_only_pins_of_nodes_that_run_by_themselves_are_used():
    assert pins_in(FLOW, {"each": 1, "inside": 2, "gone": 3, "words": 4}) == {"each": 1}


def test_a_pin_has_to_fit_what_the_node_gives():
    schema = {"type": "object", "properties": {"score": {"type": "number"}}}
    assert misfit(schema, {"score": 1}) == misfit({}, 3) == ""
    assert "score" in misfit(schema, {"score": "high"})
    assert misfit({"$ref": "#/nowhere"}, 1) == ""
