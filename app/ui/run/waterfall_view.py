"""A run in time: each model call, tool call and wait as a bar, beside the steps that they belong to."""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

from nicegui import ui

from app.domain.trace import Step
from app.domain.trace.parts import LaidSpan, laid
from app.domain.trace.waterfall import Span, span_end
from app.ui.elements.addresses import run_address
from app.ui.elements.format import duration, plural
from app.ui.elements.markup import tag
from app.ui.run.card_context import CardContext
from app.ui.run.child_run import Parts
from app.ui.run.timeline import StepList
from app.ui.run.trace_growth import RunSoFar

THREAD_SPANS = 500
PIECE = 2000
"""Rows that are sent to the browser at once."""
KINDS = ("model", "tool", "person", "retry", "node")
SpanRow = list[int | float | None]
"""As short as it can be written: kind, name, start, end, first word, failed, attempt, entry, step, depth, part."""


class Bars(ui.element, component="waterfall.js"):
    """The rows; `list_id` is the list of steps whose lines are marked by pointing at a row."""

    def __init__(self, list_id: int, *, on_choose: Callable[[int, int], None]) -> None:
        """`on_choose` gets the entry of a row that is clicked, and the place of its part."""
        super().__init__()
        self._rows: list[SpanRow] = []
        self._end = 0.0
        self._props["spans"] = []
        self._props["names"] = []
        self._props["end"] = 0
        self._props["list"] = list_id
        self._on_choose = on_choose
        self.on("choose", lambda event: self._on_choose(*map(int, event.args)))
        self.props("data-testid=waterfall")

    def show(self, rows: list[SpanRow], names: list[str], end: float) -> None:
        """Send the rows that differ from those the browser has."""
        pairs = enumerate(zip(self._rows, rows, strict=False))
        same = next((index for index, (old, new) in pairs if old != new), min(len(self._rows), len(rows)))
        if same == len(rows) == len(self._rows) and end == self._end:
            return
        self._rows, self._end = rows, end
        for first in range(same, max(len(rows), same + 1), PIECE):
            self.run_method("put", first, rows[first : first + PIECE], len(rows), names, end)

    def go(self, seq: int) -> None:
        """Mark the row of that entry."""
        self.run_method("show", seq)


class Waterfall:
    def __init__(
        self,
        run: RunSoFar,
        context: CardContext,
        parts: Parts,
        *,
        chosen: int,
        alive: bool,
        on_choose: Callable[[int], None],
    ) -> None:
        """`chosen`: the index of the step that is opened first; `on_choose` is told of each one opened here."""
        self._run = run
        self._on_choose = on_choose
        self._parts = parts
        self._keys: list[str] = []
        self._seen: tuple[object, ...] = ()
        self._not_before = 0.0
        self._count = ui.html("Reading the times…", sanitize=False).classes("muted trace-count")
        with ui.element("div").classes("waterfall-split") as place:
            self._steps = StepList(run, context, chosen=chosen, alive=alive, on_choose=self._step_chosen)
            self._bars = Bars(self._steps.pane.list_id, on_choose=self._span_chosen)
            self._bars.move(place, target_index=0)

    async def show(self, *, alive: bool) -> None:
        """Show the run as it is now; called too soon after the last time, nothing changes until the next call."""
        seen = (len(self._run.entries), self._parts.stamp(self._run.run_id), alive)
        if self._seen == seen or monotonic() < self._not_before:
            return
        started = monotonic()
        self._seen = seen
        tree = laid(await self._parts.whole(self._run.run_id, self._run.entries[: seen[0]]))
        self._keys = list(dict.fromkeys([self._run.run_id, *(one.part for one in tree)]))
        if len(tree) > THREAD_SPANS:
            rows, names = await asyncio.to_thread(_read, self._run, tree, self._keys)
        else:
            rows, names = _read(self._run, tree, self._keys)
        end = span_end(one.span for one in tree)
        self._count.set_content(tag("span", self._told(len(tree), end)))
        self._bars.show(rows, names, round(end, 1))
        self._steps.show(alive=alive)
        self._not_before = monotonic() + 10 * (monotonic() - started)

    def _told(self, spans: int, end: float) -> str:
        below = len(self._keys) - 1
        those = f", {plural(below, 'child run')} among them" if below else ""
        left = f" {plural(self._parts.left_out, 'more child run')} not shown." if self._parts.left_out else ""
        return (
            f"{plural(spans, 'span')} in {duration(end)}{those}. Point at one to see its step, click to open it.{left}"
        )

    def go(self, index: int) -> None:
        """Open the step with that index; `on_choose` is not told."""
        self._steps.pane.go(index)
        self._bars.go(self._run.steps[index].seq)

    def _step_chosen(self, index: int) -> None:
        self._bars.go(self._run.steps[index].seq)
        self._on_choose(index)

    def _span_chosen(self, seq: int, part: int) -> None:
        if part:  # of a run below it, which has a page of its own
            ui.navigate.to(f"{run_address(self._keys[part])}?step={seq}")
            return
        index = self._run.place(seq)
        if index is not None:
            self._steps.pane.go(index)
            self._on_choose(index)


def _read(run: RunSoFar, tree: Sequence[LaidSpan], keys: Sequence[str]) -> tuple[list[SpanRow], list[str]]:
    """The rows, and the names in them. A span of a run below belongs to the step that started it."""
    names: dict[str, int] = {}
    edited = {step.seq: f" · {words}" for step in run.steps if (words := _edited_words(run, step))}
    places = {key: place for place, key in enumerate(keys)}
    rows: list[SpanRow] = []
    above = 0
    for one in tree:
        is_own = one.part == run.run_id
        above = one.span.seq if is_own else above
        name = f"{one.span.name}{edited.get(one.span.seq, '') if is_own else ''}"
        row = span_row(one.span, names.setdefault(name, len(names)), run.nearest(above) or 0)
        rows.append([*row, one.depth, places[one.part]])
    return rows, list(names)


def _edited_words(run: RunSoFar, step: Step) -> str:
    """What a person edited of a call, or of the words of a decision."""
    call = step.call if step.type == "tool-call" else None
    edited = call.edited_result or call.edited_arguments if call else run.edited(step)
    return edited.words if edited else ""


def span_row(span: Span, name: int, step: int) -> SpanRow:
    """The span as the browser takes it; `name` is the place of its name, `step` that of its step."""
    return [
        KINDS.index(span.kind),
        name,
        round(span.start_ms, 1),
        None if span.end_ms is None else round(span.end_ms, 1),
        None if span.first_token_ms is None else round(span.first_token_ms, 1),
        int(span.failed),
        span.attempt,
        span.seq,
        step,
    ]
