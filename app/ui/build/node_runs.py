"""What can be run from the chosen node, and the value that stands for what it gives."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from itertools import islice
from typing import NamedTuple

from nicegui import ui
from pydantic import JsonValue

from app.domain.json_schema import UnusableSchema, mistakes
from app.domain.tools import JsonSchema
from app.ui.elements.buttons import button
from app.ui.elements.choice import Choice
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.questions import answer_to, keep_typed, named_dialog
from app.ui.elements.visible import visible
from app.ui.graph.node_plans import WAYS, Way
from app.ui.graph.node_values import value_box
from app.ui.schema_form.json import BrokenJson, as_json, read_json

LONGEST = 200_000  # characters
MOST_REFERENCES = 1_000
MOST_MISTAKES = 3


class Pin(NamedTuple):
    value: JsonValue


class NodeRunButtons(ui.element):
    """`on_run` gets the way of what is pressed, `on_unpin` that the value is taken away."""

    def __init__(self, on_run: Callable[[Way], Awaitable[None]], on_unpin: Callable[[], object]) -> None:
        super().__init__("section")
        self.classes("node-ways").props('aria-label="Run from this node" data-testid=node-ways')
        self._buttons: dict[Way, ui.button] = {}
        with self:
            with ui.element("div").classes("node-ways-row"):
                for way, (words, symbol, meaning) in WAYS.items():
                    made = button(words, partial(on_run, way), icon=symbol, testid=f"node-{way}")
                    made.props["title"] = meaning
                    self._buttons[way] = made
            self._why = ui.html(sanitize=False).classes("faint").props("role=status data-testid=node-ways-why")
            with ui.element("div").classes("node-pinned").props("data-testid=node-pinned") as self._pinned:
                self._value = ui.html(sanitize=False)
                button("Take the pin off", on_unpin, look="quiet", icon="close", testid="node-unpin")
        self.visible = False

    def show(self, why: Mapping[Way, str], pin: Pin | None) -> None:
        """`why` says what cannot be, in words that are empty for what can."""
        for way, made in self._buttons.items():
            made.set_enabled(not why[way])
        reasons = dict.fromkeys(filter(None, why.values()))
        self._why.set_content(joined(*(tag("p", words) for words in reasons)))
        self._pinned.visible = pin is not None
        self._buttons["pin"].set_text("Change pin" if pin else "Pin")
        if pin is not None:
            words = tag("p", icon("push_pin"), " Stands for what it gives, whenever a part is run from here.")
            self._value.set_content(joined(words, value_box("Pinned", pin.value, testid="node-pin-value")))


async def asked_for_pin(title: str, value: JsonValue, schema: JsonSchema) -> Pin | None:
    """The value that somebody wrote, which fits the schema; `None` when they thought better of it."""
    with named_dialog("Pin a value") as dialog, ui.card().classes("dialog-card") as card:
        card.props("data-testid=pin-dialog")
        head = joined(
            tag("h2", f"What “{visible(title)}” gives", cls="section-title"),
            tag("p", "It does not run: this value stands in its place, and the run says so.", cls="faint"),
        )
        ui.html(head, sanitize=False)
        box = PinBox(value, schema)

        async def pin() -> None:
            if (written := await box.written()) is not None:
                dialog.submit(written)

        with ui.element("div").classes("row-line dialog-buttons"):
            button("Cancel", lambda: dialog.submit(None), look="quiet")
            button("Pin", pin, look="primary", icon="push_pin", testid="pin-done")
    keep_typed(dialog, card)
    return await answer_to(dialog, Pin)


class PinBox(ui.element):
    """A box for a value, as text or as JSON, with what is wrong below it."""

    def __init__(self, value: JsonValue, schema: JsonSchema) -> None:
        super().__init__("div")
        self.classes("stack whole-width")
        self._schema = schema
        self._as_text = value is None or isinstance(value, str)
        with self:
            kinds = (("text", "Text"), ("json", "JSON"))
            self._kinds = Choice(kinds, self._turn, label="Kind of value", testid="pin-{}", look="mode-switch")
            text = (value if isinstance(value, str) else "") if self._as_text else as_json(value)
            self._box = ui.textarea(value=text).classes("whole-width mono-box")
            self._box.props(f"outlined dense autogrow autofocus maxlength={LONGEST} spellcheck=false")
            self._box.props("data-testid=pin-value input-style=max-height:40vh").props["aria-label"] = "Value"
            self._wrong = ui.html(sanitize=False).classes("sheet-note").props("role=status data-testid=pin-wrong")
        self._kinds.show("text" if self._as_text else "json")

    async def written(self) -> Pin | None:
        """The value; `None`, and why, where what is written is none or does not fit."""
        text = str(self._box.value or "")
        try:
            value = text if self._as_text else read_json(text)
        except BrokenJson as problem:
            self._say(f"{problem} For words as they stand choose Text.")
            return None
        wrong = await asyncio.to_thread(misfit, self._schema, value)
        self._say(wrong)
        return None if wrong else Pin(value)

    def _turn(self, kind: str) -> None:
        text = str(self._box.value or "")
        if self._as_text and kind == "json" and text:
            self._box.value = json.dumps(text, ensure_ascii=False) if _is_no_json(text) else text
        self._as_text = kind == "text"
        self._kinds.show("text" if self._as_text else "json")
        self._say("")

    def _say(self, words: str) -> None:
        self._wrong.set_content(tag("span", icon("error_outline"), visible(words), cls="is-bad") if words else "")


def misfit(schema: JsonSchema, value: JsonValue) -> str:
    """Why a node with that schema does not give such a value; empty where it may, or where nobody can say."""
    try:
        found = list(islice(mistakes(schema, value, most_references=MOST_REFERENCES), MOST_MISTAKES)) if schema else []
    except UnusableSchema:
        return ""
    told = (f"{'.'.join(map(str, one.path))}: {one.message}".removeprefix(": ") for one in found)
    return f"This does not fit what the node gives. {' '.join(told)}" if found else ""


def _is_no_json(text: str) -> bool:
    try:
        read_json(text)
    except BrokenJson:
        return True
    return False
