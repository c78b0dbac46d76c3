"""A run waits for its owner: the yellow card of a pause, which becomes a line once it is decided."""

import json
from collections.abc import Awaitable, Callable, Mapping

from nicegui import ui
from pydantic import JsonValue, TypeAdapter

from app.domain.events import PauseRequested, PauseResolved
from app.domain.tools import JsonSchema, ToolSpec
from app.engine.runs import LiveRun
from app.ui.components.buttons import button
from app.ui.components.failures import mark
from app.ui.components.schema_form import SchemaForm
from app.ui.components.tool_body import cut, pretty
from app.ui.markup import Html, icon, joined, tag

Act = Callable[[str, str], Awaitable[None]]
"""Does an action with a value, as the buttons of a turn do."""
_VALUES: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


def resolve_pause(live: LiveRun, action: str, value: str) -> None:
    """Decide on a pause of the run as a card's button said; raises `Conflict` when it waits no more."""
    pause_id, _, written = value.partition(" ")
    arguments = _VALUES.validate_json(written) if written else None
    live.resolve(pause_id, "approve" if action == "approve" else "deny", arguments=arguments)


class PauseCard(ui.element):
    """Its buttons do `approve` and `deny` with the pause's id, and the values that were written."""

    def __init__(self, pause: PauseRequested, spec: ToolSpec | None, *, alive: bool, act: Act) -> None:
        super().__init__("div")
        self._pause = pause
        self._spec = spec
        self._name = spec.title if spec and spec.title else pause.name
        self._act = act
        self._open = True
        self._form: SchemaForm | None = None
        with self, ui.element("div").classes("notice notice-warn") as self._card:
            self._card.props["aria-label"] = self._question
            self._card.props(f"role=group data-testid={self._testid}")
            self._build(alive=alive)

    def decided(self, resolved: PauseResolved) -> None:
        """The card becomes a line."""
        denied = resolved.decision == "deny"
        note = f" ({resolved.note})" if resolved.note else ""
        self._become("block" if denied else "check_circle", f"{self._outcome(resolved)}{note}")

    def close(self) -> None:
        """The run ended without a decision."""
        if self._open:
            self._become("block", f"Not {'answered' if self._is_question else 'decided'}: {self._name}")

    @property
    def _is_question(self) -> bool:
        return self._pause.reason == "question"

    @property
    def _testid(self) -> str:
        return "question-card" if self._is_question else "approval-card"

    @property
    def _question(self) -> str:
        return self._pause.question or f"The agent wants to call {self._name}. Allow it?"

    def _build(self, *, alive: bool) -> None:
        pause = self._pause
        who = f"{pause.asked_by or self._name} asks" if self._is_question else "Waiting for you"
        symbol = "contact_support" if self._is_question else "front_hand"
        words = tag("div", self._question, cls="pause-question")
        ui.html(joined(tag("strong", icon(symbol), who), words), sanitize=False)
        self._arguments = ui.html(cut(pretty(pause.arguments)) if pause.arguments else Html(""), sanitize=False)
        if not alive:
            ui.html(tag("div", "The app was closed before this was decided.", cls="what-to-do"), sanitize=False)
        elif self._is_question:
            self._build_answer()
        else:
            self._build_approval()

    def _build_answer(self) -> None:
        if self._pause.form is not None:
            self._form = SchemaForm(self._pause.form)
        with ui.element("div").classes("row-line"):
            button("Send answer" if self._form else "Yes", self._approve, look="primary", testid="answer-button")
            button("Decline", self._deny, testid="decline-button")

    def _build_approval(self) -> None:
        self._form_place = ui.element("div")
        with ui.element("div").classes("row-line"):
            button("Allow", self._approve, look="primary", testid="approve-button")
            button("Deny", self._deny, testid="deny-button")
            self._edit = button("Change arguments", self._change, look="quiet", testid="edit-arguments-button")

    def _change(self) -> None:
        """Let the arguments be changed before the call is allowed."""
        schema: JsonSchema = self._spec.parameters if self._spec else {"type": "object"}
        with self._form_place:
            self._form = SchemaForm(schema, self._pause.arguments)
        self._arguments.visible = self._edit.visible = False

    async def _approve(self) -> None:
        if self._form is None:
            await self._act("approve", self._pause.pause_id)
        elif not self._form.ask():
            await self._act("approve", f"{self._pause.pause_id} {json.dumps(self._form.value)}")

    async def _deny(self) -> None:
        await self._act("deny", self._pause.pause_id)

    def _outcome(self, resolved: PauseResolved) -> str:
        if self._is_question:
            return _answered(self._question, resolved)
        changed = resolved.arguments is not None and resolved.arguments != self._pause.arguments
        return f"{'Denied' if resolved.decision == 'deny' else 'Allowed'}: {self._name}" + (
            ", with other arguments" if changed else ""
        )

    def _become(self, symbol: str, words: str) -> None:
        self._open = False
        self.clear()
        with self:
            ui.html(mark(symbol, words), sanitize=False)


def _answered(question: str, resolved: PauseResolved) -> str:
    if resolved.decision == "deny":
        return f"Declined: {question}"
    values: Mapping[str, JsonValue] = resolved.arguments or {}
    said = ", ".join(f"{name}: {value}" for name, value in values.items())
    return f"Answered: {question} {said}".rstrip()
