"""Parts of a workflow as text, to be copied and pasted."""

import json
import re
from collections.abc import Collection, Mapping

from pydantic import ValidationError

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.workflows.document import LARGEST, MOST_NODES, InputNode, Node, Workflow
from app.domain.workflows.operations import Changed, found, free_id, named, with_bodies
from app.domain.workflows.renaming import reading

_NUMBER = re.compile(r"_[0-9]+$")
OFFSET = 40.0
"""Pixels by which a copy stands off its original."""


def copied(workflow: Workflow, ids: Collection[str]) -> str:
    """The nodes, with the bodies of maps and loops and the edges between them, as JSON for `pasted`."""
    inside = with_bodies(workflow, ids)
    part = Workflow(
        nodes=tuple(node for node in workflow.nodes if node.id in inside),
        edges=tuple(edge for edge in workflow.edges if {edge.source, edge.target} <= inside),
    )
    return json.dumps(part.model_dump(mode="json"), ensure_ascii=False, indent=1)


def pasted(workflow: Workflow, text: str, *, scope: str = "", at: tuple[float, float] | None = None) -> Changed:
    """The text's nodes in that scope, under ids of their own; their bindings read each other, as they did before.

    What they read of nodes that are not among them shows as faults where those are not here.
    """
    part = _part(text)
    if scope:
        found(workflow, scope)
    inside = {node.id for node in part.nodes}
    tops = [node for node in part.nodes if node.scope not in inside]
    x, y = at or (min(node.x for node in tops) + OFFSET, min(node.y for node in tops) + OFFSET)
    off = (x - min(node.x for node in tops), y - min(node.y for node in tops))
    return _put(workflow, part, {node.id: scope for node in tops}, off, "Pasted")


def duplicated(workflow: Workflow, ids: Collection[str]) -> Changed:
    """The nodes once more, beside themselves."""
    for id_ in ids:
        found(workflow, id_)
    part = _part(copied(workflow, ids))
    inside = {node.id for node in part.nodes}
    tops = {node.id: node.scope for node in part.nodes if node.scope not in inside}
    return _put(workflow, part, tops, (OFFSET, OFFSET), "Duplicated")


def _put(
    workflow: Workflow, part: Workflow, tops: Mapping[str, str], off: tuple[float, float], verb: str
) -> Changed:  # fmt: skip
    """`tops`: the scope of each node of the part that stands in none of its nodes."""
    has_input = any(isinstance(node, InputNode) for node in workflow.nodes)
    nodes = [node for node in part.nodes if not (has_input and isinstance(node, InputNode))]
    if not nodes:
        raise WorkbenchError("A workflow has one input, and this one has it.")
    if len(workflow.nodes) + len(nodes) > MOST_NODES:
        raise TooLarge(f"With these {len(nodes)} nodes there would be more than {MOST_NODES}. Paste fewer.")
    names: dict[str, str] = {}
    taken = {node.id for node in workflow.nodes}
    for node in nodes:
        names[node.id] = free_id(_NUMBER.sub("", node.id), taken, input_=isinstance(node, InputNode))
        taken.add(names[node.id])
    fresh = tuple(_copy(node, names, tops, off) for node in nodes)
    edges = tuple(
        edge.model_copy(update={"source": names[edge.source], "target": names[edge.target]})
        for edge in part.edges
        if edge.source in names and edge.target in names
    )
    document = Workflow(nodes=(*workflow.nodes, *fresh), edges=(*workflow.edges, *edges))
    return Changed(document, f"{verb} {named(fresh)}.", tuple(names[id_] for id_ in tops if id_ in names))


def _copy(node: Node, names: Mapping[str, str], tops: Mapping[str, str], off: tuple[float, float]) -> Node:
    top = node.id in tops
    place = {"x": node.x + off[0], "y": node.y + off[1]} if top else {}
    scope = tops[node.id] if top else names[node.scope]
    return reading(node, names).model_copy(update={"id": names[node.id], "scope": scope, **place})


def _part(text: str) -> Workflow:
    if len(text) > LARGEST:
        raise TooLarge(f"That is {len(text) / 1000:,.0f} kB of text; {LARGEST // 1000} kB is the most.")
    try:
        part = Workflow.model_validate_json(text)
    except ValidationError as error:
        raise WorkbenchError(
            f"That is no part of a workflow: {_why(error)}. Copy nodes of one and paste them."
        ) from error
    if not part.nodes or len({node.id for node in part.nodes}) < len(part.nodes):
        raise WorkbenchError("That is no part of a workflow: it has no nodes, or two of one id. Copy nodes of one.")
    return part


def _why(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False)[0]
    return f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']}"
