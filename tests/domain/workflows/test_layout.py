from random import Random

from app.domain.workflows.document import JoinNode, LoopNode, MapNode, NoteNode, ToolNode, Workflow
from app.domain.workflows.layout import HEAD, HEIGHT, WIDTH, Size, sizes, tidied
from tests.domain.workflows.random_workflows import random_workflow
from tests.domain.workflows.worlds import chain, edge, workflow


def tool(id_, **more):
    return ToolNode(id=id_, tool="now", **more)


def places(document):
    return {node.id: (node.x, node.y) for node in document.nodes}


def test_a_chain_stands_in_a_row():
    at = places(tidied(chain(tool("a"), tool("b"))))
    assert [at[id_][0] for id_ in ("input", "a", "b", "output")] == [0, 280, 560, 840]
    assert {y for _, y in at.values()} == {0}


def test_a_node_stands_behind_the_longest_way_to_it():
    at = places(tidied(workflow(tool("a"), tool("b"), wires=["input > a", "a > b", "input > output", "b > output"])))
    assert at["output"][0] > at["b"][0] > at["a"][0]


def test_edges_that_need_not_cross_do_not():
    document = workflow(*map(tool, "abcd"), wires=["input > a", "input > b", "a > d", "b > c", "b > d"])
    at = places(tidied(document))
    assert (at["a"][1] < at["b"][1]) == (at["d"][1] < at["c"][1])


def test_a_body_stands_inside_its_box_and_widens_it():
    nodes = [
        MapNode(id="m"),
        tool("a", scope="m"),
        tool("b", scope="m"),
        LoopNode(id="l", scope="m", most=1),
        tool("c"),
    ]
    document = tidied(workflow(*nodes, wires=["input > m", "m > c", "a > b", "b > l"]))
    at, boxes = places(document), sizes(document)
    assert at["a"][1] >= HEAD
    assert boxes["m"].width > at["l"][0] + boxes["l"].width and boxes["m"].height > at["l"][1] + boxes["l"].height
    assert at["c"][0] >= at["m"][0] + boxes["m"].width


def test_an_empty_box_has_room():
    assert sizes(Workflow(nodes=(MapNode(id="m"),)))["m"] >= Size(WIDTH, HEIGHT)


def test_what_is_tidied_twice_stays_and_nothing_but_places_changes():
    for number in range(200):
        document = random_workflow(Random(number), most=14)
        once = tidied(document)
        assert tidied(once) == once
        blank = [node.model_copy(update={"x": 0.0, "y": 0.0}) for node in once.nodes]
        assert blank == list(document.nodes) and once.edges == document.edges


def test_no_two_nodes_stand_on_each_other():
    for number in range(200):
        document = tidied(random_workflow(Random(number), most=14))
        boxes = sizes(document)
        for scope in {node.scope for node in document.nodes}:
            beside = [(node.x, node.y, boxes.get(node.id, Size(WIDTH, HEIGHT))) for node in document.body(scope)]
            for place, (x, y, size) in enumerate(beside):
                for other_x, other_y, other in beside[place + 1 :]:
                    apart = x >= other_x + other.width or other_x >= x + size.width
                    assert apart or y >= other_y + other.height or other_y >= y + size.height


def test_what_leads_in_a_circle_is_laid_out_too():
    nodes = (tool("a"), tool("b"), JoinNode(id="c"), NoteNode(id="n"))
    document = tidied(Workflow(nodes=nodes, edges=(edge("a > b"), edge("b > a"), edge("b > c"))))
    assert len(set(places(document).values())) == 4
    loops = (MapNode(id="a", scope="b"), MapNode(id="b", scope="a"))
    assert len(tidied(Workflow(nodes=loops)).nodes) == 2
