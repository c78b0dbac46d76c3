"""What the chosen node was given and gave in the run on the canvas, in whichever round."""

from nicegui import events, ui

from app.domain.trace import NodeRun, NodeRuns
from app.domain.workflows.document import Node
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import joined, tag
from app.ui.elements.visible import visible
from app.ui.graph.node_values import values_of
from app.ui.graph.node_words import state_words
from app.ui.schema_form.simple import options_of

MOST_ROUNDS = 200
"""Rounds that can be chosen from; more are on the run's own page."""


class RunValues(ui.element):
    def __init__(self) -> None:
        super().__init__("section")
        self.classes("run-values").props('aria-label="The node in the run" data-testid=node-values')
        self._runs = NodeRuns()
        self._node = ""
        self._chosen = self._named = ""
        self._offered: dict[str, str] = {}
        """By the words of a round its call."""
        with self:
            with ui.element("div"):
                self._box = ui.html(sanitize=False, tag="select").classes("select-box")
            self._box.props("aria-label=Round data-testid=node-round")
            # By its words: more rounds may have come since, which stand before it.
            self._box.on("change", self._picked, js_handler="(event) => emit(event.target.value)")
            self._shown = LiveHtml()
        self.visible = False

    def show(self, node: Node | None, runs: NodeRuns | None = None) -> None:
        """Show that node, and the nodes of another run or moment where these are given."""
        self._runs = runs or self._runs
        id_ = node.id if node else ""
        if id_ != self._node:
            self._node, self._chosen = id_, ""
        self._show()

    def _show(self) -> None:
        rounds = [run for run in self._runs.by_call.values() if run.node == self._node]
        self.visible = bool(rounds)
        if rounds:
            shown = next((one for one in rounds if one.call_id == self._chosen), rounds[-1])
            self._offer(rounds, shown)
            self._show_round(shown)

    def _show_round(self, run: NodeRun) -> None:
        head = tag("h3", "In the run on the canvas", cls="field-title")
        self._shown.show(joined(head, tag("p", visible(state_words(run)), cls="faint"), values_of(run)))

    def _offer(self, rounds: list[NodeRun], shown: NodeRun) -> None:
        """The newest first: the last one is what is shown before somebody chooses. What is shown is always offered."""
        offered = {visible(one.round_words or one.label): one.call_id for one in rounds[: -MOST_ROUNDS - 1 : -1]}
        named = visible(shown.round_words or shown.label)
        offered |= {named: shown.call_id}
        if (offered, named) != (self._offered, self._named):
            self._offered, self._named = offered, named
            self._box.set_content(options_of(list(offered), list(offered).index(named)))
            self._box.visible = len(offered) > 1

    def _picked(self, event: events.GenericEventArguments) -> None:
        self._chosen = self._offered.get(str(event.args), "")
        self._show()
