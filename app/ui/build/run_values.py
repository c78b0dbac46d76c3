"""What the chosen node was given and gave in the run on the canvas, in whichever round."""

from nicegui import events, ui

from app.domain.trace import NodeRun, NodeRuns
from app.domain.workflows.document import Node
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import joined, tag
from app.ui.elements.visible import visible
from app.ui.graph.node_values import values_of
from app.ui.graph.node_words import state_words
from app.ui.schema_form.simple import select_box

MOST_ROUNDS = 200
"""Rounds that can be chosen from; more are on the run's own page."""


class RunValues(ui.element):
    def __init__(self) -> None:
        super().__init__("section")
        self.classes("run-values").props('aria-label="The node in the run" data-testid=node-values')
        self._runs = NodeRuns()
        self._node = ""
        self._chosen = ""
        self._offered: list[str] = []
        with self:
            self._picks = ui.element("div")
            self._shown = LiveHtml()
        self.visible = False

    def show(self, node: Node | None, runs: NodeRuns | None = None) -> None:
        """Show that node, and the nodes of another run or moment where these are given."""
        self._runs = runs or self._runs
        id_ = node.id if node else ""
        if id_ != self._node:
            self._node, self._chosen, self._offered = id_, "", []  # its box begins anew
        rounds = [run for run in self._runs.by_call.values() if run.node == id_]
        self.visible = bool(rounds)
        if not rounds:
            return
        self._show_picks(rounds)
        self._show_round(next((one for one in rounds if one.call_id == self._chosen), rounds[-1]))

    def _show_round(self, run: NodeRun) -> None:
        head = tag("h3", "In the run on the canvas", cls="field-title")
        self._shown.show(joined(head, tag("p", visible(state_words(run)), cls="faint"), values_of(run)))

    def _show_picks(self, rounds: list[NodeRun]) -> None:
        """The newest first: the last one is what is shown before somebody chooses."""
        newest = rounds[: -MOST_ROUNDS - 1 : -1]
        offered = [one.call_id for one in newest]
        if offered == self._offered:
            return
        self._offered = offered
        self._picks.clear()
        if len(offered) > 1:
            words = [visible(one.round_words or one.label) for one in newest]
            place = offered.index(self._chosen) if self._chosen in offered else 0
            with self._picks:
                select_box("Round", words, place, self._picked).props("data-testid=node-round")

    def _picked(self, event: events.GenericEventArguments) -> None:
        self._chosen = self._offered[int(event.args)]
        if (run := self._runs.by_call.get(self._chosen)) is not None:
            self._show_round(run)
