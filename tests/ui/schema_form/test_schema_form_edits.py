"""What the form of a schema sends once a person wrote in it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction
from nicegui.testing.user_simulation import user_simulation
from pydantic import JsonValue

from app.domain.tools import JsonSchema
from app.ui.schema_form.field import Field
from app.ui.schema_form.form import SchemaForm

TRIP: JsonSchema = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "unit": {"type": "string", "default": "celsius"},
        "days": {"type": "array", "items": {"type": "string"}, "default": ["monday"]},
    },
    "required": ["city"],
}
WITH_DEFAULTS: dict[str, JsonValue] = {"city": "Rome", "unit": "celsius", "days": ["monday"]}


class Visit:
    """A person in front of a form."""

    def __init__(self, user: User, form: SchemaForm) -> None:
        self._user = user
        self.form = form

    def type(self, place: str, text: str) -> None:
        (box,) = (one for one in self._field(place).descendants() if isinstance(one, ui.textarea | ui.input))
        box.value = text

    def press(self, place: str, action: str) -> None:
        """One of the buttons beside the field's name, or the one that adds an item."""
        within = self._field(place)
        if action == "add":
            (pressed,) = (one for one in within.descendants() if isinstance(one, ui.button))
            UserInteraction(self._user, {pressed}, None).trigger("click")
        else:
            head = next(one for one in within.descendants() if isinstance(one, ui.html))
            UserInteraction(self._user, {head}, None).trigger("click", [action])

    def _field(self, place: str) -> Field:
        fields = (one for one in self.form.descendants() if isinstance(one, Field))
        return next(one for one in fields if one.slot.place == place)


@asynccontextmanager
async def filled(values: dict[str, JsonValue]) -> AsyncIterator[Visit]:
    """Somebody in front of the form of a trip, which shows those values."""
    forms: list[SchemaForm] = []
    async with user_simulation(lambda: forms.append(SchemaForm(TRIP, values))) as user:
        await user.open("/")
        yield Visit(user, forms[0])


async def test_what_was_not_given_stays_absent_when_something_else_is_changed():
    async with filled({"city": "Rome"}) as visit:
        assert visit.form.value == {"city": "Rome"}
        visit.type("city", "Paris")
        assert visit.form.value == {"city": "Paris"}


async def test_what_is_left_out_is_absent_though_it_has_a_default():
    async with filled(WITH_DEFAULTS) as visit:
        for place in ("unit", "days"):
            visit.press(place, "leave-out")
        assert visit.form.value == {"city": "Rome"}


async def test_what_is_emptied_by_hand_is_sent_empty_where_a_default_would_take_its_place():
    async with filled(WITH_DEFAULTS) as visit:
        visit.type("unit", "")
        visit.press("days[0]", "remove")
        assert visit.form.value == {"city": "Rome", "unit": "", "days": []}


async def test_what_was_left_out_is_sent_once_somebody_writes_or_adds():
    async with filled({"city": "Rome"}) as visit:
        visit.type("unit", "kelvin")
        visit.press("days", "add")
        assert visit.form.value == {"city": "Rome", "unit": "kelvin", "days": [""]}
        visit.type("unit", "")
        visit.press("days[0]", "remove")
        assert visit.form.value == {"city": "Rome", "unit": "", "days": []}
