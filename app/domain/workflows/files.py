"""A workflow as a file that one can read, keep in git and bring back, and as a drawing in Mermaid."""

import json
from collections.abc import Iterator

from pydantic import JsonValue, ValidationError

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.values import size
from app.domain.workflows.document import LARGEST, NEXT, LoopNode, MapNode, Node, NoteNode, Workflow

_SHAPES = {"input": ("([", "])"), "output": ("([", "])"), "branch": ("{", "}"), "approval": ("{{", "}}")}
_ENTITIES = {ord(sign): f"#{ord(sign)};" for sign in '#"&<>`;\\'}
"""Signs that Mermaid, or the page that draws it, would read as something else."""


def workflow_json(workflow: Workflow) -> str:
    """For `read_workflow`: keys in order and places in a block of their own, so that moving a node changes no other."""
    document = workflow.model_dump(mode="json")
    places = {node["id"]: [node.pop("x"), node.pop("y")] for node in document["nodes"]}
    ordered = json.loads(json.dumps(document, sort_keys=True))
    return json.dumps({**ordered, "positions": places}, indent=2, ensure_ascii=False) + "\n"


def read_workflow(told: dict[str, JsonValue]) -> Workflow:
    """The workflow in a document or a file, with faults or without. Raises `WorkbenchError` that names the place."""
    length = len(json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if length > LARGEST:
        raise TooLarge(f"This workflow has {size(length)}; {size(LARGEST)} is the most.")
    places, nodes = told.get("positions"), told.get("nodes")
    if isinstance(places, dict) and isinstance(nodes, list):
        nodes = [_placed(node, places) for node in nodes]
    document = {name: value for name, value in told.items() if name != "positions"} | {"nodes": nodes or []}
    try:
        return Workflow.model_validate(document)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, fault["loc"]))[:200]
        raise WorkbenchError(f"This is no workflow: {place}: {fault['msg']}. /api/v1/docs shows one.") from None


def _placed(node: JsonValue, places: dict[str, JsonValue]) -> JsonValue:
    place = places.get(str(node.get("id"))) if isinstance(node, dict) else None
    if not isinstance(node, dict) or not isinstance(place, list) or len(place) != 2:
        return node
    return {**node, "x": place[0], "y": place[1]}


def mermaid(workflow: Workflow) -> str:
    """Its nodes and edges as a flowchart; the bodies of maps and loops are boxes."""
    nodes = workflow.by_id()
    edges = (
        f"  n_{edge.source} -->{_label(edge.port)} n_{edge.target}"
        for edge in workflow.edges
        if edge.source in nodes and edge.target in nodes
    )
    return "\n".join(["flowchart LR", *_drawn(workflow, "", "  "), *edges]) + "\n"


def _drawn(workflow: Workflow, scope: str, indent: str) -> Iterator[str]:
    for node in workflow.body(scope):
        if isinstance(node, MapNode | LoopNode):
            yield f"{indent}subgraph n_{node.id}[{_words(node)}]"
            yield from _drawn(workflow, node.id, f"{indent}  ")
            yield f"{indent}end"
        elif not isinstance(node, NoteNode):
            left, right = _SHAPES.get(node.kind, ("[", "]"))
            yield f"{indent}n_{node.id}{left}{_words(node)}{right}"


def _words(node: Node) -> str:
    return f'"{_safe(node.title or node.id)}"'


def _label(port: str) -> str:
    return "" if port == NEXT else f'|"{_safe(port)}"|'


def _safe(text: str) -> str:
    return " ".join(text.split()).translate(_ENTITIES)
