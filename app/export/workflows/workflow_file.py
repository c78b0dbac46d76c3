"""A workflow as one file, made to be kept in a repository: each change of it shows as the change it is.

Nodes and edges are a block each, keys are sorted, and places on the canvas come last, in a block of their own.
"""

import json
from collections.abc import Iterator

from pydantic import JsonValue, ValidationError

from app.domain.agents import LONGEST_DESCRIPTION, hidden_in
from app.domain.caution import asking
from app.domain.errors import TooLarge, WorkbenchError
from app.domain.unpacked import values_in
from app.domain.values import Strict, Text, size
from app.domain.workflows.checking import shape_faults
from app.domain.workflows.document import LARGEST as LARGEST_DOCUMENT
from app.domain.workflows.document import Node, Workflow
from app.export.agent_file import document_of

FORMAT = "agent-playground/workflow"
VERSION = 1
LARGEST = 4_000_000
"""Bytes of a file, in which each value has a line of its own, with blanks before it."""
MOST_VALUES = LARGEST_DOCUMENT
LONGEST_NAME = 200
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
    read = _read(_document(content))
    return read.model_copy(update={"workflow": asking(read.workflow)})


def read_workflow(told: dict[str, JsonValue]) -> Workflow:
    """The workflow in a document, or in what such a file holds, as it stands there.

    Raises `WorkbenchError` that names the place.
    """
    length = len(json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if length > LARGEST_DOCUMENT:
        raise TooLarge(f"This workflow has {size(length)}; {size(LARGEST_DOCUMENT)} is the most.")
    if told.get("format") == FORMAT:
        return _read(told).workflow
    try:
        return Workflow.model_validate(_with_places(told))
    except ValidationError as error:
        raise WorkbenchError(f"This is no workflow: {_why(error)}. /api/v1/docs shows one.") from None


def said(node: Node) -> dict[str, JsonValue]:
    """The node as JSON, without what is as in any new one."""
    fields = type(node).model_fields
    usual = {name for name, one in fields.items() if getattr(node, name) == one.get_default(call_default_factory=True)}
    return node.model_dump(mode="json", exclude=usual - {"id", "kind"})


def _read(document: dict[str, JsonValue]) -> WorkflowFile:
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise WorkbenchError(f"This workflow's file has no version number. {_WAY_OUT}")
    if version > VERSION:
        words = f"This workflow's file was written by a newer Agent Playground (version {version}, this one reads up to"
        raise WorkbenchError(f"{words} {VERSION}). Update the app and import it again.")
    placed = _with_places(document)
    workflow = {name: placed.pop(name, []) for name in ("nodes", "edges")}
    more = {name: value for name, value in placed.items() if name not in ("format", "version")}
    try:
        read = WorkflowFile.model_validate({**more, "workflow": workflow})
    except ValidationError as error:
        raise WorkbenchError(f"This workflow's file cannot be read: {_why(error)}. {_WAY_OUT}") from error
    _check(read)
    return read


def _why(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False)[0]
    return f"{'.'.join(map(str, fault['loc']))[:200]}: {fault['msg']}"


def _lines(content: WorkflowFile) -> Iterator[str]:
    workflow = content.workflow
    yield "{"
    yield f'  "description": {_json(content.description)},'
    yield from _list("edges", [_json(edge.model_dump(mode="json")) for edge in workflow.edges])
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
    content = {name: value for name, value in said(node).items() if name not in ("x", "y")}
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True).replace("\n", "\n    ")


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _document(content: bytes) -> dict[str, JsonValue]:
    if len(content) > LARGEST or values_in(content, MOST_VALUES) == MOST_VALUES:
        raise TooLarge(f"This file is larger than a workflow's can be: {LARGEST // 1000:,} kB. {_WAY_OUT}")
    return document_of(content, FORMAT, _WAY_OUT)


def _with_places(document: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """With `positions` in the nodes themselves; what is no place is left to the validation."""
    told = {name: value for name, value in document.items() if name != "positions"}
    nodes, places = told.get("nodes"), document.get("positions")
    if not isinstance(nodes, list) or not isinstance(places, dict):
        return told
    placed: list[JsonValue] = []
    for node in nodes:
        match places.get(str(node.get("id"))) if isinstance(node, dict) else None:
            case [x, y] if isinstance(node, dict):
                placed.append({**node, "x": x, "y": y})
            case _:
                placed.append(node)
    return {**told, "nodes": placed}


def _check(read: WorkflowFile) -> None:
    """Refuse what no workflow of this app would be."""
    described = len(read.description)
    faults = {
        "it has no name": not read.name.strip(),
        f"its name is longer than {LONGEST_NAME} characters": len(read.name) > LONGEST_NAME,
        "its name holds characters that cannot be shown": bool(hidden_in(read.name)),
        f"its description is longer than {LONGEST_DESCRIPTION:,} characters": described > LONGEST_DESCRIPTION,
    }
    if words := next((words for words, is_so in faults.items() if is_so), None):
        raise WorkbenchError(f"This workflow's file cannot be used: {words}. {_WAY_OUT}")
    if found := shape_faults(read.workflow):
        raise WorkbenchError(f"This workflow's file cannot be used. {found[0].text}")
