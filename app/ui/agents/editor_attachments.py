"""What an agent does with attachments of which nobody says how they go: a choice for each kind."""

from collections.abc import Callable, Mapping, Sequence

from nicegui import ui
from pydantic import TypeAdapter, ValidationError

from app.domain.messages import TOOL, Disposition, MediaPattern
from app.domain.tools import ToolSpec
from app.ui.elements.buttons import icon_button
from app.ui.elements.visible import title_of

Rules = dict[str, str]
USUAL: Mapping[str, str] = {
    "image/*": "Pictures",
    "application/pdf": "PDF files",
    "audio/*": "Sound",
    "video/*": "Videos",
    "text/*": "Texts and tables",
    "*": "All other files",
}
_WAYS = {
    "": "As fits the model",
    "inline": "Within the message",
    "reference": "As a file for tools",
    "native": "Uploaded to the provider",
}
_RULES = TypeAdapter(dict[MediaPattern, Disposition])


class AttachmentRules(ui.element):
    """`on_change` gets rules that can be, by media type; `on_fault` what is wrong with a type that was typed, or ""."""

    def __init__(
        self,
        rules: Mapping[str, str],
        tools: Sequence[ToolSpec],
        *,
        on_change: Callable[[Rules], None],
        on_fault: Callable[[str], None],
    ) -> None:
        super().__init__("div")
        self.classes("stack").props("data-testid=attachment-rules")
        self._rules: Rules = dict(rules)
        self._ways = _WAYS | {f"{TOOL}{tool.name}": f"For {title_of(tool)}" for tool in tools}
        self._on_change, self._on_fault = on_change, on_fault
        with self:
            words = "Whoever attaches a file may choose otherwise. What cannot be done is said, and becomes a file."
            ui.label(words).classes("faint")
            self._grid = ui.element("div").classes("settings-grid")
            with self._grid:
                for kind in (*USUAL, *(kind for kind in self._rules if kind not in USUAL)):
                    self._row(kind)
            with ui.element("div").classes("row-line"):
                self._typed = ui.input("Another media type", placeholder="text/csv").without_auto_validation()
                self._typed.props("outlined dense stack-label hide-bottom-space data-testid=rule-type")
                self._typed.on("keydown.enter", self._add)
                icon_button("add", "Add a media type", self._add, testid="add-rule")

    def _row(self, kind: str) -> None:
        chosen = self._rules.get(kind, "")
        ways = self._ways | ({} if chosen in self._ways else {chosen: chosen})
        box = ui.select(ways, label=USUAL.get(kind, kind), value=chosen)
        box.props("outlined dense options-dense stack-label").classes("number-box")
        box.props["data-testid"] = f"rule-{kind}"
        box.on_value_change(lambda: self._choose(kind, str(box.value or "")))

    def _choose(self, kind: str, way: str) -> None:
        self._rules.pop(kind, None)
        if way:
            self._rules[kind] = way
        self._on_change(dict(self._rules))

    def _add(self) -> None:
        kind = str(self._typed.value or "").strip().lower()
        try:
            _RULES.validate_python({kind: "reference"})
        except ValidationError:
            self._typed.error = "Write it like text/csv or image/*"
            self._on_fault(f"{kind!r} is no media type.")
            return
        self._typed.error = None
        self._on_fault("")
        self._typed.value = ""
        is_new = kind not in USUAL and kind not in self._rules
        self._choose(kind, self._rules.get(kind, "reference"))
        if is_new:
            with self._grid:
                self._row(kind)
