import pytest
from pydantic import ValidationError

from app.domain.workflows.document import (
    AgentNode,
    ApprovalNode,
    BranchCase,
    BranchNode,
    Carried,
    Edge,
    FixedValue,
    FoundValue,
    InputNode,
    JoinNode,
    LoopNode,
    MapNode,
    NoteNode,
    OutputNode,
    Template,
    ToolNode,
    TransformNode,
    Workflow,
    ports,
    titled,
)

ALL_KINDS = Workflow(
    nodes=(
        InputNode(id="input", title="Request"),
        AgentNode(id="draft", agent="writer", message=Template(text="{{input.text}}")),
        ToolNode(id="look_up", tool="http_get", arguments={"url": FixedValue(value="https://example.org")}),
        TransformNode(id="names", code="draft.names"),
        BranchNode(id="sort", cases=(BranchCase(name="urgent", formula="[draft.urgent]"),)),
        MapNode(id="each", items=FoundValue(path="names"), gives=FoundValue(path="item")),
        LoopNode(id="polish", carry={"text": Carried()}, until="round >= 2", most=3),
        ApprovalNode(id="ask", question="Send it?"),
        JoinNode(id="both", values={"a": FoundValue(path="draft")}, need=2),
        NoteNode(id="why", note="Because."),
        OutputNode(id="answer"),
    ),
    edges=(Edge(source="input", target="draft"), Edge(source="sort", port="urgent", target="answer")),
)


def test_a_document_of_every_kind_reads_back_as_it_was():
    assert Workflow.model_validate_json(ALL_KINDS.model_dump_json()) == ALL_KINDS


def test_kinds_are_told_apart_in_json():
    [node] = Workflow.model_validate({"nodes": [{"kind": "tool", "id": "a", "tool": "now"}]}).nodes
    assert node == ToolNode(id="a", tool="now")


@pytest.mark.parametrize(
    "node",
    [
        {"kind": "wish", "id": "a"},
        {"kind": "note", "id": "a", "colour": "red"},
        {"kind": "note", "id": "a-b"},
        {"kind": "note", "id": "A"},
        {"kind": "note", "id": "a\n"},
        {"kind": "note", "id": ""},
        {"kind": "note", "id": "a", "title": "t" * 121},
        {"kind": "note", "id": "a", "x": float("nan")},
        {"kind": "map", "id": "a", "at_once": 17},
        {"kind": "map", "id": "a", "most": 1001},
        {"kind": "loop", "id": "a", "most": 101},
        {"kind": "tool", "id": "a", "retries": 6},
        {"kind": "input", "id": "a", "retries": 1},
        {"kind": "join", "id": "a", "need": 0},
        {"kind": "tool", "id": "a", "arguments": {"x": "no binding"}},
    ],
)
def test_what_no_node_can_be_is_refused(node):
    with pytest.raises(ValidationError):
        Workflow.model_validate({"nodes": [node]})


def test_a_newer_format_is_refused():
    with pytest.raises(ValidationError):
        Workflow.model_validate({"format": 2})


def test_a_branch_has_its_cases_and_else_as_ports():
    cases = (BranchCase(name="yes", formula="1"), BranchCase(name="no", formula="0"))
    assert ports(BranchNode(id="a", cases=cases)) == ("yes", "no", "else")
    assert ports(BranchNode(id="a", cases=cases, on_error="route")) == ("yes", "no", "else", "error")


def test_ports_of_the_other_kinds():
    assert ports(ToolNode(id="a")) == ("next",)
    assert ports(ToolNode(id="a", on_error="route")) == ("next", "error")
    assert ports(ApprovalNode(id="a")) == ("approved", "denied")
    assert ports(OutputNode(id="a")) == ports(NoteNode(id="a")) == ()


def test_of_nodes_with_one_id_the_first_is_found():
    assert Workflow(nodes=(NoteNode(id="a", note="1"), NoteNode(id="a", note="2"))).by_id()["a"].note == "1"


def test_a_node_is_named_by_title_and_id():
    assert titled(NoteNode(id="a", title="Why")) == "“Why” (a)"
    assert titled(NoteNode(id="a")) == "a"
