"""Fields of a form that hold other fields: objects, lists, and a choice between alternatives."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from nicegui import events, ui
from pydantic import JsonValue

from app.ui.elements.buttons import button
from app.ui.schema_form.field import Field, Slot, given_dict, given_list
from app.ui.schema_form.shape import ABSENT, Given, Shape, defaults, option_words, suits
from app.ui.schema_form.simple import select_box

MANY = 16
"""Values of an object that need not be there and are shown at once; more of them wait behind a button."""
UP = ("up", "arrow_upward", "Move up")
DOWN = ("down", "arrow_downward", "Move down")
REMOVE = ("remove", "delete_outline", "Remove")


class ObjectField(Field):
    """Named values, and rows for names of one's own where the schema invites them."""

    look = "is-wide is-group"

    def build_box(self, given: Given) -> None:
        self._fields: dict[str, Field] = {}
        self._extras: list[ExtraField] = []
        self._sent = self.slot.required or given is not ABSENT
        if not self._sent:
            add = button("Add", self._add_all, icon="add").classes("field-add")
            add.props["aria-label"] = f"Add {self.slot.name}"
            return
        values = defaults(self.shape) if given is ABSENT else given_dict(given)
        self._properties = self.shape.properties
        with ui.element("div").classes("field-group" if self.slot.place else "field-stack"):
            self._named = ui.element("div").classes("field-list")
            self._build_named(values)
            self._build_extras({name: value for name, value in values.items() if name not in self._properties})

    def read(self) -> Given:
        if not self._sent:
            return ABSENT
        read = ((name, one.value) for name, one in self._fields.items())
        extras = ((extra.key, extra.inner.value) for extra in self._extras)
        return {name: value for name, value in (*read, *extras) if value is not ABSENT}

    def wrong(self, value: Given) -> str:
        names = [extra.key for extra in self._extras]
        twice = next((name for name in names if names.count(name) > 1 or name in self._fields), None)
        if twice is not None:
            return f"The name “{twice}” is there twice." if twice else "A name is missing."
        return super().wrong(value)

    def inner_fields(self) -> Iterator[Field]:
        yield from self._fields.values()
        yield from (extra.inner for extra in self._extras)

    def _build_named(self, values: dict[str, JsonValue]) -> None:
        needed = self.shape.required
        waiting = [name for name in self._properties if name not in needed and name not in values]
        later = waiting[MANY:] if len(waiting) > MANY else []
        with self._named:
            for name in self._properties:
                if name not in later:
                    self._add(name, values.get(name, ABSENT), required=name in needed)
            if later:
                more = button(f"{len(later)} more that need not be sent", look="quiet", icon="expand_more")
                more.on_click(partial(self._add_later, later, more))

    def _add(self, name: str, given: Given, *, required: bool) -> None:
        shape = self._properties[name]
        slot = self.slot.inner(name, f".{name}", required=required)
        self._fields[name] = self.slot.build(shape, slot, given)

    def _add_later(self, names: Sequence[str], more: ui.button) -> None:
        more.delete()
        with self._named:
            for name in names:
                self._add(name, ABSENT, required=False)

    def _add_all(self) -> None:
        default = self.shape.default
        self._fill(default if isinstance(default, dict) else defaults(self.shape))
        self.edited()

    def _build_extras(self, values: dict[str, JsonValue]) -> None:
        invited = self.shape.extras
        self._extra_shape = invited or Shape("json", root=self.shape.root)
        self._rows = ui.element("div").classes("field-stack")
        for name, value in values.items():
            self._add_extra(name, value)
        if invited is not None:
            words = "Add a value of another name" if self._properties else "Add a value"
            button(words, self._add_row, icon="add").classes("field-add")

    def _add_row(self) -> None:
        self._add_extra(_free_name(set(self._fields) | {extra.key for extra in self._extras}), ABSENT)
        self.edited()

    def _add_extra(self, name: str, given: Given) -> None:
        with self._rows:
            extra = ExtraField(self, self._extra_shape, name, given)
        self._extras.append(extra)

    def drop(self, extra: "ExtraField") -> None:
        """Take a row of another name out."""
        self._extras.remove(extra)
        extra.delete()
        self.edited()


class ExtraField(ui.element):
    """A value under a name that a person gives it."""

    def __init__(self, holder: ObjectField, shape: Shape, name: str, given: Given) -> None:
        super().__init__("div")
        self.classes("field-extra")
        with self:
            self._name = ui.input(value=name, on_change=holder.edited).classes("extra-name")
            self._name.props('outlined dense aria-label="Name" hide-bottom-space')
            slot = holder.slot.inner("value", f".{name}")
            slot = _held(slot, (REMOVE,), lambda _: holder.drop(self))
            self.inner = holder.slot.build(shape, slot, given)

    @property
    def key(self) -> str:
        return str(self._name.value or "")


class ListField(Field):
    """Values in order, each of which can be moved and removed."""

    look = "is-wide is-group"

    def build_box(self, given: Given) -> None:
        self._items: list[Field] = []
        self._rows = ui.element("div").classes("field-items")
        values: list[Given] = [*given_list(given)]
        for value in values or [ABSENT] * self._least():
            self._append(value)
        add = button("Add an item", self._add_item, icon="add").classes("field-add")
        add.props["aria-label"] = f"Add an item to {self.slot.name}"

    def read(self) -> Given:
        default = self.shape.default
        if not self._items and not self.slot.required and default in (ABSENT, None, []):
            return ABSENT
        return [None if item.value is ABSENT else item.value for item in self._items]

    def wrong(self, value: Given) -> str:
        if not isinstance(value, list):
            return super().wrong(value)
        least, most = self.shape.limit("minItems"), self.shape.limit("maxItems")
        if least is not None and len(value) < least:
            return f"At least {least:g} {'item' if least == 1 else 'items'}, please."
        return f"At most {most:g} items, please." if most is not None and len(value) > most else ""

    def inner_fields(self) -> Iterator[Field]:
        return iter(self._items)

    def _least(self) -> int:
        first = self.shape.schema.get("prefixItems")
        if not self.slot.required:
            return 0
        return min(20, max(int(self.shape.limit("minItems") or 0), len(first) if isinstance(first, list) else 0))

    def _append(self, given: Given) -> None:
        place = len(self._items)
        slot = self.slot.inner(f"{place + 1}", f"[{place}]")
        slot = _held(slot, (UP, DOWN, REMOVE), partial(self._act, place))
        with self._rows:
            self._items.append(self.slot.build(self.shape.item(place), slot, given))

    def _add_item(self) -> None:
        self._append(ABSENT)
        self.edited()

    def _act(self, place: int, action: str) -> None:
        """Draw the items anew in another order: their places are part of what they are called."""
        values = [item.value for item in self._items]
        target = {"up": place - 1, "down": place + 1}.get(action, place)
        if not 0 <= target < len(values):
            return
        value = values.pop(place)
        if action != "remove":
            values.insert(target, value)
        self._items.clear()
        self._rows.clear()
        for one in values:
            self._append(one)
        self.edited()
        if self._items:
            self._items[min(target, len(self._items) - 1)].focus_action(action)


class AlternativesField(Field):
    """First which of several kinds of value, then the value."""

    look = "is-wide is-group"

    def build_box(self, given: Given) -> None:
        options = self.shape.options
        place = 0 if given is ABSENT else next((n for n, one in enumerate(options) if suits(one, given)), 0)
        self._sent = self.slot.required or given is not ABSENT
        self._words = [option_words(one) for one in options]
        optional = [] if self.slot.required else ["Not sent"]
        chosen = place + len(optional) if self._sent else 0
        select_box(f"Kind of {self.slot.name}", [*optional, *self._words], chosen, self._choose)
        self._place = ui.element("div").classes("field-group")
        self._inner: Field | None = None
        if self._sent:
            self._build_inner(place, given)
        self._place.set_visibility(self._sent)

    def read(self) -> Given:
        return self._inner.value if self._inner is not None else ABSENT

    def wrong(self, value: Given) -> str:
        return "" if self._inner is not None else super().wrong(value)

    def inner_fields(self) -> Iterator[Field]:
        return iter(()) if self._inner is None else iter((self._inner,))

    def _build_inner(self, place: int, given: Given) -> None:
        self._place.clear()
        slot = self.slot.inner(self._words[place], "")
        with self._place:
            self._inner = self.slot.build(self.shape.options[place], slot, given)

    def _choose(self, event: events.GenericEventArguments) -> None:
        place = int(event.args) - (0 if self.slot.required else 1)
        self._inner = None
        if place >= 0:
            self._build_inner(place, ABSENT)
        self._place.set_visibility(place >= 0)
        self.edited()


def _held(slot: Slot, actions: tuple[tuple[str, str, str], ...], act: Callable[[str], object]) -> Slot:
    return replace(slot, actions=actions, act=act)


def _free_name(taken: set[str]) -> str:
    numbers = iter(range(1, len(taken) + 2))
    return next(name for name in (f"name{number}" for number in numbers) if name not in taken)
