from app.domain.workflows.differences import FieldChange, graph_differences
from app.domain.workflows.document import AgentNode, Calculated, FixedValue, NoteNode, Template, ToolNode
from app.domain.workflows.operations import added, changed, moved, removed, renamed
from tests.domain.workflows.worlds import chain

DRAFT = AgentNode(id="draft", title="Draft", agent="writer", message=Template(text="Hi"))
GET = ToolNode(id="get", tool="fetch", arguments={"url": Template(text="{{draft}}"), "tries": FixedValue(value=1)})
BEFORE = chain(DRAFT, GET)


def fields(after, id_):
    [node] = graph_differences(BEFORE, after).changed
    assert node.id == id_
    return list(node.fields)


def test_nothing_changed_between_equal_workflows():
    told = graph_differences(BEFORE, BEFORE)
    assert told.none and not told.moved


def test_changed_fields_are_told_in_words_each_argument_by_itself():
    after = changed(BEFORE, "draft", {"message": {"kind": "path", "path": "input.text"}, "variant": 2}).workflow
    assert fields(after, "draft") == [
        FieldChange(name="variant", before="", after="2"),
        FieldChange(name="message", before="Hi", after="input.text"),
    ]
    arguments = {
        "url": GET.arguments["url"].model_dump(),
        "tries": Calculated(formula="1 + 1").model_dump(),
        "to": {"kind": "value", "value": [True]},
    }
    assert fields(changed(BEFORE, "get", {"arguments": arguments}).workflow, "get") == [
        FieldChange(name="arguments.tries", before="1", after="= 1 + 1"),
        FieldChange(name="arguments.to", before="", after="[true]"),
    ]


def test_a_node_is_the_same_under_another_title():
    assert fields(renamed(BEFORE, "draft", "First").workflow, "draft") == [
        FieldChange(name="title", before="Draft", after="First")
    ]


def test_another_place_is_no_change():
    told = graph_differences(BEFORE, moved(BEFORE, {"get": (9, 9)}).workflow)
    assert told.none and told.moved == ("get",) and not told.changed


def test_nodes_and_edges_come_and_go():
    after = added(removed(BEFORE, ["get"]).workflow, "note", "Why").workflow
    told = graph_differences(BEFORE, after)
    assert [node.id for node in told.added] == ["why"] and [node.id for node in told.removed] == ["get"]
    assert [(edge.source, edge.target) for edge in told.edges_removed] == [("draft", "get"), ("get", "output")]
    assert not told.edges_added and not told.none


def test_another_kind_under_an_id_is_told_as_one_change():
    after = BEFORE.model_copy(update={"nodes": (*BEFORE.nodes[:2], NoteNode(id="get"), BEFORE.nodes[3])})
    assert FieldChange(name="kind", before="tool", after="note") in fields(after, "get")
