"""A workflow as one file, made to be kept in a repository: each change of it shows as the change it is.

Nodes and edges are a block each, keys are sorted, and places on the canvas come last, in a block of their own.
"""

import json
from collections.abc import Iterator

import orjson
from pydantic import JsonValue, ValidationError

from app.domain.caution import asking
from app.domain.errors import TooLarge, WorkbenchError
from app.domain.unpacked import values_in
from app.domain.values import Strict, Text
from app.domain.workflows.checking import shape_faults
from app.domain.workflows.document import Node, Workflow

FORMAT = "agent-playground/workflow"
VERSION = 1
LARGEST = 1_000_000
"""Bytes of a file, which has blanks in it."""
MOST_VALUES = 50_000
LONGEST_NAME = 200
LONGEST_TEXT = 2_000
_WAY_OUT = "Choose a file that was exported from a workflow."


class WorkflowFile(Strict):
    name: Text
    description: Text = ""
    workflow: Workflow


def workflow_file(content: WorkflowFile) -> bytes:
    """The file, for `read_workflow_file`; what is as in any new node is left out."""
    return "\n".join(_lines(content)).encode() + b"\n"


def read_workflow_file(content: bytes) -> WorkflowFile:
    """What the file says, with tools that ask. The workflow may have faults, as any that is worked on.

    Raises `WorkbenchError` in words: no such file, of a newer version, too large, or with impossible values.
    """
    document = _document(content)
    version = document.pop("version", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise WorkbenchError(f"This workflow's file has no version number. {_WAY_OUT}")
    if version > VERSION:
        words = f"This workflow's file was written by a newer Agent Playground (version {version}, this one reads up to"
        raise WorkbenchError(f"{words} {VERSION}). Update the app and import it again.")
    try:
        nodes = _placed(document.pop("nodes", []), document.pop("positions", {}))
        workflow = {"nodes": nodes, "edges": document.pop("edges", [])}
        read = WorkflowFile.model_validate({**document, "workflow": workflow})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise WorkbenchError(f"This workflow's file cannot be read: {where}: {fault['msg']}. {_WAY_OUT}") from error
    _check(read)
    return read.model_copy(update={"workflow": asking(read.workflow)})


def _lines(content: WorkflowFile) -> Iterator[str]:
    workflow = content.workflow
    edges = sorted(workflow.edges, key=lambda edge: (edge.source, edge.port, edge.target))
    yield "{"
    yield f'  "description": {_json(content.description)},'
    yield from _list("edges", [_json(edge.model_dump(mode="json")) for edge in edges])
    yield f'  "format": {_json(FORMAT)},'
    yield f'  "name": {_json(content.name)},'
    yield from _list("nodes", [_block(node) for node in workflow.nodes])
    yield '  "positions": {'
    places = [
        f"    {_json(node.id)}: [{node.x:g}, {node.y:g}]" for node in sorted(workflow.nodes, key=lambda one: one.id)
    ]
    yield from ([",\n".join(places)] if places else [])
    yield "  },"
    yield f'  "version": {VERSION}'
    yield "}"


def _list(name: str, blocks: list[str]) -> Iterator[str]:
    yield f'  "{name}": ['
    yield from ([",\n".join(f"    {block}" for block in blocks)] if blocks else [])
    yield "  ],"


def _block(node: Node) -> str:
    fields = type(node).model_fields
    usual = {
        name for name, field in fields.items() if getattr(node, name) == field.get_default(call_default_factory=True)
    }
    said = node.model_dump(mode="json", exclude=(usual | {"x", "y"}) - {"id", "kind"})
    return json.dumps(said, ensure_ascii=False, indent=2, sort_keys=True).replace("\n", "\n    ")


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _document(content: bytes) -> dict[str, JsonValue]:
    if len(content) > LARGEST or values_in(content, MOST_VALUES) == MOST_VALUES:
        raise TooLarge(f"This file is larger than a workflow's can be: {LARGEST // 1000:,} kB. {_WAY_OUT}")
    try:
        document: JsonValue = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise WorkbenchError(f"This is no workflow's file: it is not JSON ({error}). {_WAY_OUT}") from error
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
        raise WorkbenchError(f"This is no workflow's file: it does not say {FORMAT!r}. {_WAY_OUT}")
    return document


def _placed(nodes: JsonValue, places: JsonValue) -> JsonValue:
    """The nodes with the places that are said of them; what is no place is left to the validation."""
    if not isinstance(nodes, list) or not isinstance(places, dict):
        return nodes
    placed: list[JsonValue] = []
    for node in nodes:
        match places.get(str(node.get("id"))) if isinstance(node, dict) else None:
            case [x, y] if isinstance(node, dict):
                placed.append({**node, "x": x, "y": y})
            case _:
                placed.append(node)
    return placed


def _check(read: WorkflowFile) -> None:
    """Refuse what no workflow of this app would be."""
    faults = {
        "it has no name": not read.name.strip(),
        f"its name is longer than {LONGEST_NAME} characters": len(read.name) > LONGEST_NAME,
        "its name holds characters that cannot be shown": not read.name.isprintable(),
        f"its description is longer than {LONGEST_TEXT:,} characters": len(read.description) > LONGEST_TEXT,
    }
    if words := next((words for words, is_so in faults.items() if is_so), None):
        raise WorkbenchError(f"This workflow's file cannot be used: {words}. {_WAY_OUT}")
    if found := shape_faults(read.workflow):
        raise WorkbenchError(f"This workflow's file cannot be used. {found[0].text}")
