import pytest

from app.domain.errors import WorkbenchError
from app.domain.workflows.document import BranchCase, BranchNode, Edge, MapNode, NoteNode, ToolNode
from app.export.workflows.mermaid import mermaid
from tests.domain.workflows.worlds import workflow

HOSTILE = '"] --> x; click n_end "javascript:alert(1)" <script>`**&amp;#quot;%%{init: {}}%%\nend'


def test_a_workflow_is_drawn():
    nodes = (
        BranchNode(id="end", title="Long?", cases=(BranchCase(name="yes"),)),
        MapNode(id="each", title="Each"),
        ToolNode(id="get", title="Get", scope="each", on_error="route"),
        ToolNode(id="put", scope="each"),
        NoteNode(id="why", note="Because."),
    )
    wires = ["input > end", "end:yes > each", "end:else > output", "get:error > put", "each > gone"]
    assert mermaid(workflow(*nodes, wires=wires)).splitlines() == [
        "flowchart LR",
        '  n_input(["input"])',
        '  n_end{"Long?"}',
        '  subgraph n_each["Each"]',
        '    n_get[["Get"]]',
        '    n_put[["put"]]',
        "  end",
        '  n_why>"Because."]',
        '  n_output(["output"])',
        "  n_input --> n_end",
        '  n_end -->|"yes"| n_each',
        '  n_end -->|"else"| n_output',
        '  n_get -.->|"error"| n_put',
    ]


def test_titles_stay_words():
    branch = BranchNode(id="b", title=HOSTILE[:120], cases=(BranchCase(name=HOSTILE[:100]),))
    edge = Edge(source="b", port=HOSTILE[:100], target="output")
    document = workflow(NoteNode(id="a", note=HOSTILE), branch).model_copy(update={"edges": (edge,)})
    lines = mermaid(document).splitlines()
    assert len(lines) == 6
    for line in (lines[2], lines[3], lines[5]):
        _, words, _ = line.split('"')
        assert not set(words) & set("<>`*&%{}[]()|"), words


def test_boxes_that_stand_in_each_other_are_not_drawn():
    with pytest.raises(WorkbenchError, match=r"cannot be drawn.*stands in itself"):
        mermaid(workflow(MapNode(id="a", scope="b"), MapNode(id="b", scope="a")))
