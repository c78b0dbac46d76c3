"""The nodes of a workflow to look at: they light up while a run goes on."""

import asyncio
from collections.abc import Sequence

from nicegui import ui

from app.domain.events import Entry
from app.domain.workflows.document import Node, NoteNode, Workflow
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import visible
from app.ui.graph.canvas import Canvas, NodeState
from app.ui.graph.node_values import values_of
from app.ui.graph.node_words import KINDS, state_words
from app.ui.graph.run_states import RunStates
from app.ui.graph.words import title_of

LISTED = 60
SYMBOLS = {
    "running": "sync",
    "done": "check_circle",
    "failed": "error",
    "skipped": "redo",
    "waiting": "pan_tool",
    "cancelled": "block",
}


class RunGraph(ui.element):
    """A node that is chosen says below what it was given and gave in the run."""

    def __init__(self, workflow: Workflow) -> None:
        super().__init__("div")
        self.classes("run-graph").props("data-testid=run-graph")
        self._workflow = workflow
        self._chosen = self._followed = ""
        with self:
            self._canvas = Canvas(workflow, (), self._act, fixed=True)
            self._list = on_click_of(ui.html(sanitize=False, tag="ul").classes("run-nodes"), "node", self._choose)
            self._values = ui.html(sanitize=False).classes("run-values").props("role=status")
        self._values.visible = False
        self._words: dict[str, tuple[str, str]] = {}
        self._states = RunStates(self._show_states)
        self._show_list()

    def show(self, workflow: Workflow) -> None:
        """Show these nodes: another variant is talked to."""
        if workflow != self._workflow:
            self._workflow = workflow
            self._canvas.show(workflow, ())
            self._show_list()

    async def follow(self, run_id: str, entries: Sequence[Entry]) -> None:
        """Show how the nodes stand in that run; what is known already is not looked at again."""
        self._followed = run_id
        while self._followed == run_id and not self.is_deleted and self._states.follow(run_id, entries):
            self._show_values()
            await asyncio.sleep(0)

    async def _act(self, name: str, told: list[object]) -> None:
        if name == "choose":  # Enter opens what is chosen, and shown, already
            self._choose(str(told[0]) if told else "")

    def _choose(self, node: str) -> None:
        self._chosen = node
        self._show_values()

    def _show_states(self, nodes: list[NodeState], edges: list[tuple[str, str]]) -> None:
        self._canvas.show_states(nodes, edges)
        self._words |= {id_: (state, words) for id_, state, words in nodes}
        self._show_list()

    def _show_list(self) -> None:
        """The same in words: on the canvas they may be too small to be read."""
        shown = [node for node in self._workflow.nodes if not isinstance(node, NoteNode)]
        rows = [tag("li", self._row(node)) for node in shown[:LISTED]]
        if (more := len(shown) - LISTED) > 0:
            rows.append(tag("li", f"And {plural(more, 'more node')}; the canvas has them all.", cls="faint"))
        self._list.set_content(joined(*rows))

    def _row(self, node: Node) -> Html:
        state, words = self._words.get(node.id, ("", ""))
        named = tag("span", visible(title_of(node)), cls="truncate")
        symbol = icon(SYMBOLS.get(state, KINDS[node.kind][1]), "faint")
        said = tag("span", visible(words) or "Not yet", cls="faint truncate")
        return tag("button", symbol, named, said, cls=f"run-node is-{state or 'new'}", data_node=node.id)

    def _show_values(self) -> None:
        run = self._states.runs.latest.get(self._chosen)
        self._values.visible = run is not None
        if run is not None:
            words = tag("p", tag("strong", visible(run.label)), " ", visible(state_words(run)))
            self._values.set_content(joined(words, values_of(run)))
