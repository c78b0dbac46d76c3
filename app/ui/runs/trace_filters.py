"""The boxes above a list of runs that say which of them it shows, and chips of what they say, taken away one by one."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import partial
from typing import TypeVar

from nicegui import events, ui

from app.domain.failure_words import WORDS
from app.domain.provenance import PURPOSE_TITLES, variant_words
from app.ui.elements.buttons import button
from app.ui.elements.status_pill import status_words
from app.ui.runs.filter_chips import FilterChips
from app.ui.runs.trace_query import FAILURES, MARKS, RATINGS, STATUSES, RunsQuery, amount_of, amount_text, day_of
from app.ui.schema_form.simple import options_of, select_box

ALL = ""

Choice = TypeVar("Choice")


class RunFilters:
    """`ask` is called with the query that the boxes make of the one that is shown, back at its first page."""

    def __init__(
        self,
        query: RunsQuery,
        *,
        agents: dict[str, str],
        models: list[str],
        variants: Callable[[str], list[int]],
        tags: Sequence[str] = (),
        providers: Sequence[str] = (),
        tools: Sequence[str] = (),
        ask: Callable[[RunsQuery], None],
    ) -> None:
        """`agents`: what each slug is called; `variants`: those that one has runs of; the others: all there are."""
        self._query = query
        self._ask = ask
        self._variants = variants
        self._models = {ALL: "All models"} | {name: name for name in models if name}
        self._agents = {ALL: "All agents", **agents}
        self._marks = {ALL: "All marks", **MARKS, **{f"tag:{one}": f"Tag: {one}" for one in tags}}
        self.bar = ui.element("div").classes("toolbar runs-filters").props('role=search aria-label="Filter runs"')
        with self.bar:
            self._build_search()
            self._status = ChoiceBox("Status", lambda status: self._change(status=_one_of(STATUSES, status)))
            self._agent = ChoiceBox("Agent", lambda agent: self._change(agent=agent, variant=None))
            self._variant = ChoiceBox("Variant", lambda number: self._change(variant=_number(number)))
            self._model = ChoiceBox("Model", lambda model: self._change(model=model))
            self._failure = ChoiceBox("Error", lambda failure: self._change(failure=_one_of(FAILURES, failure)))
            self._mark = ChoiceBox("Marks", lambda mark: self._change(**marked(mark, self._query)))
            self._more = MoreFilters(self._change, providers=providers, tools=tools)
        self._chips = FilterChips(agents, ask)
        self.show(query)

    def _build_search(self) -> None:
        self._text = ui.input(placeholder="Search messages, tools", value=self._query.text)
        self._text.props('outlined dense clearable type=search debounce=300 aria-label="Search runs"')
        self._text.props('data-testid=runs-search title="Words are found by how they begin. Put a phrase in quotes."')
        self._text.classes("search").on_value_change(lambda: self._change(text=self._text.value or ""))

    def show(self, query: RunsQuery) -> None:
        """Let the boxes say that query."""
        self._query = query
        self._text.value = query.text
        self._status.show(_statuses(), query.status or ALL)
        self._failure.show(_failures(), query.failure or ALL)
        self._agent.show(self._agents, query.agent)
        self._model.show(self._models, query.model)
        self._mark.show(self._marks, mark_of(query))
        variants = {ALL: "All variants"} | {
            str(number): variant_words(number).capitalize() for number in self._variants(query.agent)
        }
        self._variant.show(variants, ALL if query.variant is None else str(query.variant))
        self._variant.box.visible = bool(query.agent)
        self._more.show(query)
        self._chips.show(query)

    def _change(self, **fields: object) -> None:
        query = self._query.model_copy(update=fields)
        if query != self._query:  # and not only what `show` has put into a box
            self._ask(query.model_copy(update={"page": 1}))


class ChoiceBox:
    """The browser's own box to choose one of several: six drawn ones above the list took a tenth of the page's time."""

    def __init__(self, label: str, on_choose: Callable[[str], None]) -> None:
        self._options: dict[str, str] = {}
        self._on_choose = on_choose
        self.box = select_box(label, (), 0, self._choose)
        self.box.classes("runs-select").props(f"data-testid=runs-{label.lower()}")

    def show(self, options: dict[str, str], chosen: str) -> None:
        """What may be chosen, by what it is called for; the choice too where it is not there any more."""
        self._options = options if chosen in options else options | {chosen: chosen}
        self.box.set_content(options_of(list(self._options.values()), list(self._options).index(chosen)))

    def _choose(self, event: events.GenericEventArguments) -> None:
        place, keys = int(event.args), list(self._options)
        if place < len(keys):  # else there are fewer by now
            self.show(self._options, keys[place])
            self._on_choose(keys[place])


def mark_of(query: RunsQuery) -> str:
    """What the box of marks says: one of `MARKS`, `tag:…`, or nothing."""
    said = query.rating or ("noted" if query.noted else "voted" if query.voted else "")
    return said or (f"tag:{query.tag}" if query.tag else ALL)


def marked(chosen: str, query: RunsQuery) -> dict[str, object]:
    """The fields of a query for what was chosen in the box of marks; nothing of it changes what the box said before."""
    if chosen == mark_of(query):
        return {}
    said = {"rating": _one_of(RATINGS, chosen), "noted": chosen == "noted", "voted": chosen == "voted"}
    return {**said, "tag": chosen.removeprefix("tag:") if chosen.startswith("tag:") else ""}


def _statuses() -> dict[str, str]:
    return {ALL: "All statuses"} | {status: status_words(status) for status in STATUSES}


def _failures() -> dict[str, str]:
    return {ALL: "All errors"} | {failure: WORDS[failure].title for failure in FAILURES}


def _one_of(choices: tuple[Choice, ...], chosen: object) -> Choice | None:
    return next((choice for choice in choices if choice == chosen), None)


def _number(chosen: object) -> int | None:
    return int(chosen) if isinstance(chosen, str) and chosen.isdecimal() else None


MORE: tuple[tuple[str, str, str, Callable[[str], object]], ...] = (
    ("first_day", "From", "type=date data-testid=runs-from", day_of),
    ("last_day", "To", "type=date data-testid=runs-to", day_of),
    *(
        (field, label, f"type=number min=0 step=any debounce=400 data-testid=runs-{field}", amount_of)
        for field, label in (
            ("min_cost", "Cost from ($)"),
            ("max_cost", "Cost to ($)"),
            ("min_seconds", "Took from (s)"),
            ("max_seconds", "Took to (s)"),
        )
    ),
)
"""Of each further box: its field of a `RunsQuery`, its label, its looks, and what its text means."""
TICKS = {"unpriced": "Only those without a price", "behind": "Experiments, judges and tries"}


class MoreFilters:
    """A button and the popover that it opens, which is built when it is first opened."""

    def __init__(self, change: Callable[..., None], *, providers: Sequence[str], tools: Sequence[str]) -> None:
        """`change` gets the field of a `RunsQuery` that was changed."""
        self._change = change
        self._choices = {
            "provider": {ALL: "All providers"} | {name: name for name in providers},
            "tool": {ALL: "All tools"} | {name: name for name in tools},
            "purpose": {ALL: "All purposes"} | {str(name): title for name, title in PURPOSE_TITLES.items()},
        }
        """By field: what may be chosen."""
        self._chosen: dict[str, ChoiceBox] = {}
        self._query = RunsQuery()
        self._boxes: dict[str, ui.input] = {}
        self._ticks: dict[str, ui.checkbox] = {}
        self._button = button("More", self._open, icon="tune", testid="more-filters")
        self._button.props("aria-haspopup=dialog")
        with self._button:
            self._menu = ui.menu().props('no-parent-event no-focus role=dialog aria-label="More filters"')
            self._menu.classes("runs-more")

    def show(self, query: RunsQuery) -> None:
        """Let the boxes say that query."""
        self._query = query
        for field, words in _said(query).items():
            if field in self._boxes:
                self._boxes[field].value = words
        for field, box in self._chosen.items():
            box.show(self._choices[field], getattr(query, field) or ALL)
        for field, tick in self._ticks.items():
            tick.value = getattr(query, field)

    def _open(self) -> None:
        if not self._boxes:
            with self._menu:
                self._build()
        self._menu.open()

    def _build(self) -> None:
        said = _said(self._query)
        with ui.element("div").classes("runs-more-boxes"):
            for field, label, looks, meaning in MORE:
                box = self._boxes[field] = ui.input(label, value=said[field])
                box.props("outlined dense stack-label").props(looks)
                box.on_value_change(partial(self._changed, field, meaning))
            for field, options in self._choices.items():
                self._chosen[field] = ChoiceBox(field.capitalize(), partial(self._chose, field))
                self._chosen[field].show(options, getattr(self._query, field) or ALL)
            for field, words in TICKS.items():
                tick = self._ticks[field] = ui.checkbox(words, value=getattr(self._query, field))
                tick.props(f"dense data-testid=runs-{field}").on_value_change(partial(self._ticked, field))

    def _chose(self, field: str, chosen: str) -> None:
        self._change(**{field: _one_of(tuple(PURPOSE_TITLES), chosen) if field == "purpose" else chosen})

    def _ticked(self, field: str) -> None:
        self._change(**{field: bool(self._ticks[field].value)})

    def _changed(self, field: str, meaning: Callable[[str], object]) -> None:
        said = str(self._boxes[field].value or "")
        if said != _said(self._query)[field]:  # else `show` has said it, and it may mean a moment of that day
            self._change(**{field: meaning(said)})


def _day(edge: datetime | date | None) -> str:
    """As a box of days says it: of a moment the day that it is in."""
    return "" if edge is None else (edge.astimezone().date() if isinstance(edge, datetime) else edge).isoformat()


def _said(query: RunsQuery) -> dict[str, str]:
    return {
        "first_day": _day(query.first_day),
        "last_day": _day(query.last_day),
        "min_cost": amount_text(query.min_cost),
        "max_cost": amount_text(query.max_cost),
        "min_seconds": amount_text(query.min_seconds),
        "max_seconds": amount_text(query.max_seconds),
    }
