"""One value of a form: its name, its box, its note, and the buttons that leave it out or move it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nicegui import ui
from pydantic import JsonValue

from app.ui.elements.buttons import icon_action
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import head
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import visible
from app.ui.schema_form.fitting import NEEDED, out_of_bounds
from app.ui.schema_form.shape import ABSENT, Given, Shape

ITEM_ACTIONS = (
    ("up", "arrow_upward", "Move up"),
    ("down", "arrow_downward", "Move down"),
    ("remove", "delete_outline", "Remove"),
)


@dataclass(frozen=True)
class Slot:
    """Where a field stands in its form."""

    name: str
    place: str
    """`filter.columns[0]`"""
    changed: Callable[[], object]
    """Called after each edit of a person."""
    required: bool = True
    level: int = 0
    """1 for the values of the form, 2 for what these hold."""
    act: Callable[[str], object] | None = None
    """Moves or removes it, as an item of a list: gets `up`, `down` or `remove`."""

    def inner(
        self, name: str, step: str, *, required: bool = True, act: Callable[[str], object] | None = None
    ) -> "Slot":
        """A slot for a value within this one."""
        return Slot(name, f"{self.place}{step}".removeprefix("."), self.changed, required, self.level + 1, act)


class Field(ui.element):
    """Subclasses build the box in `build_box`, and say what is in it by `read` and what is wrong by `wrong`."""

    look = "is-wide"
    """How it stands among others: `is-wide` on a line of its own, `is-group` also with its note first."""

    def __init__(self, shape: Shape, slot: Slot, given: Given) -> None:
        super().__init__("div")
        self.classes(f"field {self.look}").props["data-field"] = slot.place
        self.shape = shape
        self.slot = slot
        self._is_null = given is None and shape.nullable
        self._asked = False
        with self:
            self._head = ui.html(sanitize=False).classes("field-head")
            on_click_of(self._head, "action", self._clicked)
            self._box = ui.element("div").classes("field-box")
            self._note = ui.html(sanitize=False).classes("field-note")
        self._fill(ABSENT if self._is_null else given)
        self.show()

    def build_box(self, given: Given) -> None:
        """Put what the value is written in into the page."""
        raise NotImplementedError

    def read(self) -> Given:
        """What is in the box."""
        raise NotImplementedError

    def wrong(self, value: Given) -> str:
        """What keeps that value from being sent; empty when nothing does."""
        if value is ABSENT:
            return NEEDED if self.slot.required else ""
        return out_of_bounds(self.shape, value)

    def inner_fields(self) -> Iterator["Field"]:
        """The fields within this one."""
        return iter(())

    @property
    def value(self) -> Given:
        """What would be sent; `ABSENT` when nothing would."""
        return None if self._is_null else self.read()

    def faults(self) -> Iterator[tuple[str, str]]:
        """Where and what keeps this value or one within it from being sent."""
        if self._is_null:
            return
        if words := self.wrong(self.read()):
            yield self.slot.place, words
        for inner in self.inner_fields():
            yield from inner.faults()

    def ask(self) -> None:
        """Say what is missing here and within."""
        self._asked = True
        self.show()
        for inner in self.inner_fields():
            inner.ask()

    def emptied(self, empty: JsonValue) -> Given:
        """What is sent once a person emptied it: nothing, unless a default would then take its place."""
        return ABSENT if self.shape.default in (ABSENT, None, empty) else empty

    def edited(self) -> None:
        """A person changed it."""
        self.show()
        self.slot.changed()

    def show(self) -> None:
        """Show its state: what it is called, whether it is sent, what is wrong with it."""
        self._head.set_content(visible(self._head_html()))
        self._box.set_visibility(not self._is_null)
        words = "" if self._is_null else self.wrong(self.read())
        said = words if words and (self._asked or words != NEEDED) else ""
        self._note.set_content(visible(self._note_html(said)))
        self.props(remove="data-fault") if not said else self.props("data-fault")

    def focus_action(self, action: str) -> None:
        """Put the keyboard's focus back on a button that was pressed and drawn anew."""
        path = f"#{self.html_id} > .field-head [data-action={action}]"
        self.client.run_javascript(f"document.querySelector({path!r})?.focus()")

    def kind_words(self) -> str:
        """What kind of value it is, and within which limits."""
        return self.shape.words

    def _fill(self, given: Given) -> None:
        self._box.clear()
        with self._box:
            self.build_box(given)

    def _clicked(self, action: str) -> None:
        match action:
            case "null":
                self._is_null = not self._is_null
                self.edited()
            case "leave-out":
                self._is_null = False
                self._fill(ABSENT)
                self.edited()
            case _ if self.slot.act is not None:
                self.slot.act(action)

    def _head_html(self) -> Html:
        slot, shape = self.slot, self.shape
        sent = self.value is not ABSENT
        # Where null is the default, leaving it out says the same.
        may_be_null = shape.nullable and (self._is_null or slot.required or shape.default is not None)
        return joined(
            tag("span", slot.name, _REQUIRED if slot.required and slot.act is None else "", cls="field-name"),
            tag("span", self.kind_words(), cls="field-kind"),
            tag("span", "" if sent or slot.required else "not sent", cls="field-sent"),
            tag("span", cls="grow"),
            self._null_button() if may_be_null else "",
            icon_action("leave-out", "close", f"Leave out {slot.name}") if sent and not slot.required else "",
            *(icon_action(*action) for action in ITEM_ACTIONS if slot.act is not None),
        )

    def _null_button(self) -> Html:
        return tag(
            "button",
            "No value",
            cls="null-button",
            aria_pressed="true" if self._is_null else "false",
            data_action="null",
            title="Send null",
        )

    def _note_html(self, fault: str) -> Html:
        if fault:
            return tag("span", icon("error_outline"), fault, cls="field-fault", role="alert")
        if isinstance(text := self.value, str) and visible(text) != text:
            return tag("span", icon("visibility_off"), f"Not all of it shows above: {head(text, 500)}", cls="is-warn")
        about = self.shape.text("description")
        return tag("span", about) if about else Html("")


_REQUIRED = joined(tag("b", "*", aria_hidden="true"), tag("span", " (required)", cls="visually-hidden"))
