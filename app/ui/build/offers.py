"""The names that a node's bindings may read."""

from app.domain.workflows.availability import Availability
from app.domain.workflows.document import LoopNode, MapNode, Node, Workflow
from app.domain.workflows.giving import Giving, given_names
from app.domain.workflows.graph import Graph
from app.domain.workflows.world import World

MOST_FIELDS = 12
"""Fields of one value that are offered by name."""


def offered(workflow: Workflow, world: World, node: Node) -> list[str]:
    """What its bindings may read, the nearest first, with the fields that are known of each."""
    graph = Graph(workflow)
    if graph.cycle():
        return []
    giving = Giving(graph, world)
    inside = node.id if isinstance(node, MapNode | LoopNode) else node.scope
    names = [*_before(graph, node), *(name for name in given_names(graph, inside) if name not in graph.nodes)]
    found: list[str] = []
    for name in names:
        properties = giving.named(name, inside).get("properties")
        fields = list(properties)[:MOST_FIELDS] if isinstance(properties, dict) else []
        found += [name, *(f"{name}.{field}" for field in fields if field.isidentifier())]
    return found


def _before(graph: Graph, node: Node) -> list[str]:
    """The ids of the nodes that come before it, first those in its body, then those beside it, then those around."""
    available = Availability(graph)
    levels = [available.body(node.id)] if isinstance(node, MapNode | LoopNode) else []
    levels += [available.before(one) for one in (node.id, *graph.chain(node.scope))]
    return [id_ for level in levels for id_ in reversed(graph.order) if available.holds(level, id_)]
