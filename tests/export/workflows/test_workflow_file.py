"""A workflow's file, and files that are none."""

import json
from random import Random

import pytest

from app.domain.caution import asking
from app.domain.errors import TooLarge, WorkbenchError
from app.domain.workflows.document import AgentNode, Template, ToolNode, Workflow
from app.domain.workflows.layout import tidied
from app.domain.workflows.operations import moved
from app.export.workflows.workflow_file import LARGEST, WorkflowFile, read_workflow_file, workflow_file
from tests.domain.workflows.random_workflows import random_workflow
from tests.domain.workflows.worlds import chain

DRAFT = AgentNode(id="draft", title="Draft “ünïcode”", agent="writer", message=Template(text="{{input.text}}"), x=1.5)
FLOW = chain(DRAFT, ToolNode(id="get", tool="fetch", policy="ask"))


def written(workflow=FLOW, name="Flow", description=""):
    return workflow_file(WorkflowFile(name=name, description=description, workflow=workflow))


def with_changes(**changes):
    return json.dumps({**json.loads(written()), **changes}).encode()


def test_a_file_reads_back_as_it_was():
    file = WorkflowFile(name="Flow", description="What it does", workflow=FLOW)
    read = read_workflow_file(workflow_file(file))
    assert read == file
    assert workflow_file(read) == workflow_file(file)


def test_any_workflow_reads_back():
    for number in range(100):
        workflow = tidied(random_workflow(Random(number), most=12))
        read = read_workflow_file(written(workflow)).workflow
        assert read == asking(workflow)


def test_a_workflow_of_very_many_values_reads_back():
    node = ToolNode(id="get", tool="fetch", policy="ask", error_value=[0] * 120_000)
    read = read_workflow_file(written(chain(DRAFT, node)))
    assert read.workflow.by_id()["get"] == node


def test_tools_out_of_a_file_ask():
    read = read_workflow_file(written(chain(ToolNode(id="a", tool="now"))))
    assert read.workflow.by_id()["a"].policy == "ask"


def test_a_move_changes_one_line_and_keys_are_sorted_with_places_last():
    before, after = (
        written().decode().splitlines(),
        written(moved(FLOW, {"get": (40, 2)}).workflow).decode().splitlines(),
    )
    assert [(one, other) for one, other in zip(before, after, strict=True) if one != other] == [
        ('    "get": [0, 0],', '    "get": [40, 2],')
    ]
    keys = list(json.loads(written()))
    assert keys == ["description", "edges", "format", "name", "nodes", "positions", "version"] == sorted(keys)
    assert "retries" not in written().decode()


def test_an_empty_workflow_is_json_too():
    assert read_workflow_file(written(Workflow())).workflow == Workflow()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "does not say"),
        (b"{}", "does not say"),
        (with_changes(format="agent-playground/agent"), "does not say"),
        (with_changes(version=True), "no version number"),
        (with_changes(version=2), "newer Agent Playground (version 2"),
        (with_changes(name=" "), "it has no name"),
        (with_changes(name="a\u202eb"), "cannot be shown"),
        (with_changes(name="a" * 201), "longer than 200"),
        (with_changes(name=7), "name: "),
        (with_changes(description="a" * 2_001), "longer than 2,000"),
        (with_changes(extra=1), "extra: Extra inputs"),
        (with_changes(nodes={}), "workflow.nodes"),
        (with_changes(nodes=[1]), "workflow.nodes"),
        (with_changes(nodes=[{"kind": "note", "id": "../a"}]), "id: "),
        (with_changes(nodes=[{"kind": "note", "id": "a"}], positions={"a": [1e300, 0]}), "x: "),
        (with_changes(nodes=[{"kind": "note", "id": "a"}] * 2), "id of another node"),
        (with_changes(nodes=[{"kind": "map", "id": "a", "scope": "a"}]), "stands in itself"),
        (with_changes(nodes=[{"kind": "note", "id": f"n{n}"} for n in range(501)]), "500 is the most"),
        (with_changes(nodes=[{"kind": "note", "id": "a", "note": "x" * 300_000}]), "256 kB is the most"),
        (with_changes(edges=[{"source": "a"}]), "edges.0.target"),
    ],
)
def test_what_is_no_workflows_file_is_refused_in_words(content, words):
    with pytest.raises(WorkbenchError) as refused:
        read_workflow_file(content)
    assert words in str(refused.value)


def test_too_large_and_too_deep_files_are_refused():
    with pytest.raises(TooLarge):
        read_workflow_file(b" " * (LARGEST + 1))
    with pytest.raises(TooLarge):
        read_workflow_file(b"[" + b"1," * 256_000 + b"1]")
    for depth in (200, 900, 5_000):
        deep = '{"a":' * depth + "1" + "}" * depth
        content = written().decode().replace('"edges": [', f'"deep": {deep}, "edges": [', 1).encode()
        with pytest.raises(WorkbenchError):
            read_workflow_file(content)
        schema = f'{{"kind": "input", "id": "a", "takes": {deep}}}'
        try:
            read_workflow_file(with_changes(nodes=[]).replace(b'"nodes": []', f'"nodes": [{schema}]'.encode()))
        except WorkbenchError:
            assert depth > 200
