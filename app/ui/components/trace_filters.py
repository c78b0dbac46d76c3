"""The boxes above a list of runs that say which of them it shows."""

from collections.abc import Callable
from datetime import date
from typing import TypedDict, Unpack

from nicegui import ui

from app.domain.trace import RunStatus
from app.ui.components.buttons import button
from app.ui.components.status_pill import status_words
from app.ui.components.trace_query import STATUSES, RunsQuery, day_of

ALL = ""


class Changes(TypedDict, total=False):
    """Fields of a `RunsQuery`."""

    text: str
    agent: str
    model: str
    status: RunStatus | None
    first_day: date | None
    last_day: date | None


class RunFilters:
    """`ask` is called with the query that the boxes make of `query`, back at its first page."""

    def __init__(
        self,
        query: RunsQuery,
        *,
        agents: dict[str, str],
        models: list[str],
        ask: Callable[[RunsQuery], None],
    ) -> None:
        """`agents`: what each slug is called."""
        self.query = query
        self._ask = ask
        with ui.element("div").classes("toolbar runs-filters").props('role=search aria-label="Filter runs"'):
            self._text = ui.input(placeholder="Search runs", value=query.text, on_change=self._text_changed)
            self._text.props('outlined dense clearable debounce=300 aria-label="Search runs" data-testid=runs-search')
            self._text.classes("search")
            self._status = _select("Status", _statuses(), query.status or ALL)
            self._status.on_value_change(lambda: self._change(status=_status_of(self._status.value)))
            self._agent = _select("Agent", {ALL: "All agents", **agents}, query.agent)
            self._agent.on_value_change(lambda: self._change(agent=str(self._agent.value)))
            self._model = _select("Model", {ALL: "All models"} | {name: name for name in models}, query.model)
            self._model.on_value_change(lambda: self._change(model=str(self._model.value)))
            self._first_day = _day("From", query.first_day)
            self._first_day.on_value_change(lambda: self._change(first_day=day_of(self._first_day.value or "")))
            self._last_day = _day("To", query.last_day)
            self._last_day.on_value_change(lambda: self._change(last_day=day_of(self._last_day.value or "")))
            self._clear = button(
                "Clear filters", self.clear, look="quiet", icon="filter_alt_off", testid="clear-filters"
            )
        self._clear.visible = query.filtered

    def clear(self) -> None:
        """Let all runs through."""
        for box in (self._text, self._status, self._agent, self._model, self._first_day, self._last_day):
            box.value = ALL

    def _text_changed(self) -> None:
        self._change(text=self._text.value or "")

    def _change(self, **changes: Unpack[Changes]) -> None:
        query = self.query.model_copy(update={"page": 1, **changes})
        if query != self.query:
            self.query = query
            self._clear.visible = query.filtered
            self._ask(query)


def _statuses() -> dict[str, str]:
    return {ALL: "All statuses"} | {status: status_words(status) for status in STATUSES}


def _status_of(chosen: object) -> RunStatus | None:
    return next((status for status in STATUSES if status == chosen), None)


def _select(label: str, options: dict[str, str], chosen: str) -> ui.select:
    """A choice; one out of the address that is not there any more is still shown."""
    if chosen not in options:
        options = options | {chosen: chosen}
    made = ui.select(options, value=chosen).props("outlined dense options-dense").classes("runs-select")
    made.props["aria-label"] = label
    return made.props(f"data-testid=runs-{label.lower()}")


def _day(label: str, chosen: date | None) -> ui.input:
    made = ui.input(label, value=chosen.isoformat() if chosen else "")
    made.props("outlined dense stack-label type=date").classes("runs-day")
    return made.props(f"data-testid=runs-{label.lower()}")
