"""Boxes for the fields of one node, each with its fault below it; what cannot be is said there, and changes nothing."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from nicegui import events, ui
from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.workflows.document import Binding, Calculated, FixedValue, FoundValue, Node, Template
from app.domain.workflows.references import Fault
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.editor_numbers import fault_words, number_box
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import visible
from app.ui.graph.words import binding_line
from app.ui.schema_form.json import BrokenJson, as_json, read_json
from app.ui.schema_form.simple import select_box

_NODE: TypeAdapter[Node] = TypeAdapter(Node)
BINDINGS: Mapping[str, str] = {"text": "Text", "value": "Value", "path": "Path", "formula": "Formula"}
EXAMPLES = {
    "text": "Words with {{draft.text}} in them",
    "value": "JSON, such as 3 or {“a”: 1}",
    "path": "A JMESPath expression, such as draft.items[0].name",
    "formula": "A formula, such as [review.score] * 2. Text compares without case",
}
LONGEST = 20_000  # characters of a box
REST = 300  # milliseconds after typing


class Offer(NamedTuple):
    """A value that can be put into a box."""

    name: str
    last: str = ""
    """The head of what it was in the run on the canvas; empty where that is not known."""


Changed = Callable[[Node, str, bool], None]
"""Gets another node, the field that differs, and whether its boxes are to be drawn anew."""


class Sheet(ui.element):
    """Shows `node`; `on_change` gets each other one that somebody makes of it."""

    def __init__(self, node: Node, offers: Sequence[Offer], on_change: Changed) -> None:
        super().__init__("div")
        self.classes("node-sheet")
        self.node = node
        self._offers = offers
        self._on_change = on_change
        self._notes: dict[str, ui.html] = {}
        self._wrong: dict[str, str] = {}

    def show_faults(self, faults: Sequence[Fault]) -> None:
        """Say each fault below the box it is about, those of no box at the top."""
        said: dict[str, list[Fault]] = {}
        for fault in faults:
            place = next((one for one in _prefixes(fault.field) if one in self._notes), "")
            said.setdefault(place, []).append(fault)
        for place, note in self._notes.items():
            own = [tag("span", icon("error_outline"), self._wrong[place])] if place in self._wrong else []
            note.set_content(joined(*own, *map(fault_line, said.get(place, ()))))

    def note(self, field: str) -> None:
        """The place where what is wrong with that field is said."""
        self._notes[field] = ui.html(sanitize=False).classes("sheet-note").props("role=status")

    def title(self, words: str) -> None:
        ui.html(words, sanitize=False, tag="h3").classes("field-title")

    def text(self, field: str, label: str, value: str, *, lines: bool = False, mono: bool = False) -> None:
        box = self._area(label, value, partial(self._typed, field)) if lines else ui.input(value=value)
        if not lines:
            box.on_value_change(partial(self._typed, field))
            box.props(f"outlined dense debounce={REST} maxlength=120")
        box.props(f"stack-label data-testid=node-{field}").props["label"] = label
        box.classes("mono-box" if mono else "")
        self.note(field)

    def number(self, field: str, label: str, value: float | None, *, hint: str = "", suffix: str = "") -> None:
        number_box(field, label, value, self._take, hint=hint, suffix=suffix)
        self.note(field)

    def choose(
        self, field: str, label: str, choices: Mapping[str, str], value: str, read: Callable[[str], object] = str
    ) -> None:
        """One of several: what `read` makes what is stored of, and its words. The boxes are drawn anew after it."""
        self.pick(label, choices, value, lambda name: self.set_anew(field, read(name)), testid=f"node-{field}")
        self.note(field)

    def pick(
        self, label: str, choices: Mapping[str, str], value: str, take: Callable[[str], object], *, testid: str
    ) -> None:
        """One of several, by the browser's own box: what `take` gets, and its words."""
        names = list(choices) if value in choices else [value, *choices]
        words = [choices.get(name, name) for name in names]

        def chosen(event: events.GenericEventArguments) -> object:
            return take(names[int(event.args)])

        with ui.element("label").classes("sheet-pick"):
            ui.html(tag("span", label), sanitize=False)
            select_box(label, words, names.index(value), chosen).props(f"data-testid={testid}")

    def switch(self, field: str, label: str, value: bool) -> None:
        ui.switch(label, value=value, on_change=lambda event: self.set(field, bool(event.value)))

    def json(self, field: str, label: str, value: JsonValue, *, may_be_empty: bool = False) -> None:
        """Any JSON; an empty box is null where it may be."""

        def typed(event: events.ValueChangeEventArguments[str | None]) -> None:
            text = event.value or ""
            try:
                read = None if may_be_empty and not text.strip() else read_json(text)
            except BrokenJson as problem:
                self._refuse(field, f"{problem} The last good one stays in use.")
            else:
                self.set(field, read)

        box = self._area(label, "" if value is None and may_be_empty else as_json(value), typed)
        box.classes("mono-box").props(f"stack-label data-testid=node-{field}").props["label"] = label
        self.note(field)

    def binding(self, field: str, label: str, value: Binding, take: Callable[[Binding], None] | None = None) -> None:
        """Where a value comes from: its kind, what is written, and the names there are."""
        put = take or partial(self.set, field)

        def took(given: Binding) -> None:
            self._wrong.pop(field, None)
            put(given)

        with ui.element("div").classes("binding"):
            BindingBox(field, label, value, self._offers, take=took, refuse=partial(self._refuse, field))
            self.note(field)

    def bindings(
        self, field: str, label: str, values: Mapping[str, Binding], *, known: Sequence[str] = (), open_: bool = True
    ) -> None:
        """Bindings by name: the `known` names first, then others where they are `open_`, which can be named anew."""
        self.title(label)
        for name in dict.fromkeys((*known, *values)):
            with ui.element("div").classes("row-line sheet-row"):
                with ui.element("div").classes("grow"):
                    given = values.get(name, Template())
                    self.binding(f"{field}.{name}", visible(name), given, partial(self._put_named, field, name))
                if name in values:
                    leave = partial(self._leave_out, field, name)
                    icon_button("close", f"Leave out {visible(name)}", leave).classes("sheet-remove")
        self.note(field)
        if open_:
            self._add_row(field, label)

    def set_anew(self, field: str, content: object) -> None:
        """The same for a field on which it depends which boxes there are: they are drawn anew."""
        self.set(field, content, anew=True)

    def set(self, field: str, content: object, *, anew: bool = False) -> None:
        """Take another content of that field, unless it cannot be."""
        told = self.node.model_dump() | {field: content}
        try:
            self.node = _NODE.validate_python(told)
        except ValidationError as problem:
            self._refuse(field, f"{fault_words(problem)}. The last good one stays in use.")
            return
        self._wrong.pop(field, None)
        self._on_change(self.node, field, anew)

    def _add_row(self, field: str, label: str) -> None:
        with ui.element("div").classes("row-line sheet-row"):
            name = ui.input(placeholder="name").props("outlined dense maxlength=60").classes("grow")
            name.props["aria-label"] = f"New name in {label}"

            def add() -> None:
                if called := str(name.value or "").strip():
                    self.set_anew(field, {**getattr(self.node, field), called: Template()})

            name.on("keydown.enter", add)
            button("Add", add, icon="add")

    def _put_named(self, field: str, name: str, binding: Binding) -> None:
        self.set(field, {**getattr(self.node, field), name: binding})

    def _leave_out(self, field: str, name: str) -> None:
        self.set_anew(field, {key: value for key, value in getattr(self.node, field).items() if key != name})

    def _area(
        self, label: str, value: str, typed: Callable[[events.ValueChangeEventArguments[str | None]], None]
    ) -> ui.textarea:
        box = ui.textarea(value=value, on_change=typed)
        box.props(f"outlined dense autogrow rows=1 debounce={REST} maxlength={LONGEST} spellcheck=false")
        box.props["aria-label"] = label
        return box

    def _typed(self, field: str, event: events.ValueChangeEventArguments[str | None]) -> None:
        self.set(field, event.value or "")

    def _take(self, field: str, number: float | None) -> None:
        self.set(field, int(number) if number is not None and number == int(number) else number)

    def _refuse(self, field: str, words: str) -> None:
        self._wrong[field] = words
        if field in self._notes:
            self._notes[field].set_content(tag("span", icon("error_outline"), words))


class BindingBox(ui.element):
    """`take` gets each binding that is written, `refuse` why what is written is none."""

    def __init__(
        self,
        field: str,
        label: str,
        value: Binding,
        offers: Sequence[Offer],
        *,
        take: Callable[[Binding], None],
        refuse: Callable[[str], None],
    ) -> None:
        super().__init__("div")
        self._kind: str = value.kind
        self._take, self._refuse, self._offers = take, refuse, offers
        kinds = list(BINDINGS)
        with self:
            with ui.element("div").classes("row-line binding-head"):
                ui.html(tag("span", label), sanitize=False).classes("grow binding-name")
                box = select_box(f"Kind of {label}", list(BINDINGS.values()), kinds.index(self._kind), self._turn)
                box.props(f'data-testid="kind-{field}"')
                if offers:
                    names = [
                        "Insert…",
                        *(visible(f"{one.name} = {one.last}" if one.last else one.name) for one in offers),
                    ]
                    select_box(f"Insert a value into {label}", names, 0, self._insert).props("data-insert")
            self._box = ui.textarea(value=binding_line(value), on_change=self._typed)
            self._box.props(f"outlined dense autogrow rows=1 debounce={REST} maxlength={LONGEST} spellcheck=false")
            self._box.props(f'data-testid="node-{field}"').props["aria-label"] = label
            self._look()

    def _look(self) -> None:
        self._box.props["placeholder"] = EXAMPLES[self._kind]
        self._box.classes(remove="mono-box") if self._kind == "text" else self._box.classes("mono-box")

    def _turn(self, event: events.GenericEventArguments) -> None:
        self._kind = list(BINDINGS)[int(event.args)]
        self._look()
        self._typed()

    def _insert(self, event: events.GenericEventArguments) -> None:
        if place := int(event.args):
            name, text = self._offers[place - 1].name, str(self._box.value or "")
            self._box.value = text + (f"{{{{{name}}}}}" if self._kind == "text" else name)

    def _typed(self) -> None:
        text = str(self._box.value or "")
        match self._kind:
            case "text":
                self._take(Template(text=text))
            case "path":
                self._take(FoundValue(path=text))
            case "formula":
                self._take(Calculated(formula=text))
            case "value":
                try:
                    self._take(FixedValue(value=read_json(text) if text.strip() else None))
                except BrokenJson as problem:
                    self._refuse(f"{problem} A text needs quotation marks here, or choose Text.")


def fault_line(fault: Fault) -> Html:
    """What is wrong, to be shown where it is."""
    look = {"error": "is-bad", "warning": "is-warn", "info": "faint"}[fault.severity]
    symbol = {"error": "error_outline", "warning": "warning", "info": "info"}[fault.severity]
    return tag("span", icon(symbol), visible(fault.text), cls=look)


def _prefixes(field: str) -> list[str]:
    """`a.b.c`, `a.b`, `a`."""
    parts = field.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
