"""A run as its five kinds of step, in order: cards for a short one, a list with one opened step for a long one."""

from collections.abc import Callable

from nicegui import ui

from app.domain.trace import Step
from app.ui.conversation.trace_marks import TraceMark
from app.ui.elements.format import plural
from app.ui.elements.markup import tag
from app.ui.run.card_context import CardContext
from app.ui.run.timeline_cards import StepCard
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trace_list import Line, ListAndPane
from app.ui.run.trace_words import step_line

SHORT = 60
"""Up to so many are shown as cards."""


class Timeline:
    def __init__(
        self,
        run: RunSoFar,
        context: CardContext,
        *,
        wanted: int | None,
        on_choose: Callable[[Step], None],
        short: int = SHORT,
    ) -> None:
        """`wanted`: the index of the card to show first; `on_choose` is told which one somebody opens.

        `short`: up to how many each has a card.
        """
        self._short = short
        self._run = run
        self._context = context
        self._on_choose = on_choose
        self._wanted = wanted
        self._shown = 0
        self._marked = 0
        self._sent = 0
        self._alive = False
        self._cards: list[StepCard] = []
        self._calls: dict[str, StepCard] = {}
        self._list: StepList | None = None
        self._reading = False
        self._edits = run.edits
        self._count = ui.html(sanitize=False).classes("muted trace-count")
        self._place = ui.element("div").classes("timeline")

    def show(self, *, alive: bool, reading: bool = False) -> None:
        """Show the steps that have come since the last time; `reading`: those behind them are still read."""
        self._reading = reading
        if self._edits is not self._run.edits:
            self._edits = self._run.edits
            self._forget_shown()
        if len(self._run.steps) > self._short:
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
        self._count.set_content(tag("span", self._counted()))
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
        if self._sent != len(self._run.sent):
            self._sent = len(self._run.sent)
            for card in self._cards:
                card.show_sent()
        if alive != self._alive:
            for card in self._calls.values():
                card.show_call(alive=alive)

    def _counted(self) -> str:
        """A step is what the model decided, with all that came of it, or a node; each of those has a card."""
        return f"{plural(len(self._run.decisions), 'step')}, told in {plural(len(self._run.steps), 'card')}"

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
        words = f"{self._counted()}. The list loads them as you scroll; the chosen one is shown in full."
        if self._reading:
            words = f"The first {plural(number, 'card')}; the others are still read…"
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

    def _forget_shown(self) -> None:
        """What a person edited became known after the first steps of a long run were shown."""
        self._shown = self._marked = 0
        self._calls.clear()
        self._cards.clear()
        self._place.clear()
        self._list = None

    def _chosen(self, index: int) -> None:
        self._on_choose(self._run.steps[index])


def _bring(card: StepCard) -> None:
    card.classes("is-wanted")
    card.run_method("scrollIntoView", {"block": "center"})


class StepList:
    def __init__(
        self, run: RunSoFar, context: CardContext, *, chosen: int, alive: bool, on_choose: Callable[[int], None]
    ) -> None:
        """`chosen`: the index of the step that is opened first; `on_choose` is told of each one opened here."""
        self._run = run
        self._context = context
        self._alive = alive
        self.pane = ListAndPane(
            len(run.steps),
            self._line,
            self._open,
            chosen=chosen,
            on_choose=on_choose,
            label="Cards of this run",
            testid="run-step",
            looks=self._looks,
        )

    def show(self, *, alive: bool) -> None:
        """Take in the steps that have come; while the run goes on, its end is followed."""
        self._alive = alive
        self.pane.grow(len(self._run.steps), follow=alive)

    def _looks(self, index: int) -> object:
        """Whether it may still end; a node follows itself until it has."""
        step = self._run.steps[index]
        waits = step.type == "tool-call" and step.call is not None and step.call.result is None
        return self._alive and (waits or step.node is not None), waits

    def _line(self, index: int) -> Line:
        step = self._run.steps[index]
        line = step_line(step, index + 1, self._run.began_for(step.seq), alive=self._alive)
        words = [mark.short for mark in self._marks(index)]
        if self._run.edited(step) is not None:
            words.append("edited by you")
        return {**line, "note": " · ".join(filter(None, (*words, line["note"])))} if words else line

    def _marks(self, index: int) -> list[TraceMark]:
        """The marks that are shown with a step: those before it, and behind the last all."""
        is_last = index == len(self._run.steps) - 1
        return [*self._run.marks_before(index), *(self._run.marks_before(index + 1) if is_last else ())]

    def _open(self, index: int) -> None:
        for mark in self._marks(index):
            ui.html(mark.html, sanitize=False)
        StepCard(self._run.steps[index], self._context, alive=self._alive).props("data-testid=step-detail")
