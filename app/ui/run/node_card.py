"""A node of a workflow in a run: what it was given, the calls of its tool, the runs that it started, what it gave."""

import asyncio
from collections.abc import Callable

from nicegui import background_tasks, ui

from app.domain.messages import FilePart
from app.domain.trace import NodeRun
from app.ui.conversation.artifact_buttons import artifact_buttons, hear_artifact_buttons
from app.ui.conversation.task_line import TaskOf
from app.ui.conversation.tool_body import cut
from app.ui.conversation.tool_card import ToolCard
from app.ui.elements.format import dollars
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.visible import visible
from app.ui.graph.node_values import value_box
from app.ui.graph.node_words import kind_words, state_words
from app.ui.run.card_context import CardContext

LOOK_SECONDS = 0.5
SHOWN_INSIDE = 50
"""Calls and runs of one node that are shown; a node that is tried again has few."""


class NodeBody(ui.element):
    """Follows its node until that has ended; `on_change` is told whenever there is something new of it."""

    def __init__(self, run: NodeRun, context: CardContext, *, alive: bool, on_change: Callable[[], None]) -> None:
        super().__init__("div")
        self._run, self._context, self._on_change = run, context, on_change
        self._seen: tuple[object, ...] = ()
        self._cards: dict[str, ToolCard] = {}
        self._children = 0
        self.classes("node-body stack")
        with self:
            self._given = LiveHtml()
            self._inside = ui.element("div").classes("stack")
            self._gave = LiveHtml()
            self._timer = ui.timer(LOOK_SECONDS, self.show, immediate=False, active=alive and not run.ended)
        hear_artifact_buttons(self, context.contents)
        background_tasks.create(self.show(), name="show a node", context=self)

    async def show(self) -> None:
        """Show it as it is known now."""
        run = self._run
        seen = (run.state, run.attempt, run.done, len(run.pauses), len(run.children), *_calls(run))
        if seen == self._seen:
            return
        self._seen = seen
        self._timer.active = self._timer.active and not run.ended
        self._on_change()
        self._given.show(await asyncio.to_thread(_given, run))
        await self._show_inside()
        self._gave.show(await asyncio.to_thread(_gave, run) if run.ended else Html(""))

    async def _show_inside(self) -> None:
        for call in [*self._run.calls.values()][:SHOWN_INSIDE]:
            if card := self._cards.get(call.call_id):
                await card.show(call)
            else:
                with self._inside:
                    spec, contents = self._context.run.specs.get(call.name), self._context.contents
                    self._cards[call.call_id] = ToolCard(call, spec, contents)
        for child in self._run.children[self._children : SHOWN_INSIDE]:
            if self._context.child_run is not None:
                with self._inside:
                    self._context.child_run(child)
        self._children = len(self._run.children)


def node_note(run: NodeRun, task_of: TaskOf, *, alive: bool) -> str:
    """`Tool, done in 1.2 s, $0.01`: its kind, how it stands, and what the runs that it started cost."""
    states = [task_of(child) for child in run.children]
    known = [state for state in states if state is not None]
    cost = dollars(sum(state.cost for state in known), unpriced=any(state.unpriced for state in known)) if known else ""
    words = state_words(run, alive=alive)
    return ", ".join(filter(None, (kind_words(run), words[:1].lower() + words[1:], cost)))


def _calls(run: NodeRun) -> tuple[str, ...]:
    return tuple(call.state for call in run.calls.values())


def _given(run: NodeRun) -> Html:
    """Its inputs, unless its tool was called with them."""
    if not run.inputs or run.calls:
        return Html("")
    return joined(value_box("Given", run.inputs, testid="node-inputs"), _whole(run.whole_inputs))


def _gave(run: NodeRun) -> Html:
    error = tag("div", visible(cut(run.error.text)), cls="tool-error", data_testid="node-error") if run.error else ""
    if run.as_returned or (run.value is None and run.whole_output is None):
        return joined(error)
    return joined(error, value_box("Gave", run.value, testid="node-output"), _whole(run.whole_output))


def _whole(file: FilePart | None) -> Html:
    return joined(tag("p", "All of it is in a file.", cls="faint"), artifact_buttons(file)) if file else Html("")
