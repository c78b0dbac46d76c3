"""Nodes that may run beside each other and write the same file: which of them is last is left to chance."""

from itertools import combinations, islice

from app.domain.workflows.document import FixedValue, Node, ToolNode, ports, titled
from app.domain.workflows.graph import Graph
from app.domain.workflows.references import Checking

MOST_PAIRS = 200
"""Of the writers of one path."""


def check_writes(check: Checking) -> None:
    """Warn of the first such pair for each path."""
    writers: dict[str, list[Node]] = {}
    for node in check.graph.nodes.values():
        if path := _written(check, node):
            writers.setdefault(path, []).append(node)
    arms: list[_Arms] = []
    for path, nodes in writers.items():
        for one, other in islice(combinations(nodes, 2), MOST_PAIRS):
            arms = arms or _all_arms(check.graph)
            if _beside(check, arms, one, other):
                words = f"and {titled(one)} may write {path} at the same time."
                check.add(other, "arguments.path", f"{words} Connect the two, or choose another path.", "warning")
                break


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
"""Of a node that goes on at one of its ports: by node, those that lead to it."""


def _all_arms(graph: Graph) -> list[_Arms]:
    found: list[_Arms] = []
    for source, edges in graph.after.items():
        if len(ports(graph.nodes[source])) > 1:
            targets: dict[str, list[str]] = {}
            for edge in edges:
                targets.setdefault(edge.port, []).append(edge.target)
            arms: _Arms = {}
            for port, starts in targets.items():
                for id_ in graph.reached(starts):
                    arms.setdefault(id_, set()).add(port)
            found.append(arms)
    return found


def _in_different(arms: _Arms, one: str, other: str) -> bool:
    return one in arms and other in arms and arms[one].isdisjoint(arms[other])
