"""The filters that are asked for less often: when runs began, what they cost, how long they took."""

from datetime import date
from typing import Protocol

from nicegui import ui

from app.ui.elements.buttons import button
from app.ui.runs.trace_query import RunsQuery, amount_of, amount_text, day_of


class OnChange(Protocol):
    def __call__(
        self,
        *,
        first_day: date | None = ...,
        last_day: date | None = ...,
        min_cost: float | None = ...,
        max_cost: float | None = ...,
        min_seconds: float | None = ...,
        max_seconds: float | None = ...,
    ) -> None: ...


class MoreFilters:
    """A button and the popover that it opens, which is built when it is first opened."""

    def __init__(self, change: OnChange) -> None:
        self._change = change
        self._query = RunsQuery()
        self._boxes: dict[str, ui.input] = {}
        self._button = button("More", self._open, icon="tune", testid="more-filters")
        self._button.props("aria-haspopup=dialog")
        with self._button:
            self._menu = ui.menu().props('no-parent-event no-focus aria-label="More filters"').classes("runs-more")

    def show(self, query: RunsQuery) -> None:
        """Let the boxes say that query."""
        self._query = query
        for field, words in _said(query).items():
            if field in self._boxes:
                self._boxes[field].value = words

    def _open(self) -> None:
        if not self._boxes:
            with self._menu:
                self._build()
        self._menu.open()

    def _build(self) -> None:
        with ui.element("div").classes("runs-more-boxes"):
            self._day("first_day", "From").on_value_change(lambda: self._change(first_day=self._day_of("first_day")))
            self._day("last_day", "To").on_value_change(lambda: self._change(last_day=self._day_of("last_day")))
            self._amount("min_cost", "Cost from ($)").on_value_change(
                lambda: self._change(min_cost=self._amount_of("min_cost"))
            )
            self._amount("max_cost", "Cost to ($)").on_value_change(
                lambda: self._change(max_cost=self._amount_of("max_cost"))
            )
            self._amount("min_seconds", "Took from (s)").on_value_change(
                lambda: self._change(min_seconds=self._amount_of("min_seconds"))
            )
            self._amount("max_seconds", "Took to (s)").on_value_change(
                lambda: self._change(max_seconds=self._amount_of("max_seconds"))
            )

    def _day(self, field: str, label: str) -> ui.input:
        return self._box(field, label).props(f"type=date data-testid=runs-{label.lower()}")

    def _amount(self, field: str, label: str) -> ui.input:
        return self._box(field, label).props(f"type=number min=0 step=any debounce=400 data-testid=runs-{field}")

    def _box(self, field: str, label: str) -> ui.input:
        made = ui.input(label, value=_said(self._query)[field]).props("outlined dense stack-label")
        self._boxes[field] = made
        return made

    def _day_of(self, field: str) -> date | None:
        return day_of(self._boxes[field].value or "")

    def _amount_of(self, field: str) -> float | None:
        return amount_of(str(self._boxes[field].value or ""))


def _said(query: RunsQuery) -> dict[str, str]:
    return {
        "first_day": query.first_day.isoformat() if query.first_day else "",
        "last_day": query.last_day.isoformat() if query.last_day else "",
        "min_cost": amount_text(query.min_cost),
        "max_cost": amount_text(query.max_cost),
        "min_seconds": amount_text(query.min_seconds),
        "max_seconds": amount_text(query.max_seconds),
    }
