"""A question of a run to its owner: may this tool be called?"""

from nicegui import ui

from app.domain.events import PauseRequested, PauseResolved
from app.domain.tools import ToolSpec
from app.ui.components.failures import action_button, mark
from app.ui.components.tool_body import cut, pretty
from app.ui.markup import Html, icon, joined, tag


class Approval(ui.html):
    """The yellow card of a pause; its buttons are heard by the turn it stands in."""

    def __init__(self, pause: PauseRequested, spec: ToolSpec | None, *, alive: bool) -> None:
        super().__init__(_card(pause, spec, alive=alive), sanitize=False)
        self._name = spec.title if spec and spec.title else pause.name
        self._open = True

    def decided(self, resolved: PauseResolved) -> None:
        """The card becomes a line."""
        self._open = False
        approved = resolved.decision != "deny"
        words = f"{'Allowed' if approved else 'Denied'}: {self._name}"
        note = f" ({resolved.note})" if resolved.note else ""
        self.set_content(mark("check_circle" if approved else "block", words + note))

    def close(self) -> None:
        """The run ended without a decision."""
        if self._open:
            self._open = False
            self.set_content(mark("block", f"Not decided: {self._name}"))


def _card(pause: PauseRequested, spec: ToolSpec | None, *, alive: bool) -> Html:
    title = spec.title if spec and spec.title else pause.name
    question = pause.question or f"The agent wants to call {title}. Allow it?"
    return tag(
        "div",
        tag("strong", icon("front_hand"), "Waiting for you"),
        tag("div", question),
        cut(pretty(pause.arguments)) if pause.arguments else "",
        _buttons(pause) if alive else tag("div", "The app was closed before this was decided.", cls="what-to-do"),
        cls="notice notice-warn",
        role="group",
        aria_label=question,
        data_testid="approval-card",
    )


def _buttons(pause: PauseRequested) -> Html:
    return tag(
        "div",
        joined(
            action_button("approve", "Allow", testid="approve-button", value=pause.pause_id, look="primary"),
            action_button("deny", "Deny", testid="deny-button", value=pause.pause_id),
        ),
        cls="row-line",
    )
