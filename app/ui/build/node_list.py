"""The workflow as a list, in the order in which its nodes may begin, bodies below what repeats them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from nicegui import ui

from app.domain.workflows.document import NEXT, Node, Workflow, ports
from app.domain.workflows.graph import Graph
from app.domain.workflows.references import Fault
from app.ui.elements.buttons import icon_action
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.visible import visible
from app.ui.graph.node_words import KINDS
from app.ui.graph.words import line_of, title_of


class NodeList(ui.element):
    """`on_act` gets what is clicked and the node's id: choose, add, connect, duplicate or remove."""

    def __init__(self, on_act: Callable[[str, list[object]], object]) -> None:
        super().__init__("div")
        self.classes("workflow-list").props("data-testid=workflow-list")
        with self:
            self._rows = LiveHtml()
            on_click_of(self._rows, "action", self._clicked, along=("node",))
        self._on_act = on_act

    def show(
        self,
        workflow: Workflow,
        faults: Sequence[Fault],
        chosen: Collection[str],
        states: Mapping[str, str],
        pinned: Collection[str] = (),
    ) -> None:
        """List its nodes; `states` says in words how those of a run stand, `pinned` names those with a pinned value."""
        counted = Counter(fault.node for fault in faults if fault.severity != "info")
        nodes = workflow.by_id()
        rows = [
            _row(
                node,
                workflow,
                nodes,
                depth=depth,
                faults=counted[node.id],
                chosen=node.id in chosen,
                state=states.get(node.id, ""),
                pinned=node.id in pinned,
            )
            for node, depth in in_order(workflow)
        ]
        nothing = tag("p", "No nodes yet. Add one.", cls="faint")
        self._rows.show(tag("ol", *rows) if rows else nothing)

    def hide(self) -> None:
        """Show nothing: another view stands in its place."""
        self._rows.show(Html(""))

    def _clicked(self, action: str, node: str) -> object:
        match action:
            case "choose":
                return self._on_act("choose", [node])
            case "add":
                return self._on_act("add", [node, ""])
            case "connect":
                return self._on_act("open", [node])
            case _:
                return self._on_act(action, [node])


def in_order(workflow: Workflow) -> Iterator[tuple[Node, int]]:
    """Its nodes, each with how deep in boxes it stands."""
    graph, nodes = Graph(workflow), workflow.by_id()
    placed = {id_: place for place, id_ in enumerate(dict.fromkeys((*graph.order, *nodes)))}

    def body(scope: str, depth: int) -> Iterator[tuple[Node, int]]:
        for id_ in sorted(graph.bodies.get(scope, ()), key=placed.__getitem__):
            yield nodes[id_], depth
            if depth < len(nodes) and id_ != scope:
                yield from body(id_, depth + 1)

    seen = dict(enumerate(body("", 0)))
    yield from seen.values()
    shown = {node.id for node, _ in seen.values()}
    yield from ((node, 0) for node in nodes.values() if node.id not in shown)  # in a scope that is none


def _row(
    node: Node,
    workflow: Workflow,
    nodes: Mapping[str, Node],
    *,
    depth: int,
    faults: int,
    chosen: bool,
    state: str,
    pinned: bool,
) -> Html:
    title, _, _ = KINDS[node.kind]
    name = visible(title_of(node))
    marks = tag("span", icon("error_outline"), plural(faults, "fault"), cls="mark is-bad") if faults else ""
    return tag(
        "li",
        icon(KINDS[node.kind][1], "faint"),
        tag(
            "button",
            tag("strong", name),
            tag("span", f"{title} · {visible(line_of(node))}", cls="faint truncate"),
            tag("span", _leads(node, workflow, nodes), cls="faint"),
            cls="node-row-open",
            data_action="choose",
            data_key=node.id,
            aria_current="true" if chosen else None,
        ),
        marks,
        tag("span", icon("push_pin"), "Pinned", cls="chip is-warn") if pinned else "",
        tag("span", state, cls="chip") if state else "",
        icon_action("add", "add", f"Add a node after {name}", testid="list-add", of=node.id),
        icon_action("connect", "tune", f"Settings and edges of {name}", testid="list-open", of=node.id),
        icon_action("remove", "delete_outline", f"Remove {name}", testid="list-remove", of=node.id),
        cls="node-row is-chosen" if chosen else "node-row",
        style=f"margin-left: {min(depth, 8) * 24}px",
        data_node=node.id,
        data_testid="workflow-node",
    )


def _leads(node: Node, workflow: Workflow, nodes: Mapping[str, Node]) -> str:
    """Where it leads, port by port."""
    several = len(ports(node)) > 1
    found = [
        (f"{edge.port}: " if several or edge.port != NEXT else "") + title_of(nodes[edge.target])
        for edge in workflow.edges
        if edge.source == node.id and edge.target in nodes
    ]
    return visible("→ " + ", ".join(found)) if found else ""
