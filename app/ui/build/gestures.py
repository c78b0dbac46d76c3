"""What the canvas, the list and the settings tell, done to the document by the one set of operations."""

from collections.abc import Sequence

from app.domain.errors import WorkbenchError
from app.domain.workflows.document import Edge, Node, Workflow
from app.domain.workflows.layout import tidied
from app.domain.workflows.operations import Changed, changed, connected, disconnected, moved, put_in, removed, renamed
from app.domain.workflows.pasting import duplicated, pasted
from app.ui.graph.canvas import edge_id


def done(workflow: Workflow, name: str, told: Sequence[object]) -> Changed:  # noqa: PLR0911  a line for each gesture
    """The document after that gesture. Raises `WorkbenchError` for what cannot be."""
    match name, list(told):
        case "move", [list(places)]:
            return _moved(workflow, places)
        case "connect", [str(source), str(port), str(target)]:
            return connected(workflow, source, port, target)
        case "disconnect", [str(source), str(port), str(target)]:
            return disconnected(workflow, [Edge(source=source, port=port, target=target)])
        case "remove" | "cut", _:
            return _removed(workflow, _texts(told))
        case "scope", [str(node), str(scope)]:
            return put_in(workflow, [node], scope)
        case "duplicate", _:
            return duplicated(workflow, _texts(told))
        case "paste", [str(text), x, y]:
            return pasted(workflow, text, at=_place(x, y))
        case "tidy", _:
            return Changed(tidied(workflow), "Tidied.")
        case _:
            raise WorkbenchError(f"Nothing can be done by {name!r} here. Reload the page.")


def edited(workflow: Workflow, node: Node, field: str) -> Changed:
    """The document with that field of the node as it is there."""
    if field == "title":
        return renamed(workflow, node.id, node.title)
    return changed(workflow, node.id, {field: node.model_dump(mode="json")[field]})


def _moved(workflow: Workflow, places: Sequence[object]) -> Changed:
    """Nodes where they were dropped, in the scope that they were dropped on."""
    nodes, steps = workflow.by_id(), list[str]()
    for place in places:
        match place:
            case [str(id_), x, y, str(scope)] if id_ in nodes:
                if nodes[id_].scope != scope:
                    step = put_in(workflow, [id_], scope)
                    workflow = step.workflow
                    steps.append(step.said)
                step = moved(workflow, {id_: _place(x, y)})
                workflow = step.workflow
                steps.append(step.said)
    if len(places) > 1:
        return Changed(workflow, f"Moved {len(places)} nodes.")
    return Changed(workflow, steps[0] if steps else "")


def _removed(workflow: Workflow, ids: Sequence[str]) -> Changed:
    """Nodes and edges that were chosen together."""
    wires = [edge for edge in workflow.edges if edge_id(edge) in ids]
    nodes = [id_ for id_ in ids if any(node.id == id_ for node in workflow.nodes)]
    if not nodes:
        return disconnected(workflow, wires)
    return removed(disconnected(workflow, wires).workflow if wires else workflow, nodes)


def _texts(told: Sequence[object]) -> list[str]:
    return [one for one in told if isinstance(one, str)]


def _place(x: object, y: object) -> tuple[float, float]:
    if isinstance(x, int | float) and isinstance(y, int | float):
        return float(x), float(y)
    raise WorkbenchError("That is no place on the canvas. Reload the page.")
