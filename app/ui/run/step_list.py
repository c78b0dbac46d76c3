"""The steps of a run as a list beside the opened one, with what happened between them."""

from collections.abc import Callable

from nicegui import ui

from app.ui.conversation.trace_marks import TraceMark
from app.ui.run.timeline_cards import CardContext, StepCard
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trace_list import Line
from app.ui.run.trace_pane import ListAndPane
from app.ui.run.trace_words import step_line


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
            label="Steps of this run",
            testid="run-step",
        )

    def show(self, *, alive: bool) -> None:
        """Take in the steps that have come; while the run goes on, its end is followed."""
        self._alive = alive
        self.pane.grow(len(self._run.steps), follow=alive)

    def _line(self, index: int) -> Line:
        line = step_line(self._run.steps[index], index + 1, self._run.began_for(self._run.steps[index].seq))
        words = [mark.short for mark in self._marks(index)]
        return {**line, "note": " · ".join((*words, line["note"]))} if words else line

    def _marks(self, index: int) -> list[TraceMark]:
        """The marks that are shown with a step: those before it, and behind the last all."""
        is_last = index == len(self._run.steps) - 1
        return [*self._run.marks_before(index), *(self._run.marks_before(index + 1) if is_last else ())]

    def _open(self, index: int) -> None:
        for mark in self._marks(index):
            ui.html(mark.html, sanitize=False)
        StepCard(self._run.steps[index], self._context, alive=self._alive).props("data-testid=step-detail")
