"""Nodes that may run beside each other and write the same file: which of them is last is left to chance."""

from itertools import combinations

from app.domain.workflows.document import FixedValue, Node, ToolNode, ports, titled
from app.domain.workflows.graph import Graph
from app.domain.workflows.references import Checking


def check_writes(check: Checking) -> None:
    """Warn of the first such pair for each path."""
    writers: dict[str, list[Node]] = {}
    for node in check.graph.nodes.values():
        if path := _written(check, node):
            writers.setdefault(path, []).append(node)
    for path, nodes in writers.items():
        pairs = combinations(nodes[:20], 2)
        if pair := next(((one, other) for one, other in pairs if _beside(check, one, other)), None):
            words = f"and {titled(pair[0])} may write {path} at the same time."
            check.add(pair[1], "arguments.path", f"{words} Connect the two, or choose another path.", "warning")


def _written(check: Checking, node: Node) -> str:
    tool = check.world.tools.get(node.tool) if isinstance(node, ToolNode) else None
    if tool is None or not isinstance(node, ToolNode) or not tool.side_effects:
        return ""
    path = node.arguments.get("path")
    return path.value if isinstance(path, FixedValue) and isinstance(path.value, str) else ""


def _beside(check: Checking, one: Node, other: Node) -> bool:
    """Whether both may run, and neither comes before the other in the body that holds both."""
    available, graph = check.available, check.graph
    for mine in (one.id, *graph.chain(one.scope)):
        for theirs in (other.id, *graph.chain(other.scope)):
            if mine != theirs and graph.nodes[mine].scope == graph.nodes[theirs].scope:
                ordered = available.before_each_other(mine, theirs)
                return not ordered and not _in_arms(graph, mine, theirs)
    return False


def _in_arms(graph: Graph, one: str, other: str) -> bool:
    """Whether they are reached by different ports of a node that goes on at one of them."""
    for source, edges in graph.after.items():
        if len(ports(graph.nodes[source])) > 1:
            arms = {edge.port: set[str]() for edge in edges}
            for edge in edges:
                arms[edge.port] |= graph.reached([edge.target])
            mine, theirs = ({port for port, arm in arms.items() if id_ in arm} for id_ in (one, other))
            if mine and theirs and not mine & theirs:
                return True
    return False
