"""How the model is asked: temperature and the like."""

from collections.abc import Callable

from nicegui import ui
from pydantic import ValidationError

from app.domain.agents import Parameters
from app.ui.elements.editor_numbers import number_box, with_field

PROVIDERS_CHOICE = "provider's choice"
_EFFORTS = {"": "Provider's choice", "minimal": "Minimal", "low": "Low", "medium": "Medium", "high": "High"}


class ParametersForm(ui.element):
    """`on_change` gets parameters that can be; an empty box leaves the choice to the provider."""

    def __init__(self, parameters: Parameters, *, on_change: Callable[[Parameters], None]) -> None:
        super().__init__("div")
        self.classes("settings-grid")
        self._parameters = parameters
        self._on_change = on_change
        with self:
            take, hint = self._take, PROVIDERS_CHOICE
            number_box("temperature", "Temperature", parameters.temperature, take, hint=hint, step=0.1)
            number_box("top_p", "Top-p", parameters.top_p, take, hint=hint, step=0.05)
            number_box("max_tokens", "Answer at most", parameters.max_tokens, take, suffix="tokens", step=256)
            number_box("seed", "Seed", parameters.seed, take, hint=hint)
            self._effort()
            self._stop()
            self._parallel()

    def _effort(self) -> None:
        box = ui.select(_EFFORTS, label="Reasoning effort", value=self._parameters.reasoning_effort or "")
        box.props("outlined dense options-dense stack-label data-testid=setting-reasoning-effort").classes("number-box")
        box.on_value_change(lambda: self._set("reasoning_effort", box.value or None))

    def _stop(self) -> None:
        box = ui.input_chips("Stop at (Enter adds one)", value=list(self._parameters.stop))
        box.props("outlined dense stack-label hide-dropdown-icon new-value-mode=add-unique data-testid=setting-stop")
        box.classes("number-box wide-box")
        box.on_value_change(lambda: self._set("stop", tuple(map(str, box.value or ()))))

    def _parallel(self) -> None:
        box = ui.switch("Several tool calls at once", value=self._parameters.parallel_tool_calls)
        box.props("dense data-testid=setting-parallel-tool-calls").classes("wide-box")
        box.on_value_change(lambda: self._set("parallel_tool_calls", bool(box.value)))

    def _set(self, field: str, content: object) -> None:
        try:
            self._take(field, content)
        except ValidationError:  # a browser sent what its own box does not offer
            return

    def _take(self, field: str, content: object) -> None:
        self._parameters = with_field(self._parameters, field, content)
        self._on_change(self._parameters)
