"""What can be done to a workflow: each makes a new document and says what it did, for canvas, list and code alike.

A document may have faults afterwards, which are shown; what makes no sense at all is refused as `WorkbenchError`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.agents import slug_of
from app.domain.errors import NotFound, WorkbenchError
from app.domain.workflows.document import (
    GIVEN_NAMES,
    INPUT,
    LONGEST_ID,
    MOST_NODES,
    BranchNode,
    Edge,
    Kind,
    LoopNode,
    MapNode,
    Node,
    Workflow,
    ports,
)
from app.domain.workflows.graph import Graph, edge_fault
from app.domain.workflows.layout import GAP_X, GAP_Y, HEAD, HEIGHT, WIDTH, sizes

_NODE: TypeAdapter[Node] = TypeAdapter(Node)
_KEPT = ("id", "kind", "scope", "x", "y")
"""Fields that other operations change, or none."""


@dataclass(frozen=True, slots=True)
class Changed:
    workflow: Workflow
    said: str
    """What was done, in a sentence for those who do not see it."""
    ids: tuple[str, ...] = ()
    """The nodes that are new or were changed."""


def added(
    workflow: Workflow,
    kind: Kind,
    title: str = "",
    *,
    after: str = "",
    port: str = "",
    scope: str = "",
    at: tuple[float, float] | None = None,
) -> Changed:
    """A new node, connected to what it is to come `after`, there at that port, else at the first free one."""
    if len(workflow.nodes) >= MOST_NODES:
        raise WorkbenchError(f"A workflow has {MOST_NODES} nodes at most. Remove one first.")
    before = found(workflow, after) if after else None
    scope = before.scope if before else scope
    title = title.strip() or kind.capitalize()
    id_ = free_id(title, {node.id for node in workflow.nodes}, input_=kind == INPUT)
    x, y = at or _free_place(workflow, before, scope)
    node = _valid({"kind": kind, "id": id_, "title": title, "x": x, "y": y, "scope": scope}, title)
    grown = workflow.model_copy(update={"nodes": (*workflow.nodes, node)})
    said = f"Added {called(node)}"
    if before is None:
        return Changed(grown, f"{said}.", (id_,))
    taken = {edge.port for edge in workflow.edges if edge.source == after}
    port = port or next((one for one in ports(before) if one not in taken), next(iter(ports(before)), ""))
    connected_ = connected(grown, after, port, id_)
    return Changed(connected_.workflow, f"{said} after {called(before)}.", (id_,))


def inserted(workflow: Workflow, edge: Edge, kind: Kind, title: str = "") -> Changed:
    """A new node in the middle of an edge."""
    grown = added(workflow, kind, title, after=edge.source, port=edge.port)
    [id_] = grown.ids
    target = found(workflow, edge.target)
    node = found(grown.workflow, id_)
    if not ports(node):
        raise WorkbenchError(f"Nothing comes after {called(node)}. Add it at the end.")
    onward = Edge(source=id_, port=ports(node)[0], target=edge.target)
    edges = tuple(one for one in (*grown.workflow.edges, onward) if one != edge)
    document = grown.workflow.model_copy(update={"edges": edges})
    return Changed(document, f"{grown.said.removesuffix('.')} and before {called(target)}.", (id_,))


def connected(workflow: Workflow, source: str, port: str, target: str) -> Changed:
    """An edge more."""
    edge = Edge(source=source, port=port, target=target)
    first, second = found(workflow, source), found(workflow, target)
    if edge in workflow.edges:
        raise WorkbenchError(f"{called(first)} is connected to {called(second)} already.")
    if words := edge_fault(edge, dict(workflow.by_id())):
        raise WorkbenchError(f"Cannot connect: {called(first)} {words}")
    if source in Graph(workflow).reached([target]):
        reason = "It" if source == target else called(second)
        where = "cannot come before itself" if source == target else f"comes before {called(first)}"
        raise WorkbenchError(f"Cannot connect: {reason} {where}. What repeats goes into a loop.")
    at = f" at “{port}”" if len(ports(first)) > 1 else ""
    document = workflow.model_copy(update={"edges": (*workflow.edges, edge)})
    return Changed(document, f"Connected {called(first)}{at} to {called(second)}.", (target,))


def disconnected(workflow: Workflow, edges: Collection[Edge]) -> Changed:
    """Those edges less."""
    gone = [edge for edge in workflow.edges if edge in edges]
    if not gone:
        raise NotFound("There is no such edge any more.")
    nodes = workflow.by_id()
    names = [called(nodes[id_]) if id_ in nodes else id_ for id_ in (gone[0].source, gone[0].target)]
    said = f"Disconnected {names[0]} from {names[1]}." if len(gone) == 1 else f"Removed {len(gone)} edges."
    return Changed(workflow.model_copy(update={"edges": _without(workflow.edges, gone)}), said)


def removed(workflow: Workflow, ids: Collection[str]) -> Changed:
    """Those nodes less, with their edges and, of maps and loops, their bodies."""
    nodes = [found(workflow, id_) for id_ in dict.fromkeys(ids)]
    gone = with_bodies(workflow, ids)
    left = tuple(node for node in workflow.nodes if node.id not in gone)
    edges = tuple(edge for edge in workflow.edges if not {edge.source, edge.target} & gone)
    wires = len(workflow.edges) - len(edges)
    besides = f" and {_count(wires, 'edge')}" if wires else ""
    inside = f", with {len(gone) - len(nodes)} inside," if len(gone) > len(nodes) else ""
    return Changed(Workflow(nodes=left, edges=edges), f"Removed {named(nodes)}{inside}{besides}.")


def moved(workflow: Workflow, places: Mapping[str, tuple[float, float]]) -> Changed:
    """Those nodes at other places, counted from the left upper corner of the map or loop that they stand in."""
    nodes = [found(workflow, id_) for id_ in places]
    changes = {
        node.id: _valid(_fields(node) | dict(zip("xy", places[node.id], strict=True)), called(node)) for node in nodes
    }
    return Changed(replaced(workflow, changes), f"Moved {named(nodes)}.", tuple(places))


def renamed(workflow: Workflow, id_: str, title: str) -> Changed:
    """The node under another title; its id stays, so that whatever reads it still does."""
    node = found(workflow, id_)
    fresh = _valid(_fields(node) | {"title": title.strip()}, called(node))
    return Changed(replaced(workflow, {id_: fresh}), f"Renamed {called(node)} to {called(fresh)}.", (id_,))


def changed(workflow: Workflow, id_: str, fields: Mapping[str, JsonValue]) -> Changed:
    """The node with other values in these fields. Edges follow a case that is renamed, and go with a port that does."""
    node = found(workflow, id_)
    if kept := next((name for name in fields if name in _KEPT), None):
        raise WorkbenchError(f"The {kept} of {called(node)} is not changed like that.")
    fresh = _valid(_fields(node) | dict(fields), called(node))
    names = _renamed_port(node, fresh)
    edges = tuple(
        edge.model_copy(update={"port": names.get(edge.port, edge.port)}) if edge.source == id_ else edge
        for edge in workflow.edges
    )
    left = tuple(edge for edge in edges if edge.source != id_ or edge.port in ports(fresh))
    gone = (
        f" {_count(len(edges) - len(left), 'edge')} of a port that is gone went too." if len(left) < len(edges) else ""
    )
    document = replaced(workflow, {id_: fresh}).model_copy(update={"edges": left})
    return Changed(document, f"Changed {', '.join(fields)} of {called(node)}.{gone}", (id_,))


def put_in(workflow: Workflow, ids: Collection[str], scope: str) -> Changed:
    """The nodes in the body of a map or loop, or outside of all with `""`, where they stand on the canvas.

    Edges that would cross its border go.
    """
    nodes = [found(workflow, id_) for id_ in dict.fromkeys(ids)]
    box = found(workflow, scope) if scope else None
    if box and not isinstance(box, MapNode | LoopNode):
        raise WorkbenchError(f"{called(box)} has no body. Choose a map or a loop.")
    if scope in with_bodies(workflow, ids):
        raise WorkbenchError(f"{named(nodes)} cannot go into itself.")
    left, top = corner(workflow, scope)
    changes: dict[str, Node] = {}
    for node in nodes:
        x, y = corner(workflow, node.scope)
        place = (
            {"x": max(x + node.x - left, 0), "y": max(y + node.y - top, HEAD if box else 0)}
            if node.scope != scope
            else {}
        )
        changes[node.id] = node.model_copy(update={"scope": scope, **place})
    document = replaced(workflow, changes)
    known = dict(document.by_id())
    edges = tuple(edge for edge in document.edges if known[edge.source].scope == known[edge.target].scope)
    gone = len(document.edges) - len(edges)
    crossing = f" {_count(gone, 'edge')} across its border went." if gone else ""
    where = f"into {called(box)}" if box else "out"
    return Changed(document.model_copy(update={"edges": edges}), f"Put {named(nodes)} {where}.{crossing}", tuple(ids))


def found(workflow: Workflow, id_: str) -> Node:
    """The node of that id. Raises `NotFound`."""
    node = next((node for node in workflow.nodes if node.id == id_), None)
    if node is None:
        raise NotFound(f"The workflow has no node {id_!r} any more.")
    return node


def replaced(workflow: Workflow, nodes: Mapping[str, Node]) -> Workflow:
    return workflow.model_copy(update={"nodes": tuple(nodes.get(node.id, node) for node in workflow.nodes)})


def with_bodies(workflow: Workflow, ids: Collection[str]) -> set[str]:
    """The ids, and those of all that stands in them."""
    inside = set(ids)
    while more := {node.id for node in workflow.nodes if node.scope in inside} - inside:
        inside |= more
    return inside


def corner(workflow: Workflow, scope: str) -> tuple[float, float]:
    """Where a map or loop stands on the whole canvas."""
    nodes = workflow.by_id()
    boxes = [nodes[id_] for id_ in Graph(workflow).chain(scope)]
    return sum(box.x for box in boxes), sum(box.y for box in boxes)


def called(node: Node) -> str:
    return node.title or node.id


def named(nodes: Iterable[Node]) -> str:
    names = [called(node) for node in nodes]
    return names[0] if len(names) == 1 else f"{len(names)} nodes"


def free_id(title: str, taken: Collection[str], *, input_: bool = False) -> str:
    """An id made of the title, with the first number behind it that makes it unique."""
    words = slug_of(title, nameless="node").replace("-", "_")[: LONGEST_ID - 5].strip("_")
    slug = words if words[:1].isalpha() else f"n_{words}"
    kept = {name for name in GIVEN_NAMES if not (input_ and name == INPUT)}
    candidates = (slug, *(f"{slug}_{number}" for number in range(2, len(taken) + 8)))
    return next(one for one in candidates if one not in taken and one not in kept)


def _fields(node: Node) -> dict[str, object]:
    return {name: getattr(node, name) for name in type(node).model_fields}


def _valid(fields: Mapping[str, object], name: str) -> Node:
    try:
        return _NODE.validate_python(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, fault["loc"][1:]))
        raise WorkbenchError(f"{name} cannot take that: {where}: {fault['msg']}.") from error


def _free_place(workflow: Workflow, before: Node | None, scope: str) -> tuple[float, float]:
    """Right of the node it comes after, or left below all, where nothing stands."""
    boxes = sizes(workflow)
    beside = [node for node in workflow.nodes if node.scope == scope]
    if before is None:
        bottom = max(
            (node.y + (boxes[node.id].height if node.id in boxes else HEIGHT) + GAP_Y for node in beside), default=0
        )
        return (0.0, bottom) if not scope else (GAP_Y, max(bottom, HEAD))
    width = boxes[before.id].width if before.id in boxes else WIDTH
    x, y = before.x + width + GAP_X, before.y
    while any(abs(node.x - x) < WIDTH and abs(node.y - y) < HEIGHT for node in beside):
        y += HEIGHT + GAP_Y
    return x, y


def _renamed_port(before: Node, after: Node) -> dict[str, str]:
    """The case that has another name, where that is all that became of the cases' names."""
    if not (isinstance(before, BranchNode) and isinstance(after, BranchNode) and len(before.cases) == len(after.cases)):
        return {}
    pairs = [(old.name, new.name) for old, new in zip(before.cases, after.cases, strict=True) if old.name != new.name]
    return dict(pairs) if len(pairs) == 1 else {}


def _without(edges: Iterable[Edge], gone: Collection[Edge]) -> tuple[Edge, ...]:
    return tuple(edge for edge in edges if edge not in gone)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
