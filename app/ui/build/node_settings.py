"""The settings of the chosen node: its own fields by kind, what all have, and the edges that lead from it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from nicegui import ui

from app.domain.workflows.document import InputNode, Node, NoteNode, OutputNode, Scope, Workflow, Working, ports
from app.domain.workflows.references import Fault
from app.ui.build.node_fields import Around, failing, own_fields
from app.ui.build.sheet import Changed, Sheet
from app.ui.elements.buttons import icon_button
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.visible import visible
from app.ui.graph.node_words import KINDS
from app.ui.graph.words import title_of

Act = Callable[[str, list[object]], object]


class NodeSettings(ui.element):
    """`on_change` gets what a node is made, `on_act` what is done with it, as the canvas tells it."""

    def __init__(self, on_change: Changed, on_act: Act) -> None:
        super().__init__("section")
        self.classes("node-settings").props('aria-label="Settings of the node" data-testid=node-settings')
        self._on_change, self._on_act = on_change, on_act
        self._sheet: Sheet | None = None
        self._edges: ui.element | None = None
        self._edges_shown: object = None

    @property
    def node(self) -> str:
        """The id of the node that is shown; empty for none."""
        return self._sheet.node.id if self._sheet else ""

    def show(self, node: Node | None, workflow: Workflow, around: Around, faults: Sequence[Fault]) -> None:
        """Show that node, `None` for none; its boxes stay while they say what it says."""
        shown = self._sheet.node if self._sheet else None
        if node is None or shown is None or shown.model_copy(update={"x": node.x, "y": node.y}) != node:
            self.draw(node, workflow, around)
        else:
            self._show_edges(node, workflow)
        if self._sheet is not None and node is not None:
            self._sheet.show_faults([fault for fault in faults if fault.node == node.id])

    def wrote(self, node: Node) -> None:
        """Its boxes say that node, though they may write it with a blank more."""
        if self._sheet is not None and self._sheet.node.id == node.id:
            self._sheet.node = node

    def draw(self, node: Node | None, workflow: Workflow, around: Around) -> None:
        """Build its boxes anew."""
        self.clear()
        self._sheet, self._edges, self._edges_shown = None, None, None
        with self:
            if node is None:
                words = "Choose a node to see its settings. Press A to add one, C to connect two."
                ui.html(tag("p", words, cls="faint"), sanitize=False)
                return
            self._build_head(node)
            self._sheet = sheet = Sheet(node, around.offers(node), self._on_change)
            with sheet:
                sheet.text("title", "Title", node.title)
                own_fields(sheet, node, around)
                if isinstance(node, Working):
                    failing(sheet, node)
                if not isinstance(node, NoteNode):
                    sheet.text("note", "Note", node.note, lines=True)
                sheet.note("")
            self._edges = ui.element("div").classes("node-edges")
            self._show_edges(node, workflow)

    def focus(self) -> None:
        """Go to its first box."""
        self.client.run_javascript(f"setTimeout(() => getHtmlElement({self.id})?.querySelector('input')?.focus())")

    def _build_head(self, node: Node) -> None:
        title, symbol, meaning = KINDS[node.kind]
        with ui.element("div").classes("row-line node-settings-head"):
            head = tag("h2", icon(symbol), title, " ", tag("code", node.id), title=meaning, cls="section-title")
            ui.html(head, sanitize=False).classes("grow")
            icon_button("add", "Add a node after this one", partial(self._act, "add", node.id, ""), testid="add-after")
            icon_button("content_copy", "Duplicate", partial(self._act, "duplicate", node.id), testid="duplicate-node")
            icon_button("delete_outline", "Remove", partial(self._act, "remove", node.id), testid="remove-node")

    def _act(self, name: str, *arguments: object) -> object:
        return self._on_act(name, list(arguments))

    def _show_edges(self, node: Node, workflow: Workflow) -> None:
        if self._edges is None:
            return
        nodes = workflow.by_id()
        around = [(one.id, one.title, one.scope) for one in workflow.nodes]
        state = (node.scope, ports(node), workflow.edges, around)
        if state == self._edges_shown:
            return
        self._edges_shown = state
        self._edges.clear()
        with self._edges:
            self._build_scope(node, workflow)
            for port in ports(node):
                self._build_port(node, port, workflow, nodes)

    def _build_scope(self, node: Node, workflow: Workflow) -> None:
        scopes = {
            one.id: f"In {visible(title_of(one))}" for one in workflow.nodes if isinstance(one, Scope) and one != node
        }
        if scopes and self._sheet and not isinstance(node, InputNode | OutputNode):
            put: Callable[[str], object] = lambda scope: self._act("scope", node.id, scope)  # noqa: E731
            self._sheet.pick("Stands", {"": "In no box"} | scopes, node.scope, put, testid="node-scope")

    def _build_port(self, node: Node, port: str, workflow: Workflow, nodes: Mapping[str, Node]) -> None:
        after = [edge.target for edge in workflow.edges if edge.source == node.id and edge.port == port]
        several = len(ports(node)) > 1
        words = f"At {visible(port)}" if several else "Then"
        with ui.element("div").classes("row-line node-port"):
            ui.html(tag("span", words, cls="field-name"), sanitize=False)
            for target in after:
                called = visible(title_of(nodes[target])) if target in nodes else target
                with ui.element("span").classes("chip"):
                    ui.html(joined(icon("arrow_forward"), called), sanitize=False)
                    cut = partial(self._act, "disconnect", node.id, port, target)
                    icon_button("close", f"Take away the edge to {called}", cut).classes("chip-close")
        free = {
            one.id: visible(title_of(one))
            for one in workflow.nodes
            if one.id not in (*after, node.id) and one.scope == node.scope and not isinstance(one, InputNode | NoteNode)
        }
        if free and self._sheet:
            connect: Callable[[str], object] = lambda target: target and self._act("connect", node.id, port, target)  # noqa: E731
            label = f"Connect {words.lower()} to" if several else "Connect to"
            self._sheet.pick(label, {"": "Choose…"} | free, "", connect, testid="connect-to")
