"""Where nodes stand when they are tidied up: columns by what comes before, rows near what they are connected to.

A map or loop is as large as its body needs, and counts as one node where it stands itself.
"""

from collections.abc import Mapping
from typing import NamedTuple

from app.domain.workflows.document import LoopNode, MapNode, Workflow
from app.domain.workflows.graph import Graph

WIDTH, HEIGHT = 200.0, 72.0
"""Of a node, in pixels at full size."""
GAP_X, GAP_Y = 80.0, 32.0
HEAD, EDGE = 48.0, 24.0
"""What a map or loop has above its body, and around it."""
SWEEPS = 8


class Size(NamedTuple):
    width: float
    height: float


def tidied(workflow: Workflow) -> Workflow:
    """The workflow with all nodes in their places."""
    places = _Tidying(workflow).places
    nodes = (
        node.model_copy(update={"x": places[node.id][0], "y": places[node.id][1]}) if node.id in places else node
        for node in workflow.nodes
    )
    return workflow.model_copy(update={"nodes": tuple(nodes)})


def sizes(workflow: Workflow) -> Mapping[str, Size]:
    """How large each map and loop is, by id: around the nodes of its body as they stand."""
    bodies: dict[str, list[tuple[str, float, float]]] = {}
    for node in workflow.nodes:
        bodies.setdefault(node.scope, []).append((node.id, node.x, node.y))
    found: dict[str, Size] = {}
    for scope in _inner_first(workflow):
        inside = [(x, y, found.get(id_, Size(WIDTH, HEIGHT))) for id_, x, y in bodies.get(scope, ())]
        found[scope] = Size(
            max([WIDTH + 2 * EDGE, *(x + size.width + EDGE for x, _, size in inside)]),
            max([HEAD + HEIGHT + EDGE, *(y + size.height + EDGE for _, y, size in inside)]),
        )
    return found


def _inner_first(workflow: Workflow) -> list[str]:
    """The maps and loops, each after those that stand in it."""
    nodes = workflow.by_id()

    def depth(id_: str) -> int:
        seen: set[str] = set()
        while id_ in nodes and id_ not in seen:
            seen.add(id_)
            id_ = nodes[id_].scope
        return len(seen)

    scopes = [id_ for id_, node in nodes.items() if isinstance(node, MapNode | LoopNode)]
    return sorted(scopes, key=depth, reverse=True)


class _Tidying:
    def __init__(self, workflow: Workflow) -> None:
        self.places: dict[str, tuple[float, float]] = {}
        self._graph = Graph(workflow)
        self._sizes: dict[str, Size] = {}
        self._ranks = {id_: rank for rank, id_ in enumerate(self._graph.order)}
        for scope in _inner_first(workflow):
            width, height = self._place(scope, EDGE, HEAD)
            self._sizes[scope] = Size(max(width, WIDTH + EDGE) + EDGE, max(height, HEAD + HEIGHT) + EDGE)
        self._place("", 0, 0)

    def _place(self, scope: str, left: float, top: float) -> Size:
        """Give the nodes of a body their places; returns where they end."""
        columns = self._columns(scope)
        self._sweep(columns)
        right = lowest = 0.0
        for column in columns:
            y, widest = top, 0.0
            for id_ in column:
                size = self._sizes.get(id_, Size(WIDTH, HEIGHT))
                self.places[id_] = (left, y)
                widest, lowest = max(widest, size.width), max(lowest, y + size.height)
                y += size.height + GAP_Y
            right = left + widest
            left = right + GAP_X
        return Size(right, lowest)

    def _columns(self, scope: str) -> list[list[str]]:
        """By the longest way to each node; what stands in a circle comes first."""
        graph, at = self._graph, dict[str, int]()
        last = len(self._ranks)
        body = sorted(graph.bodies.get(scope, ()), key=lambda id_: self._ranks.get(id_, last))
        columns: list[list[str]] = []
        for id_ in body:
            at[id_] = max((at.get(edge.source, -1) + 1 for edge in graph.before[id_]), default=0)
            while len(columns) <= at[id_]:
                columns.append([])
            columns[at[id_]].append(id_)
        return columns

    def _sweep(self, columns: list[list[str]]) -> None:
        """Order each column by the mean of what its nodes are connected to, back and forth."""
        row = {id_: float(place) for column in columns for place, id_ in enumerate(column)}
        near = (
            {id_: [edge.source for edge in self._graph.before[id_]] or [id_] for id_ in row},
            {id_: [edge.target for edge in self._graph.after[id_]] or [id_] for id_ in row},
        )
        several = [column for column in columns if len(column) > 1]
        for sweep in range(SWEEPS if several else 0):
            for column in several if sweep % 2 == 0 else reversed(several):
                _order(column, near[sweep % 2], row)


def _order(column: list[str], near: Mapping[str, list[str]], row: dict[str, float]) -> None:
    """By the mean row of those near each."""
    means = {}
    for id_ in column:
        others = near[id_]
        means[id_] = row[others[0]] if len(others) == 1 else sum([row[one] for one in others]) / len(others)
    column.sort(key=means.__getitem__)
    for place, id_ in enumerate(column):
        row[id_] = place
