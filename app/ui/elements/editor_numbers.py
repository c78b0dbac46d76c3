"""Number boxes of the variant editor and of a day's ceiling: what cannot be is said there, and changes nothing."""

from collections.abc import Callable
from typing import TypeVar

from nicegui import background_tasks, events, ui
from pydantic import ValidationError

from app.domain.errors import WorkbenchError
from app.domain.settings import Preferences
from app.domain.values import Value
from app.store.records.tables import PreferencesStore
from app.ui.elements.notices import notify

V = TypeVar("V", bound=Value)
Taken = Callable[[str, float | None], None]
"""Gets a field's name and its new number; raises `ValidationError` where it cannot have that."""


def number_box(
    field: str,
    label: str,
    value: float | None,
    take: Taken,
    *,
    hint: str = "",
    suffix: str = "",
    step: float = 1,
    note: str = "",
    of: str = "setting",
) -> ui.number:
    """A box for one number of a value; empty means `None`. `note` says below it what it counts.

    Its handle is that of what it is a field `of`, and of the field.
    """
    box = ui.number(label, value=value, step=step).without_auto_validation()
    box.props("outlined dense stack-label debounce=300 hide-bottom-space").classes("number-box")
    box.props["data-testid"] = f"{of}-{field.replace('_', '-')}"
    if suffix:
        box.props["suffix"] = suffix
    if hint:
        box.props["placeholder"] = hint
    if note:
        box.props["hint"] = note

    def changed(event: events.ValueChangeEventArguments[float | None]) -> None:
        try:
            take(field, event.value)
            box.error = None
        except ValidationError as problem:
            box.error = fault_words(problem)

    return box.on_value_change(changed)


def with_field(value: V, field: str, content: object) -> V:
    """The value with another content of one field, checked. Raises `ValidationError`."""
    return type(value).model_validate({**value.model_dump(), field: content})


def fault_words(problem: ValidationError) -> str:
    """What a value cannot be, in a few words."""
    fault = problem.errors()[0]
    context = fault.get("ctx", {})
    match fault["type"]:
        case "greater_than_equal":
            return f"At least {context['ge']:g}"
        case "greater_than":
            return f"More than {context['gt']:g}"
        case "less_than_equal":
            return f"At most {context['le']:g}"
        case "int_from_float" | "int_type" if fault["input"] is not None:
            return "A whole number, please"
        case "int_type" | "float_type":
            return "This needs a number"
        case _:
            return fault["msg"]


class PreferenceForm(ui.element):
    """The box of one number that is set for the whole app, and counts at once; `words` say what it is."""

    def __init__(
        self,
        preferences: PreferencesStore,
        field: str,
        label: str,
        words: str,
        *,
        testid: str,
        suffix: str = "",
        note: str = "",
    ) -> None:
        super().__init__("div")
        self.classes("settings-grid")
        self._preferences = preferences
        self._field = field
        with self:
            number_box(testid, label, getattr(preferences.get(), field), self._take, suffix=suffix, note=note)
            ui.label(words).classes("faint wide-box")

    def _take(self, _: str, number: float | None) -> None:
        changed = with_field(self._preferences.get(), self._field, number)
        background_tasks.create(self._save(changed), name=f"save {self._field}")

    async def _save(self, changed: Preferences) -> None:
        try:
            await self._preferences.save(changed)
        except WorkbenchError as problem:
            with self:
                notify(str(problem))


def ceilings(preferences: PreferencesStore) -> None:
    """What all runs of a day, and of a month, may cost."""
    words = "What all agents may cost together. It counts at once, whatever variant is saved."
    for field, label, said in (
        ("day_cost", "Day, all agents", words),
        ("month_cost", "Month, all agents", "The same from the first of each month on."),
    ):
        testid = f"all-{field.replace('_', '-')}"
        PreferenceForm(preferences, field, label, said, testid=testid, suffix="US$", note="0: no limit")
