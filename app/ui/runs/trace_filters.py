"""The boxes above a list of runs that say which of them it shows."""

from collections.abc import Callable
from datetime import date
from typing import TypedDict, TypeVar, Unpack

from nicegui import ui

from app.domain.errors import FailureClass
from app.domain.failure_words import WORDS
from app.domain.trace import RunStatus
from app.ui.elements.status_pill import status_words
from app.ui.runs.more_filters import MoreFilters
from app.ui.runs.trace_chips import FilterChips
from app.ui.runs.trace_query import FAILURES, STATUSES, RunsQuery

ALL = ""

Choice = TypeVar("Choice")


class Changes(TypedDict, total=False):
    """Fields of a `RunsQuery`."""

    text: str
    agent: str
    variant: int | None
    model: str
    status: RunStatus | None
    failure: FailureClass | None
    first_day: date | None
    last_day: date | None
    min_cost: float | None
    max_cost: float | None
    min_seconds: float | None
    max_seconds: float | None


class RunFilters:
    """`ask` is called with the query that the boxes make of the one that is shown, back at its first page."""

    def __init__(
        self,
        query: RunsQuery,
        *,
        agents: dict[str, str],
        models: list[str],
        variants: Callable[[str], list[int]],
        ask: Callable[[RunsQuery], None],
    ) -> None:
        """`agents`: what each slug is called; `variants`: those of an agent that have runs."""
        self._query = query
        self._ask = ask
        self._variants = variants
        self._models = {ALL: "All models"} | {name: name for name in models}
        self._agents = {ALL: "All agents", **agents}
        self.bar = ui.element("div").classes("toolbar runs-filters").props('role=search aria-label="Filter runs"')
        with self.bar:
            self._build_search()
            self._status = _select("Status", _statuses(), query.status or ALL)
            self._agent = _select("Agent", self._agents, query.agent)
            self._variant = _select("Variant", {ALL: "All variants"}, ALL)
            self._model = _select("Model", self._models, query.model)
            self._failure = _select("Error", _failures(), query.failure or ALL)
            self._more = MoreFilters(self._change)
        self._listen()
        self._chips = FilterChips(agents, ask)
        self.show(query)

    def _build_search(self) -> None:
        self._text = ui.input(placeholder="Search messages and tool calls", value=self._query.text)
        self._text.props('outlined dense clearable type=search debounce=300 aria-label="Search runs"')
        self._text.props('data-testid=runs-search title="Words are found by how they begin. Put a phrase in quotes."')
        self._text.classes("search").on_value_change(lambda: self._change(text=self._text.value or ""))

    def _listen(self) -> None:
        self._status.on_value_change(lambda: self._change(status=_one_of(STATUSES, self._status.value)))
        self._agent.on_value_change(lambda: self._change(agent=str(self._agent.value or ALL), variant=None))
        self._variant.on_value_change(lambda: self._change(variant=_number(self._variant.value)))
        self._model.on_value_change(lambda: self._change(model=str(self._model.value or ALL)))
        self._failure.on_value_change(lambda: self._change(failure=_one_of(FAILURES, self._failure.value)))

    def show(self, query: RunsQuery) -> None:
        """Let the boxes say that query."""
        self._query = query
        self._text.value = query.text
        self._status.value = query.status or ALL
        self._failure.value = query.failure or ALL
        _choose(self._agent, self._agents, query.agent)
        _choose(self._model, self._models, query.model)
        variants = {ALL: "All variants"} | {str(number): f"Variant {number}" for number in self._variants(query.agent)}
        _choose(self._variant, variants, str(query.variant or ALL))
        self._variant.visible = bool(query.agent)
        self._more.show(query)
        self._chips.show(query)

    def _change(self, **changes: Unpack[Changes]) -> None:
        query = self._query.model_copy(update={**changes})
        if query != self._query:  # and not only what `show` has put into a box
            self._ask(query.model_copy(update={"page": 1}))


def _statuses() -> dict[str, str]:
    return {ALL: "All statuses"} | {status: status_words(status) for status in STATUSES}


def _failures() -> dict[str, str]:
    return {ALL: "All errors"} | {failure: WORDS[failure].title for failure in FAILURES}


def _one_of(choices: tuple[Choice, ...], chosen: object) -> Choice | None:
    return next((choice for choice in choices if choice == chosen), None)


def _number(chosen: object) -> int | None:
    return int(chosen) if isinstance(chosen, str) and chosen.isdecimal() else None


def _select(label: str, options: dict[str, str], chosen: str) -> ui.select:
    made = ui.select(options if chosen in options else options | {chosen: chosen}, value=chosen)
    made.props("outlined dense options-dense").classes("runs-select")
    made.props["aria-label"] = label
    return made.props(f"data-testid=runs-{label.lower()}")


def _choose(box: ui.select, options: dict[str, str], chosen: str) -> None:
    """Show the choice, also one out of the address that is not there any more."""
    wanted = options if chosen in options else options | {chosen: chosen}
    if wanted != box.options or chosen != box.value:
        box.set_options(wanted, value=chosen)
