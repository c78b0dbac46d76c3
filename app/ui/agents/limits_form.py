"""What a run of the variant may use up."""

from collections.abc import Callable

from nicegui import ui

from app.domain.agents import Limits
from app.ui.elements.editor_numbers import number_box, with_field

_BOXES = (
    ("max_steps", "Steps at most", "", 1),
    ("retries", "Retries", "", 1),
    ("total_time", "Whole run", "s", 10),
    ("idle_timeout", "Silence of the model", "s", 5),
    ("tool_timeout", "One tool call", "s", 1),
    ("run_tokens", "Tokens of a run (0: any)", "", 1000),
    ("run_cost", "Money for a run", "US$", 0.1),
    ("session_cost", "Session (0: any)", "US$", 1),
    ("day_cost", "Money for a day", "US$", 1),
    ("repeats", "Same call (0: any)", "", 1),
    ("result_size", "Tool result (0: any)", "bytes", 1_000_000),
    ("spawn_depth", "Agents calling agents", "levels", 1),
)


class LimitsForm(ui.element):
    """`on_change` gets limits that can be; what cannot be stays in its box, with the reason."""

    def __init__(self, limits: Limits, *, on_change: Callable[[Limits], None]) -> None:
        super().__init__("div")
        self.classes("settings-grid")
        self._limits = limits
        self._on_change = on_change
        with self:
            for field, label, suffix, step in _BOXES:
                number_box(field, label, getattr(limits, field), self._take, suffix=suffix, step=step)

    def _take(self, field: str, number: float | None) -> None:
        self._limits = with_field(self._limits, field, number)
        self._on_change(self._limits)
