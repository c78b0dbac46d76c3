"""Nodes that may run beside each other and write the same file: which of them is last is left to chance."""

from itertools import combinations

from app.domain.workflows.document import FixedValue, Node, ToolNode, ports, titled
from app.domain.workflows.graph import Graph
from app.domain.workflows.references import Checking

MOST_PAIRS = 200


def check_writes(check: Checking) -> None:
    """Warn of the first such pair for each path."""
    writers: dict[str, list[Node]] = {}
    for node in check.graph.nodes.values():
        if path := _written(check, node):
            writers.setdefault(path, []).append(node)
    arms: list[_Arms] = []
    pairs = [(path, *pair) for path, nodes in writers.items() for pair in combinations(nodes, 2)][:MOST_PAIRS]
    told: set[str] = set()
    for path, one, other in pairs:
        arms = arms or _all_arms(check.graph)
        if path not in told and _beside(check, arms, one, other):
            told.add(path)
            words = f"and {titled(one)} may write {path} at the same time."
            check.add(other, "arguments.path", f"{words} Connect the two, or choose another path.", "warning")


def _written(check: Checking, node: Node) -> str:
    tool = check.world.tools.get(node.tool) if isinstance(node, ToolNode) else None
    if tool is None or not isinstance(node, ToolNode) or not tool.side_effects:
        return ""
    path = node.arguments.get("path")
    return path.value if isinstance(path, FixedValue) and isinstance(path.value, str) else ""


def _beside(check: Checking, arms: "list[_Arms]", one: Node, other: Node) -> bool:
    """Whether both may run, and neither comes before the other in the body that holds both."""
    available, graph = check.available, check.graph
    for mine in (one.id, *graph.chain(one.scope)):
        for theirs in (other.id, *graph.chain(other.scope)):
            if mine != theirs and graph.nodes[mine].scope == graph.nodes[theirs].scope:
                apart = any(_in_different(ports_, mine, theirs) for ports_ in arms)
                return not apart and not available.before_each_other(mine, theirs)
    return False


_Arms = dict[str, set[str]]
"""By port of a node that goes on at one of them: the nodes that it leads to."""


def _all_arms(graph: Graph) -> list[_Arms]:
    found: list[_Arms] = []
    for source, edges in graph.after.items():
        if len(ports(graph.nodes[source])) > 1:
            targets: dict[str, list[str]] = {}
            for edge in edges:
                targets.setdefault(edge.port, []).append(edge.target)
            found.append({port: graph.reached(starts) for port, starts in targets.items()})
    return found


def _in_different(arms: _Arms, one: str, other: str) -> bool:
    mine, theirs = ({port for port, arm in arms.items() if id_ in arm} for id_ in (one, other))
    return bool(mine and theirs and not mine & theirs)
