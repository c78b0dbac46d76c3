"""The names that a node's bindings may read."""

from collections.abc import Sequence

from pydantic import JsonValue

from app.domain.trace import NodeRuns, text_of
from app.domain.workflows.availability import Availability
from app.domain.workflows.document import INPUT, LoopNode, MapNode, Node, Workflow
from app.domain.workflows.giving import Giving, given_names
from app.domain.workflows.graph import Graph
from app.domain.workflows.world import World
from app.ui.build.sheet import Offer
from app.ui.elements.format import head

LONGEST_LAST = 40  # characters
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


def with_last(names: Sequence[str], runs: NodeRuns) -> list[Offer]:
    """The names with what they were in the last run, and the fields that nobody knew before it."""
    found: dict[str, str] = {}
    for name in names:
        value = _last(name, runs)
        found[name] = head(text_of(value), LONGEST_LAST) if value is not None else ""
        if "." not in name and isinstance(value, dict):
            fields = [field for field in list(value)[:MOST_FIELDS] if field.isidentifier()]
            for field in fields:
                found.setdefault(f"{name}.{field}", head(text_of(value[field]), LONGEST_LAST))
    return [Offer(name, last) for name, last in found.items()]


def _last(name: str, runs: NodeRuns) -> JsonValue:
    """What a name stood for last; `None` where it was not known yet."""
    id_, _, field = name.partition(".")
    given = next((run for run in runs.latest.values() if run.kind == "input"), None) if id_ == INPUT else None
    run = runs.latest.get(id_, given)
    value = run.value if run is not None and run.ended else None
    return value.get(field) if field and isinstance(value, dict) else None if field else value


def _before(graph: Graph, node: Node) -> list[str]:
    """The ids of the nodes that come before it, first those in its body, then those beside it, then those around."""
    available = Availability(graph)
    levels = [available.body(node.id)] if isinstance(node, MapNode | LoopNode) else []
    levels += [available.before(one) for one in (node.id, *graph.chain(node.scope))]
    return [id_ for level in levels for id_ in reversed(graph.order) if available.holds(level, id_)]
