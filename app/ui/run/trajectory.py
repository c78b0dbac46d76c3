"""A run as decisions, Observe → Decide → Act: cards for a short one, a list with one opened step for a long one."""

import asyncio
from bisect import bisect_right
from time import monotonic

from nicegui import ui

from app.domain.trace import TrajectoryStep, trajectory
from app.ui.elements.format import plural
from app.ui.elements.markup import tag
from app.ui.run.timeline_cards import CardContext
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trace_list import Line
from app.ui.run.trace_pane import ListAndPane
from app.ui.run.trace_words import trajectory_line
from app.ui.run.trajectory_cards import TrajectoryCard

SHORT = 40
"""Decisions and calls up to which each has a card."""
THREAD_ENTRIES = 1000
"""Entries from which on the projection may take longer than the event loop should wait."""
Looks = tuple[float | str, ...]
"""What may still change about a card: the end of its model call, and the states of its calls."""


class Trajectory:
    def __init__(self, run: RunSoFar, context: CardContext) -> None:
        self._run = run
        self._context = context
        self._steps: list[TrajectoryStep] = []
        self._entries = -1
        self._not_before = 0.0
        self._cards: list[tuple[Looks, TrajectoryCard]] = []
        self._list: ListAndPane | None = None
        self._count = ui.html("Reading the decisions…", sanitize=False).classes("muted trace-count")
        self._place = ui.element("div").classes("trajectory")

    async def show(self, *, alive: bool) -> None:
        """Show the run as it is now; called too soon after the last time, nothing changes until the next call."""
        if self._entries == len(self._run.entries) or monotonic() < self._not_before:
            return
        started = monotonic()
        entries = list(self._run.entries)
        self._entries = len(entries)
        many = len(entries) > THREAD_ENTRIES
        self._steps = await asyncio.to_thread(trajectory, entries) if many else trajectory(entries)
        if len(self._steps) + sum(len(step.calls) for step in self._steps) > SHORT:
            self._show_list(alive=alive)
        else:
            self._show_cards()
        self._not_before = monotonic() + 10 * (monotonic() - started)

    def go(self, index: int) -> None:
        """Open the decision to which the step with that index belongs."""
        seqs = [step.decision.seq for step in self._steps]
        place = max(0, bisect_right(seqs, self._run.steps[index].seq) - 1)
        if self._list is not None:
            self._list.go(place)
        elif place < len(self._cards):
            self._cards[place][1].run_method("scrollIntoView", {"block": "center"})

    def _show_cards(self) -> None:
        self._count.set_content(tag("span", plural(len(self._steps), "decision")))
        looks: list[Looks] = [(step.decision.ms, *(call.state for call in step.calls)) for step in self._steps]
        kept = 0
        while kept < len(self._cards) and self._cards[kept][0] == looks[kept]:
            kept += 1
        for _, card in self._cards[kept:]:
            card.delete()
        del self._cards[kept:]
        with self._place:
            for index in range(len(self._cards), len(self._steps)):
                self._cards.append((looks[index], TrajectoryCard(self._steps[index], self._context)))

    def _show_list(self, *, alive: bool) -> None:
        number = len(self._steps)
        words = f"{plural(number, 'decision')}. The list loads them as you scroll; the chosen one is shown in full."
        self._count.set_content(tag("span", words))
        if self._list is not None:
            self._list.grow(number, follow=alive)
            return
        self._cards.clear()
        self._place.clear()
        with self._place:
            self._list = ListAndPane(
                number,
                self._line,
                self._open,
                chosen=0,
                on_choose=lambda _: None,
                label="Decisions of this run",
                testid="trajectory-step",
            )

    def _line(self, index: int) -> Line:
        return trajectory_line(self._steps[index])

    def _open(self, index: int) -> None:
        TrajectoryCard(self._steps[index], self._context).props("data-testid=decision-detail")
