import json

import pytest

from app.domain.errors import NotFound, TooLarge, WorkbenchError
from app.domain.workflows.checking import faults
from app.domain.workflows.document import (
    AgentNode,
    BranchCase,
    BranchNode,
    Carried,
    FixedValue,
    FoundValue,
    LoopNode,
    MapNode,
    NoteNode,
    Template,
    ToolNode,
    TransformNode,
    Workflow,
)
from app.domain.workflows.layout import HEAD
from app.domain.workflows.operations import (
    added,
    changed,
    connected,
    disconnected,
    found,
    inserted,
    moved,
    put_in,
    removed,
    renamed,
)
from app.domain.workflows.pasting import copied, duplicated, pasted
from tests.domain.workflows.worlds import chain, edge, workflow, world

DRAFT = AgentNode(id="draft", title="Draft", agent="writer", message=Template(text="{{input.text}}"))
REVIEW = AgentNode(id="review", title="Review", agent="critic", message=Template(text="{{draft}}"))
SORT = BranchNode(id="sort", title="Sort", cases=(BranchCase(name="yes", formula="draft"), BranchCase(name="no")))
EACH = MapNode(id="each", title="Each", x=300, y=100)
INNER = ToolNode(id="inner", title="Inner", tool="now", scope="each", x=30, y=60)


def ids(document):
    return [node.id for node in document.nodes]


def wires(document):
    return [f"{one.source}:{one.port} > {one.target}" for one in document.edges]


def test_a_document_is_built_from_nothing():
    document = added(Workflow(), "input", "Request").workflow
    done = added(document, "agent", "Write it down", after="request")
    assert done.said == "Added Write it down after Request." and done.ids == ("write_it_down",)
    done = added(done.workflow, "output", after="write_it_down")
    assert wires(done.workflow) == ["request:next > write_it_down", "write_it_down:next > output"]
    assert [node.x for node in done.workflow.nodes] == [0, 280, 560]


def test_a_new_node_takes_the_first_free_port_and_an_id_of_its_own():
    document = workflow(SORT, wires=["input > sort", "sort:yes > output"])
    done = added(document, "tool", "Sort", after="sort")
    assert done.ids == ("sort_2",) and wires(done.workflow)[-1] == "sort:no > sort_2"
    assert added(document, "note", "Item").ids == ("item_2",)
    assert added(document, "note", "Überschrift!").ids == ("uberschrift",)
    assert added(document, "note", "42").ids == ("n_42",)
    assert added(Workflow(), "input").ids == ("input",)


def test_a_new_node_stands_where_nothing_does():
    document = chain(DRAFT.model_copy(update={"x": 280.0}))
    grown = added(document, "tool", "Beside", after="input").workflow
    places = [(node.x, node.y) for node in grown.nodes if node.id in ("draft", "beside")]
    assert len(set(places)) == 2 and places[0][0] == places[1][0]


def test_a_node_is_added_in_the_scope_of_what_it_comes_after():
    done = added(workflow(EACH, INNER), "tool", "Then", after="inner")
    assert found(done.workflow, "then").scope == "each"


def test_nothing_comes_after_an_output():
    with pytest.raises(WorkbenchError, match="ports are: none"):
        added(workflow(), "tool", "Late", after="output")


def test_a_node_is_put_into_an_edge():
    done = inserted(chain(DRAFT), edge("input > draft"), "tool", "Look")
    assert sorted(wires(done.workflow)) == ["draft:next > output", "input:next > look", "look:next > draft"]
    assert done.said == "Added Look after input and before Draft."


def test_connecting_says_what_it_did():
    document = workflow(DRAFT, REVIEW, SORT)
    assert connected(document, "draft", "next", "review").said == "Connected Draft to Review."
    assert connected(document, "sort", "no", "review").said == "Connected Sort at “no” to Review."


@pytest.mark.parametrize(
    ("source", "port", "target", "words"),
    [
        ("review", "next", "draft", "Cannot connect: Draft comes before Review. What repeats goes into a loop."),
        ("draft", "next", "draft", "It cannot come before itself"),
        ("draft", "next", "review", "connected to Review already"),
        ("draft", "yes", "output", "its ports are: “next”"),
        ("draft", "next", "input", "no edge can lead"),
        ("draft", "next", "inner", "across the border"),
        ("draft", "next", "gone", "no node 'gone'"),
    ],
)
def test_what_cannot_be_connected_is_said(source, port, target, words):
    document = workflow(DRAFT, REVIEW, EACH, INNER, wires=["input > draft", "draft > review"])
    with pytest.raises(WorkbenchError) as refused:
        connected(document, source, port, target)
    assert words in str(refused.value)


def test_an_edge_is_taken_away():
    done = disconnected(chain(DRAFT), [edge("input > draft")])
    assert wires(done.workflow) == ["draft:next > output"] and done.said == "Disconnected input from Draft."
    with pytest.raises(NotFound):
        disconnected(done.workflow, [edge("input > draft")])


def test_a_node_goes_with_its_edges_and_its_body():
    document = workflow(DRAFT, EACH, INNER, wires=["input > draft", "draft > each", "each > output"])
    done = removed(document, ["each"])
    assert ids(done.workflow) == ["input", "draft", "output"] and wires(done.workflow) == ["input:next > draft"]
    assert done.said == "Removed Each, with 1 inside, and 2 edges."
    assert removed(document, ["draft", "each"]).said == "Removed 2 nodes, with 1 inside, and 3 edges."


def test_nodes_are_moved_and_renamed_and_keep_their_ids():
    document = chain(DRAFT)
    assert (found(moved(document, {"draft": (5, 6)}).workflow, "draft").y) == 6
    done = renamed(document, "draft", " First draft ")
    assert done.said == "Renamed Draft to First draft." and found(done.workflow, "draft").title == "First draft"
    with pytest.raises(WorkbenchError, match="Draft cannot take that: title"):
        renamed(document, "draft", "x" * 200)
    with pytest.raises(WorkbenchError, match="Draft cannot take that: x"):
        moved(document, {"draft": (float("nan"), 0)})


def test_fields_are_changed_and_checked():
    document = chain(DRAFT)
    done = changed(document, "draft", {"message": {"kind": "text", "text": "Hi"}, "retries": 2})
    assert (
        found(done.workflow, "draft").message == Template(text="Hi")
        and done.said == "Changed message, retries of Draft."
    )
    with pytest.raises(WorkbenchError, match="Draft cannot take that: retries: "):
        changed(document, "draft", {"retries": 9})
    with pytest.raises(WorkbenchError, match="is not changed like that"):
        changed(document, "draft", {"id": "other"})
    with pytest.raises(WorkbenchError, match="Extra inputs"):
        changed(document, "draft", {"mood": 1})


def test_edges_follow_a_case_that_is_renamed_and_go_with_one_that_goes():
    document = workflow(DRAFT, SORT, wires=["sort:yes > output", "sort:no > draft"])
    cases = [{"name": "maybe", "formula": "draft"}, {"name": "no"}]
    assert wires(changed(document, "sort", {"cases": cases}).workflow) == ["sort:maybe > output", "sort:no > draft"]
    done = changed(document, "sort", {"cases": [{"name": "no"}]})
    assert wires(done.workflow) == ["sort:no > draft"] and "1 edge of a port that is gone went too." in done.said


def test_nodes_go_into_a_map_where_they_stand_and_out_again():
    draft = DRAFT.model_copy(update={"x": 340.0, "y": 200.0})
    document = workflow(draft, EACH, INNER, wires=["input > draft", "draft > output", "draft > each"])
    done = put_in(document, ["draft"], "each")
    node = found(done.workflow, "draft")
    assert (node.scope, node.x, node.y) == ("each", 40, 100)
    assert done.workflow.edges == () and done.said == "Put Draft into Each. 3 edges across its border went."
    back = put_in(done.workflow, ["draft"], "")
    assert (found(back.workflow, "draft").x, found(back.workflow, "draft").scope) == (340, "")
    assert found(put_in(workflow(DRAFT, EACH), ["draft"], "each").workflow, "draft").y == HEAD


def test_a_map_does_not_go_into_itself_nor_a_node_into_one_without_a_body():
    document = workflow(DRAFT, EACH, LoopNode(id="loop", scope="each", most=1))
    for ids_, scope in ((["each"], "loop"), (["each"], "each"), (["draft"], "input")):
        with pytest.raises(WorkbenchError, match=r"itself|no body"):
            put_in(document, ids_, scope)


def test_a_copy_reads_its_own_and_not_the_original():
    loop = LoopNode(
        id="loop",
        most=2,
        until="[judge.ok]",
        carry={"t": Carried(first=FoundValue(path="draft"), next=FoundValue(path="judge.t"))},
    )
    judge = TransformNode(id="judge", scope="loop", code="{ok: carry.t, t: draft}")
    document = workflow(
        DRAFT, loop, judge, SORT, wires=["input > draft", "draft > loop", "loop > sort", "sort:else > output"]
    )
    done = pasted(document, copied(document, ["draft", "loop", "sort"]))
    assert ids(done.workflow)[-4:] == ["draft_2", "loop_2", "judge_2", "sort_2"] and done.ids == (
        "draft_2",
        "loop_2",
        "sort_2",
    )
    copy = found(done.workflow, "loop_2")
    assert (
        copy.until == "[judge_2.ok]"
        and copy.carry["t"].first.path == "draft_2"
        and copy.carry["t"].next.path == "judge_2.t"
    )
    assert found(done.workflow, "judge_2").code == "{ok: carry.t, t: draft_2}"
    assert found(done.workflow, "judge_2").scope == "loop_2"
    assert found(done.workflow, "sort_2").cases[0].formula == "draft_2"
    assert wires(done.workflow)[-2:] == ["draft_2:next > loop_2", "loop_2:next > sort_2"]
    assert done.said == "Pasted 4 nodes." and found(done.workflow, "draft_2").x == 40
    again = duplicated(done.workflow, ["draft_2"])
    assert again.ids == ("draft_3",) and again.said == "Duplicated Draft."


def test_what_a_pasted_node_reads_of_others_becomes_a_fault():
    done = pasted(chain(), copied(chain(DRAFT, REVIEW), ["review"]))
    assert "reads “draft”, and there is no node with that id" in " ".join(
        one.text for one in faults(done.workflow, world())
    )


def test_a_second_input_is_left_out():
    document = chain(DRAFT)
    done = pasted(document, copied(document, ["input", "draft"]))
    assert ids(done.workflow)[-1] == "draft_2" and found(done.workflow, "draft_2").message.text == "{{input.text}}"
    with pytest.raises(WorkbenchError, match="one input"):
        duplicated(document, ["input"])


def test_nodes_are_pasted_into_a_scope_at_a_place():
    done = pasted(workflow(EACH), copied(chain(DRAFT), ["draft"]), scope="each", at=(7, 8))
    node = found(done.workflow, "draft")
    assert (node.scope, node.x, node.y) == ("each", 7, 8)


SURROGATE = '{"nodes": [{"kind": "note", "id": "a", "title": "\\ud800"}]}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello",
        "[" * 100_000,
        '{"nodes": []}',
        '{"nodes": [{"kind": "wish", "id": "a"}]}',
        "[]",
        "1e999",
        '{"nodes": [{"kind": "note", "id": "a", "title": "\\ud800"}]}',
    ],
)
def test_foreign_text_is_no_part_of_a_workflow(text):
    with pytest.raises(WorkbenchError, match="no part of a workflow"):
        pasted(Workflow(), text)


def test_too_much_is_not_pasted():
    with pytest.raises(TooLarge):
        pasted(Workflow(), " " * 300_000)
    many = Workflow(nodes=tuple(NoteNode(id=f"n{n}") for n in range(300)))
    with pytest.raises(TooLarge, match="more than 500"):
        pasted(many, copied(many, ids(many)))
    full = Workflow(nodes=tuple(NoteNode(id=f"n{n}") for n in range(500)))
    with pytest.raises(WorkbenchError, match="500 nodes at most"):
        added(full, "note")


def test_a_copied_text_is_json_of_nodes_and_edges():
    part = json.loads(copied(chain(DRAFT, REVIEW), ["draft", "review"]))
    assert [node["id"] for node in part["nodes"]] == ["draft", "review"] and len(part["edges"]) == 1


def test_fixed_values_and_schemas_stay_as_they_are_in_a_copy():
    tool = ToolNode(id="draft", tool="fetch", arguments={"url": FixedValue(value="{{draft}}")})
    done = duplicated(chain(tool), ["draft"])
    assert found(done.workflow, "draft_2").arguments == tool.arguments
