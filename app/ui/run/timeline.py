"""A run as its five kinds of step, in order: cards for a short one, a list with one opened step for a long one."""

from collections.abc import Callable

from nicegui import ui

from app.domain.trace import Step
from app.ui.elements.format import plural
from app.ui.elements.markup import tag
from app.ui.run.step_list import StepList
from app.ui.run.timeline_cards import CardContext, StepCard
from app.ui.run.trace_growth import RunSoFar

SHORT = 60
"""Steps up to which each has a card."""


class Timeline:
    def __init__(
        self, run: RunSoFar, context: CardContext, *, wanted: int | None, on_choose: Callable[[Step], None]
    ) -> None:
        """`wanted`: the index of the step to show first; `on_choose` is told which one somebody opens."""
        self._run = run
        self._context = context
        self._on_choose = on_choose
        self._wanted = wanted
        self._shown = 0
        self._marked = 0
        self._alive = False
        self._cards: list[StepCard] = []
        self._calls: dict[str, StepCard] = {}
        self._list: StepList | None = None
        self._reading = False
        self._count = ui.html(sanitize=False).classes("muted trace-count")
        self._place = ui.element("div").classes("timeline")

    def show(self, *, alive: bool, reading: bool = False) -> None:
        """Show the steps that have come since the last time; `reading`: those behind them are still read."""
        self._reading = reading
        if len(self._run.steps) > SHORT:
            self._show_list(alive=alive)
        else:
            self._show_cards(alive=alive)
        self._shown, self._alive = len(self._run.steps), alive

    def go(self, index: int) -> None:
        """Open the step with that index, and bring it into view; `on_choose` is not told."""
        if self._list is not None:
            self._list.pane.go(index)
            return
        if self._wanted is not None and self._wanted < len(self._cards):
            self._cards[self._wanted].classes(remove="is-wanted")
        self._wanted = index
        if index < len(self._cards):
            _bring(self._cards[index])

    def _show_cards(self, *, alive: bool) -> None:
        self._count.set_content(tag("span", plural(len(self._run.steps), "step")))
        for index in range(self._shown, len(self._run.steps)):
            step = self._run.steps[index]
            self._show_marks(before=step.seq)
            with self._place:
                card = StepCard(step, self._context, alive=alive)
            self._cards.append(card)
            self._keep_call(step, card, alive=alive)
            if index == self._wanted:
                _bring(card)
        self._show_marks(before=len(self._run.entries))
        if alive != self._alive:
            for card in self._calls.values():
                card.show_call(alive=alive)

    def _show_marks(self, *, before: int) -> None:
        """Show the marks of entries before that one which are not shown yet."""
        marks = [mark for mark in self._run.marks[self._marked :] if mark.seq < before]
        self._marked += len(marks)
        for mark in marks:
            with self._place:
                ui.html(mark.html, sanitize=False)

    def _keep_call(self, step: Step, card: StepCard, *, alive: bool) -> None:
        """Remember the card of a call until its result comes."""
        if step.call is None:
            return
        if step.type == "tool-call":
            self._calls[step.call.call_id] = card
        elif asked := self._calls.pop(step.call.call_id, None):
            asked.show_call(alive=alive)

    def _show_list(self, *, alive: bool) -> None:
        number = len(self._run.steps)
        words = f"{plural(number, 'step')}. The list loads them as you scroll; the chosen one is shown in full."
        if self._reading:
            words = f"The first {plural(number, 'step')}; the others are still read…"
        self._count.set_content(tag("span", words))
        if self._list is not None:
            self._list.show(alive=alive)
            return
        self._calls.clear()
        self._cards.clear()
        self._place.clear()
        with self._place:
            self._list = StepList(
                self._run, self._context, chosen=self._wanted or 0, alive=alive, on_choose=self._chosen
            )

    def _chosen(self, index: int) -> None:
        self._on_choose(self._run.steps[index])


def _bring(card: StepCard) -> None:
    card.classes("is-wanted")
    card.run_method("scrollIntoView", {"block": "center"})
