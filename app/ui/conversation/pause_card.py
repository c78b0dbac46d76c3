"""A run waits for its owner: the yellow card of a pause, which becomes a line once it is decided."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from nicegui import ui
from pydantic import BaseModel, JsonValue

from app.domain.events import Decision, PauseRequested, PauseResolved
from app.domain.tools import JsonSchema, SignInRequest, ToolSpec
from app.ui.conversation.failures import mark
from app.ui.conversation.sign_in_link import sign_in_view
from app.ui.conversation.tool_body import long_arguments, pretty
from app.ui.elements.buttons import button
from app.ui.elements.focus import refocus
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.visible import titled, visible
from app.ui.schema_form.form import SchemaForm
from app.workbench import Workbench

Act = Callable[[str, str], Awaitable[None]]
"""Does an action with a value, as the buttons of a turn do."""
DECIDE, STOP = "decide", "stop-run"
"""What the buttons of the card do; the value of the first is a `CardDecision`."""
KINDS = {"question": "question", "oauth": "sign-in"}
"""By reason: the kind of card, where nothing has to be allowed."""
AT_ONCE, LINES = 1_500, 25
"""Characters and lines that are seen at one look."""
MOST = 200_000
"""Characters of which nobody looks at all."""


class CardDecision(BaseModel):
    """What somebody decided on a card."""

    pause_id: str
    subject: str
    """The digest of what the card showed."""
    decision: Decision
    arguments: dict[str, JsonValue] | None = None
    note: str = ""


async def decide_pause(workbench: Workbench, run_id: str, value: str) -> None:
    """Decide on a pause of the run as a card's button said; raises what `Pauses.decide` does."""
    said = CardDecision.model_validate_json(value)
    await workbench.pauses.decide(
        run_id, said.pause_id, said.decision, arguments=said.arguments, note=said.note, subject=said.subject
    )


class PauseCard(ui.element):
    """Its buttons do `decide` and `stop-run`. Where its run was left, a decision lets that go on."""

    def __init__(self, pause: PauseRequested, spec: ToolSpec | None, *, alive: bool, act: Act) -> None:
        super().__init__("div")
        self._pause = pause
        self._spec = spec
        self._name = titled(spec, pause.name, pause.label) if pause.name else pause.asked_by
        self._act = act
        self._open = True
        self._form: SchemaForm | None = None
        self._allowing: list[ui.button] = []
        """What may be pressed once all arguments were seen."""
        with self, ui.element("div").classes("notice notice-warn") as self._card:
            self._card.props["aria-label"] = visible(self._question)
            self._card.props(f"role=group data-testid={KINDS.get(pause.reason, 'approval')}-card")
            self._build(alive=alive)

    def decided(self, resolved: PauseResolved) -> None:
        """The card becomes a line."""
        denied = resolved.decision == "deny"
        note = f" ({resolved.note})" if resolved.note else ""
        self._become("block" if denied else "check_circle", f"{self._outcome(resolved)}{note}")

    def close(self) -> None:
        """The run ended without a decision."""
        if self._open:
            undone = {"question": "answered", "oauth": "signed in"}.get(self._pause.reason, "decided")
            self._become("block", f"Not {undone}: {self._name}")

    @property
    def _is_question(self) -> bool:
        return self._pause.reason in KINDS

    @property
    def _sign_in(self) -> SignInRequest | None:
        """Where one has to sign in, where it is that."""
        return SignInRequest.model_validate(self._pause.arguments) if self._pause.reason == "oauth" else None

    @property
    def _question(self) -> str:
        if self._pause.begun:
            return (
                f"The app was closed while {self._name} was running. It may have done its work already. "
                "Run it once more?"
            )
        who = f"An app of the server {self._pause.asked_by}" if self._pause.asked_by else "The agent"
        return self._pause.question or f"{who} wants to call {self._name}. Allow it?"

    def _build(self, *, alive: bool) -> None:
        pause = self._pause
        who = f"{pause.asked_by or self._name} asks" if self._is_question else "Waiting for you"
        symbol = "contact_support" if self._is_question else "front_hand"
        words = tag("div", self._question, cls="pause-question")
        ui.html(visible(joined(tag("strong", icon(symbol), who), words)), sanitize=False)
        beside = (
            {} if self._sign_in else {name: one for name, one in pause.arguments.items() if name not in self._begun}
        )
        shown = pause.model_copy(update={"arguments": beside})
        self._arguments = PauseArguments(shown, on_seen=self._offer_to_allow)
        if not alive:
            ui.html(tag("div", self._left_words, cls="what-to-do", data_testid="pause-left"), sanitize=False)
        if self._sign_in is not None:
            self._build_sign_in(self._sign_in)
        elif self._is_question:
            self._build_answer()
        elif pause.begun:
            self._build_again()
        else:
            self._build_approval()
        self._offer_to_allow()
        if not alive:
            with self._buttons:
                button("Stop", partial(self._act, STOP, ""), look="quiet", testid="pause-stop-button")

    @property
    def _left_words(self) -> str:
        """What a decision does after the app was closed."""
        if self._pause.reason == "oauth":
            return "The app was closed since. Once you have signed in, the run goes on with the same call."
        if self._is_question and self._pause.name:
            return f"The app was closed since. An answer runs {self._name} again from its beginning, with that answer."
        return "The app was closed since. The run goes on with your decision."

    @property
    def _begun(self) -> dict[str, JsonValue]:
        """What the form of a question begins with: values that are shown under the names of its fields."""
        fields = (self._pause.form or {}).get("properties")
        named = fields if self._is_question and isinstance(fields, dict) else {}
        return {name: value for name, value in self._pause.arguments.items() if name in named}

    def _build_answer(self) -> None:
        if self._pause.form is not None:
            self._form = SchemaForm(self._pause.form, self._begun or None)
        with ui.element("div").classes("row-line") as self._buttons:
            button("Send answer" if self._form else "Yes", self._approve, look="primary", testid="answer-button")
            button("Decline", self._deny, testid="decline-button")

    def _build_sign_in(self, request: SignInRequest) -> None:
        ui.html(visible(sign_in_view(request)), sanitize=False)
        with ui.element("div").classes("row-line") as self._buttons:
            button("Go on without it", self._deny, testid="deny-button")

    def _build_again(self) -> None:
        with ui.element("div").classes("row-line") as self._buttons:
            self._allowing = [button("Run it again", self._approve, look="primary", testid="approve-button")]
            button("Tell the model it was interrupted", self._deny, testid="deny-button")
        self._build_note()

    def _build_approval(self) -> None:
        self._form_place = ui.element("div")
        with ui.element("div").classes("row-line") as self._buttons:
            allow = button("Allow", self._approve, look="primary", testid="approve-button")
            button("Deny", self._deny, testid="deny-button")
            self._edit = button("Change arguments", self._change, look="quiet", testid="edit-arguments-button")
            self._always = button("Always allow in this session", partial(self._decide, "always"), look="quiet")
            self._always.props("data-testid=always-button")
            self._keep = button("Keep as asked", self._keep_arguments, look="quiet", testid="keep-arguments-button")
            self._keep.visible = False
        self._allowing = [allow, self._edit, self._always]
        self._build_note()

    def _offer_to_allow(self) -> None:
        for one in self._allowing:
            one.set_enabled(self._arguments.seen)

    def _build_note(self) -> None:
        """Where the reason of a denial may be written, for the model to read."""
        self._note = ui.input("Reason, if you deny it (the model reads it)").props("outlined dense maxlength=2000")
        self._note.classes("fill").props("data-testid=deny-note").on("keydown.enter", self._deny)

    def _change(self) -> None:
        """Let the arguments be changed before the call is allowed."""
        schema: JsonSchema = self._spec.parameters if self._spec else {"type": "object"}
        with self._form_place:
            self._form = SchemaForm(schema, self._pause.arguments)
        self._offer_change(False)
        refocus(self._form_place, "input, select, textarea")

    def _keep_arguments(self) -> None:
        """Take all changes back."""
        self._form = None
        self._form_place.clear()
        self._offer_change(True)
        refocus(self._buttons, "[data-testid=edit-arguments-button]")

    def _offer_change(self, offered: bool) -> None:
        self._edit.visible = self._always.visible = offered
        self._keep.visible = not offered

    async def _approve(self) -> None:
        if self._form is None:
            await self._decide("answer" if self._is_question else "approve")
        elif not self._form.ask():
            await self._decide("answer" if self._is_question else "edit", arguments=self._form.value)

    async def _deny(self) -> None:
        await self._decide("deny", note="" if self._is_question else str(self._note.value or ""))

    async def _decide(
        self, decision: Decision, *, arguments: dict[str, JsonValue] | None = None, note: str = ""
    ) -> None:
        said = CardDecision(
            pause_id=self._pause.pause_id,
            subject=self._pause.subject,
            decision=decision,
            arguments=arguments,
            note=note,
        )
        await self._act(DECIDE, said.model_dump_json())

    def _outcome(self, resolved: PauseResolved) -> str:
        if self._sign_in is not None:
            return f"{'Not signed' if resolved.decision == 'deny' else 'Signed'} in at {self._sign_in.host}"
        if self._is_question:
            return _answered(self._question, resolved)
        changed = resolved.arguments is not None and resolved.arguments != self._pause.arguments
        extra = ", with other arguments" if changed else ""
        if resolved.decision == "always":
            extra = ", from now on without asking in this session"
        denied, allowed = ("Not run again", "Run again") if self._pause.begun else ("Denied", "Allowed")
        return f"{denied if resolved.decision == 'deny' else allowed}: {self._name}{extra}"

    def _become(self, symbol: str, words: str) -> None:
        self._open = False
        self.clear()
        with self:
            ui.html(visible(mark(symbol, words)), sanitize=False)


class PauseArguments(ui.element):
    """The arguments of the call: all of them, or nobody can allow it.

    `seen` says whether all of them were shown; long ones are folded, and `on_seen` is told when they are opened.
    """

    def __init__(self, pause: PauseRequested, *, on_seen: Callable[[], None]) -> None:
        super().__init__("div")
        self.classes("pause-arguments")
        self._pause, self._on_seen = pause, on_seen
        text = pretty(pause.arguments) if pause.arguments else ""
        self.seen = len(text) <= AT_ONCE and text.count("\n") + text.count("\\n") <= LINES
        with self:
            self._shown = ui.html(sanitize=False)
        self._show(text) if self.seen else self._fold(text)

    def _show(self, text: str) -> None:
        box = visible(tag("pre", text, tabindex="0")) if text else ""
        self._shown.set_content(joined(box, long_arguments(self._pause.arguments, self._pause.name)))

    def _fold(self, text: str) -> None:
        beginning = "\n".join(text[:AT_ONCE].split("\n")[:LINES])
        way_on = "Look at all before you allow it." if len(text) <= MOST else "Nobody can look at all, so deny it."
        note = tag("p", f"The first {len(beginning):,} of {len(text):,} characters. {way_on}")
        self._shown.set_content(joined(visible(tag("pre", beginning, tabindex="0")), note))
        if len(text) <= MOST:
            with self:
                open_all = partial(self._open, text)
                self._unfold = button("Show all", open_all, icon="unfold_more", testid="show-arguments-button")

    def _open(self, text: str) -> None:
        self.seen = True
        self._unfold.delete()
        self._show(text)
        self._on_seen()
        refocus(self, "pre")


def _answered(question: str, resolved: PauseResolved) -> str:
    if resolved.decision == "deny":
        return f"Declined: {question}"
    values: Mapping[str, JsonValue] = resolved.arguments or {}
    said = ", ".join(f"{name}: {value}" for name, value in values.items())
    return f"Answered: {question} {said}".rstrip()
