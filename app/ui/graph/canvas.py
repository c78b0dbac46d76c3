"""The workflow as boxes and curves; the browser is sent what differs from what it has."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

from nicegui import events, ui

from app.domain.workflows.document import Edge, Node, Workflow, ports
from app.domain.workflows.layout import EDGE, HEAD, HEIGHT, WIDTH
from app.domain.workflows.references import Fault
from app.ui.elements.visible import visible
from app.ui.graph.node_words import KINDS
from app.ui.graph.words import line_of, title_of

SIZES = {
    "wide": WIDTH,
    "tall": HEIGHT,
    "row": 24,  # of a port
    "pad": EDGE,
    "scopeWide": WIDTH + 2 * EDGE,
    "scopeTall": HEAD + HEIGHT + EDGE,
}
"""Pixels at full size, as the layout has them."""
NodeRow = list[str | float | list[str]]
"""Id, kind, title, left and top edge, scope, ports, what it does, how many faults, whether a value is pinned."""
EdgeRow = list[str]
"""Id, source, port, target."""
NodeState = tuple[str, str, str]
"""Id, state, and that in words; an empty state for a node that is as it was drawn."""
Act = Callable[[str, list[object]], Awaitable[None]]


def edge_id(edge: Edge) -> str:
    return f"{edge.source}|{edge.port}|{edge.target}"


def node_row(node: Node, faults: int, *, pinned: bool = False) -> NodeRow:
    title, line = visible(title_of(node)), visible(line_of(node))
    return [node.id, node.kind, title, node.x, node.y, node.scope, list(ports(node)), line, faults, pinned]


def edge_row(edge: Edge) -> EdgeRow:
    return [edge_id(edge), edge.source, edge.port, edge.target]


class Canvas(ui.element, component="canvas.js"):
    """`on_act` gets each gesture's name and what it is about; `show` answers with what it made of the document."""

    def __init__(self, workflow: Workflow, faults: Sequence[Fault], on_act: Act, *, fixed: bool = False) -> None:
        """`fixed`: it is looked at only."""
        super().__init__()
        self._props["fixed"] = fixed
        self._on_act = on_act
        self._nodes = _nodes(workflow, faults)
        self._edges = _edges(workflow)
        self._props["nodes"] = list(self._nodes.values())
        self._props["edges"] = list(self._edges.values())
        self._props["sizes"] = SIZES
        self._props["icons"] = {kind: icon for kind, (_, icon, _) in KINDS.items()}
        self.on("act", self._act)

    def show(self, workflow: Workflow, faults: Sequence[Fault], pinned: Collection[str] = ()) -> None:
        """Send what differs; a node that is being dragged takes it at the drop."""
        nodes, edges = _nodes(workflow, faults, pinned), _edges(workflow)
        gone = [*(self._nodes.keys() - nodes.keys()), *(self._edges.keys() - edges.keys())]
        changed = [row for id_, row in nodes.items() if self._nodes.get(id_) != row]
        added = [row for id_, row in edges.items() if id_ not in self._edges]
        self._nodes, self._edges = nodes, edges
        if gone or changed or added:
            self.run_method("put", changed, added, gone)

    def refuse(self, workflow: Workflow, faults: Sequence[Fault], pinned: Collection[str] = ()) -> None:
        """Put back what the browser moved by itself and is not so."""
        nodes = _nodes(workflow, faults, pinned)
        self._nodes = nodes
        self.run_method("put", list(nodes.values()), [], [])

    def choose(self, ids: Iterable[str]) -> None:
        self.run_method("choose", list(ids), True)

    def reveal(self, node: str) -> None:
        """Choose the node and bring it into view."""
        self.run_method("reveal", node, True)

    def fit(self) -> None:
        """Show all nodes; nothing where the canvas is not seen."""
        self.run_method("fit")

    def say(self, words: str) -> None:
        """Tell it to who does not see it."""
        self.run_method("say", words)

    def show_states(self, nodes: Sequence[NodeState], edges: Sequence[tuple[str, str]] = ()) -> None:
        """How the nodes of a run stand, and which edges it took (`taken`) or will not (`dead`)."""
        if nodes or edges:
            self.run_method("states", nodes, edges)

    async def _act(self, event: events.GenericEventArguments) -> None:
        name, arguments = event.args
        if name == "move":  # it stands there in the browser: what comes of it is sent where that is another place
            for id_, *place in arguments[0]:
                if id_ in self._nodes:
                    self._nodes[id_] = [*self._nodes[id_][:3], *place, *self._nodes[id_][6:]]
        await self._on_act(str(name), list(arguments))


def _nodes(workflow: Workflow, faults: Sequence[Fault], pinned: Collection[str] = ()) -> dict[str, NodeRow]:
    counted = Counter(fault.node for fault in faults if fault.severity != "info")
    return {node.id: node_row(node, counted[node.id], pinned=node.id in pinned) for node in workflow.nodes}


def _edges(workflow: Workflow) -> dict[str, EdgeRow]:
    ids = {node.id for node in workflow.nodes}
    return {edge_id(edge): edge_row(edge) for edge in workflow.edges if edge.source in ids and edge.target in ids}
