"""Which nodes have surely ended with a value when another begins, and which may have been skipped.

A node begins once all that leads to it is settled and some of it is alive. So what runs whenever one of its sources
does runs before it: both arms that a node sets off, or what all arms of a branch come to.
"""

from app.domain.workflows.document import JoinNode, Node, NoteNode, ports
from app.domain.workflows.graph import Graph


class Availability:
    """What surely ended with a value when a node begins. Sets of nodes are the bits of numbers."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._bits = {id_: 1 << place for id_, place in graph.places.items()}
        self._forced: dict[str, int] = {}
        self._ancestors, self._settled, self._runs = (dict.fromkeys(graph.places, 0) for _ in range(3))
        self._forced_at: dict[tuple[str, str], int] = {}
        for id_ in reversed(graph.order):
            self._forced[id_] = self._bits[id_] | self._forced_by(id_)
        for id_ in graph.order:
            self._place(id_)

    def before(self, id_: str) -> int:
        """The nodes from which edges lead to it."""
        return self._ancestors[id_]

    def before_each_other(self, one: str, other: str) -> bool:
        return self.holds(self._ancestors[one], other) or self.holds(self._ancestors[other], one)

    def sure(self, id_: str) -> int:
        """Those of them that have ended with a value whenever it begins."""
        return self._ancestors[id_] & self._settled[id_] & self._runs[id_]

    def body(self, scope: str) -> int:
        nodes = self._graph.nodes
        return sum(self._bits[id_] for id_ in self._graph.bodies.get(scope, ()) if not isinstance(nodes[id_], NoteNode))

    def sure_in(self, scope: str) -> int:
        """The nodes of its body that end with a value in each round."""
        sure = 0
        for id_ in self._graph.bodies.get(scope, ()):
            sure |= 0 if self._graph.before[id_] else self._forced.get(id_, 0)
        return sure & self.body(scope) & ~self._cancelled_in(scope)

    def _cancelled_in(self, scope: str) -> int:
        """The nodes of its body that a join may cancel, as it begins with fewer than lead to it."""
        graph, cancelled = self._graph, 0
        for id_ in graph.bodies.get(scope, ()):
            node = graph.nodes[id_]
            if isinstance(node, JoinNode) and node.cancel_rest:
                before = sum(self._bits[one] for one in graph.only_before(id_))
                cancelled |= before & ~self._settled[id_]
        return cancelled

    def holds(self, nodes: int, id_: str) -> bool:
        return bool(nodes & self._bits[id_])

    def _forced_by(self, id_: str) -> int:
        """The nodes that run whenever this one does, at whichever of its ports it goes on."""
        for edge in self._graph.after[id_]:
            forced = 0 if needed(self._graph.nodes[edge.target]) > 1 else self._forced[edge.target]
            self._forced_at[id_, edge.port] = self._forced_at.get((id_, edge.port), 0) | forced
        common = -1
        for port in ports(self._graph.nodes[id_]):
            common &= self._forced_at.get((id_, port), 0)
        return max(common, 0)

    def _place(self, id_: str) -> None:
        edges = self._graph.before[id_]
        some, settled = needed(self._graph.nodes[id_]) > 0, -1 if edges else 0
        runs = -1 if edges else 0
        together = 0
        for edge in edges:
            self._ancestors[id_] |= self._ancestors[edge.source] | self._bits[edge.source]
            settled &= self._settled[edge.source]
            together |= self._settled[edge.source]
            runs &= self._runs[edge.source] | self._forced_at.get((edge.source, edge.port), 0)
        self._settled[id_] = (settled if some else together) | self._bits[id_]
        self._runs[id_] = runs | self._forced[id_]


def needed(node: Node) -> int:
    """How many live edges a join begins with; 0 for a node that waits until all are settled."""
    if not isinstance(node, JoinNode) or node.need == "all":
        return 0
    return 1 if node.need == "any" else node.need
