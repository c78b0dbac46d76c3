"""A workflow's nodes with what stands before and after each, in an order in which all may begin."""

from collections import deque
from collections.abc import Iterator

from app.domain.workflows.document import (
    Edge,
    InputNode,
    Node,
    NoteNode,
    Workflow,
    ports,
)


class Graph:
    """Reads over edges that are none: from or to a node that is not there, across the border of a scope, twice."""

    def __init__(self, workflow: Workflow) -> None:
        self.nodes = {node.id: node for node in reversed(workflow.nodes)}
        self.places = {id_: place for place, id_ in enumerate(dict.fromkeys(node.id for node in workflow.nodes))}
        """In document order."""
        self.before: dict[str, list[Edge]] = {id_: [] for id_ in self.places}
        self.after: dict[str, list[Edge]] = {id_: [] for id_ in self.places}
        self.faulty: list[tuple[Edge, str]] = []
        """The edges that are read over, with what is wrong with each as `edge_fault` says it."""
        for edge in dict.fromkeys(workflow.edges):
            if words := edge_fault(edge, self.nodes):
                self.faulty.append((edge, words))
            else:
                self.before[edge.target].append(edge)
                self.after[edge.source].append(edge)
        self.bodies: dict[str, list[str]] = {}
        for id_ in self.places:
            self.bodies.setdefault(self.nodes[id_].scope, []).append(id_)
        self.order = self._order()
        """Sources before targets; the nodes of cycles, and those after them, are left out."""

    def chain(self, scope: str) -> Iterator[str]:
        """The map or loop and those that it stands in, innermost first; each once if they stand in each other."""
        seen: set[str] = set()
        while scope in self.nodes and scope not in seen:
            seen.add(scope)
            yield scope
            scope = self.nodes[scope].scope

    def reached(self, starts: list[str], *, backwards: bool = False) -> set[str]:
        """The nodes along the edges from these on, these included."""
        found, todo = set(starts), list(starts)
        while todo:
            here = todo.pop()
            edges = self.before[here] if backwards else self.after[here]
            nexts = {edge.source if backwards else edge.target for edge in edges} - found
            found |= nexts
            todo += nexts
        return found

    def only_before(self, id_: str) -> list[str]:
        """The nodes from which all ways lead to this one."""
        found = {id_}
        for one in reversed(self.order):
            after = self.after[one]
            if after and one != id_ and all(edge.target in found for edge in after):
                found.add(one)
        return [one for one in self.order if one in found and one != id_]

    def cycle(self) -> list[str]:
        """The nodes of one cycle along its edges; empty where there is none."""
        here = next((id_ for id_ in self.places if id_ not in self._ordered), "")
        path: list[str] = []
        while here and here not in path:
            path.append(here)
            here = next(edge.source for edge in self.before[here] if edge.source not in self._ordered)
        return path[path.index(here) :][::-1] if here else []

    def _order(self) -> list[str]:
        waiting = {id_: len(edges) for id_, edges in self.before.items()}
        todo = deque(id_ for id_, count in waiting.items() if not count)
        order: list[str] = []
        while todo:
            here = todo.popleft()
            order.append(here)
            for edge in self.after[here]:
                waiting[edge.target] -= 1
                if not waiting[edge.target]:
                    todo.append(edge.target)
        self._ordered = set(order)
        return order


def edge_fault(edge: Edge, nodes: dict[str, Node]) -> str:
    """Why there can be no such edge, as the rest of a sentence that begins with what it leads from; empty if it can."""
    source, target = nodes.get(edge.source), nodes.get(edge.target)
    if source is None or target is None:
        gone = edge.source if source is None else edge.target
        return f"has an edge with “{gone}”, and there is no such node. Remove the edge."
    if edge.port not in ports(source):
        has = ", ".join(f"“{port}”" for port in ports(source)) or "none"
        return f"has an edge from a port “{edge.port}”; its ports are: {has}. Connect one of those."
    if isinstance(target, InputNode | NoteNode):
        return f"leads to “{target.id}”, to which no edge can lead. Remove the edge."
    if source.scope != target.scope:
        return (
            f"leads to “{target.id}” across the border of a map or loop. Lead to the map or loop itself, or out of it."
        )
    return ""
