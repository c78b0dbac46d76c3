"""Rows of a name and a value each: environment variables, headers."""

from collections.abc import Mapping

from nicegui import ui

from app.ui.elements.buttons import button, icon_button


class PairRows(ui.element):
    """`value` is what is written now, without rows that have no name."""

    def __init__(self, pairs: Mapping[str, str], *, noun: str, hint: str = "") -> None:
        """`noun` is what one of them is called, such as "variable"."""
        super().__init__("div")
        self.classes("pair-rows").props["data-pairs"] = noun
        self._noun = noun
        self._boxes: list[tuple[ui.input, ui.input]] = []
        with self:
            self._rows = ui.element("div").classes("pair-rows")
            if hint:
                ui.label(hint).classes("field-note")
            add = button(f"Add a {noun}", lambda: self._add("", "", focus=True), look="quiet", icon="add")
            add.classes("field-add")
        for name, value in pairs.items():
            self._add(name, value)

    @property
    def value(self) -> dict[str, str]:
        """The last of two rows of one name counts."""
        written = ((str(name.value or "").strip(), str(value.value or "")) for name, value in self._boxes)
        return {name: value for name, value in written if name}

    def _add(self, name: str, value: str, *, focus: bool = False) -> None:
        with self._rows, ui.element("div").classes("pair-row") as row:
            boxes = (self._box("name", name), self._box("value", value))
            self._boxes.append(boxes)

            def remove() -> None:
                self._boxes.remove(boxes)
                row.delete()

            icon_button("close", f"Remove this {self._noun}", remove)
        if focus:
            boxes[0].run_method("focus")

    def _box(self, what: str, text: str) -> ui.input:
        box = ui.input(value=text, placeholder=what.capitalize())
        box.props("outlined dense spellcheck=false autocomplete=off").props["aria-label"] = f"{self._noun} {what}"
        return box
