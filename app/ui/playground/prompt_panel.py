"""The prompt beside a conversation: written, looked at with its variables filled in, saved as the next variant."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from functools import partial

from nicegui import ui

from app.domain.agents import (
    Agent,
    Behaviour,
    PromptBehaviour,
    Variant,
    WorkingCopy,
    by_prompt,
    values_of,
    with_variant,
)
from app.domain.sessions import Session, switched
from app.domain.values import now
from app.ui.agents.prompt_tokens import prompt_tokens
from app.ui.conversation.differences_view import compared, differences_summary, differences_view
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.choice import Choice
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.prompt_editor import Mode, PromptEditor
from app.ui.elements.questions import named_dialog
from app.ui.elements.undo_bar import UndoBar
from app.ui.elements.variables_form import brace_faults, declared_with, fault_words
from app.ui.playground.debounce import Debounce
from app.workbench import Workbench

DEBOUNCE_SECONDS = 0.35
_MODES: tuple[tuple[Mode, str], ...] = (("edit", "Edit"), ("preview", "Preview"))


class PromptPanel(ui.element):
    """What is typed is the agent's working copy. Runs use it once it is saved as a variant.

    `on_edit` is called when there is another working copy, `on_saved` when the session uses a new variant.
    """

    def __init__(
        self,
        workbench: Workbench,
        session: Session,
        *,
        on_edit: Callable[[], object],
        on_saved: Callable[[], object],
    ) -> None:
        super().__init__("section")
        self.classes("prompt-panel").props('aria-label="System prompt"')
        self._workbench = workbench
        self._session = session
        self._on_edit = on_edit
        self._on_saved = on_saved
        self._saving = asyncio.Lock()
        self._shown_copy = workbench.working_copies.get(session.agent_id)
        self._typed_here = self._replaced = False
        self._kept_at: datetime | None = None
        self._take_offer_away: Callable[[], None] = lambda: None
        with self:
            self._build_head()
            self._state = ui.html(sanitize=False).classes("prompt-state").props("role=status")
            self._editor = PromptEditor(self.behaviour.system_prompt, on_change=self._typed)
            self._faults = ui.html(sanitize=False).classes("prompt-faults").props("data-testid=prompt-faults")
            self._build_foot()
            self._undo = UndoBar()
        self._debounce = Debounce(self, self._measure, seconds=DEBOUNCE_SECONDS)
        self.show(session)

    @property
    def agent(self) -> Agent:
        return self._workbench.agents.get(self._session.agent_id)

    @property
    def copy(self) -> WorkingCopy | None:
        """What was changed and not saved yet, if anything was."""
        copy = self._workbench.working_copies.get(self._session.agent_id)
        if copy is None or copy.behaviour == self.agent.variant(copy.origin).behaviour:
            return None
        return copy

    @property
    def origin(self) -> Variant:
        """The variant that what is in the editor began from."""
        copy = self.copy
        return self.agent.variant(copy.origin if copy else self._session.variant)

    @property
    def behaviour(self) -> PromptBehaviour:
        """What is in the editor, and what was changed besides."""
        copy = self.copy
        return by_prompt(copy.behaviour if copy else self.origin.behaviour)

    @property
    def to_save(self) -> PromptBehaviour:
        """What would be saved: a model that was chosen for this session becomes the variant's."""
        behaviour, model = self.behaviour, self._session.model
        return behaviour if model is None else behaviour.model_copy(update={"model": model})

    def show(self, session: Session) -> None:
        """Show how things are: after another variant, other values, or a change elsewhere."""
        self._session = session
        if not self._replaced:
            self._put(self.behaviour.system_prompt)
        self._show_state()

    def _show_anew(self) -> None:
        """Show the working copy, or the variant, in place of what is typed here."""
        self._replaced = False
        self.show(self._session)

    def look(self) -> None:
        """Take over what another tab made of the working copy, unless something was typed here.

        What had taken the place of that may be gone: then it is the working copy again, as nobody threw it away.
        """
        copy = self._workbench.working_copies.get(self._session.agent_id)
        if copy is self._shown_copy:
            return
        self._shown_copy = copy
        if self.copy is None:
            if self._replaced:
                self._typed()
                return
            self._typed_here = False
        if not self._typed_here:
            self._put(self.behaviour.system_prompt)
        self._show_state()
        self._on_edit()

    def change(self, behaviour: Behaviour) -> None:
        """Make that the working copy."""
        self._take_offer_away()
        number = self.origin.number
        copy = WorkingCopy(agent_id=self._session.agent_id, origin=number, behaviour=behaviour, updated_at=now())
        self._kept_at = copy.updated_at
        self._workbench.working_copies.typed(copy)
        self._shown_copy = copy
        self._show_state()
        self._on_edit()

    def _build_head(self) -> None:
        with ui.element("div").classes("row-line"):
            ui.html("Prompt", sanitize=False, tag="h2").classes("section-title grow")
            self._modes = Choice(_MODES, self._show_mode, label="Edit or preview", testid="prompt-{}-tab")
            self._modes.show("edit")

    def _build_foot(self) -> None:
        with ui.element("div").classes("row-line prompt-facts"):
            self._tokens = ui.label().classes("chip").props("data-testid=prompt-tokens")
        self._note = ui.input(placeholder="What did you change? (optional)").props("outlined dense maxlength=200")
        self._note.props('aria-label="Note for the new variant" data-testid=variant-note').classes("prompt-note")
        with ui.element("div").classes("row-line"):
            save = button("Save as variant", self._save_once, look="primary", icon="save", testid="save-variant-button")
            self._save_button = save.classes("grow").props("aria-keyshortcuts=Control+S")
            self.on("shortcut", self._save_by_key)
            self._reset_button = button("Reset", self._reset, testid="reset-prompt-button")
        # Below what is pressed: it comes when typing rests, and would push the buttons away from under a hand.
        self._changes = button("", self._show_changes, look="quiet", icon="difference", testid="changes-chip")
        self._changes.classes("changes-chip").visible = False

    def _put(self, prompt: str) -> None:
        if self._editor.text != prompt:
            self._editor.put(prompt)
            self._typed_here = False

    def _typed(self) -> None:
        self._typed_here = True
        self.change(self._written)

    @property
    def _written(self) -> PromptBehaviour:
        """With the prompt that stands in this tab's editor, whatever another tab typed since."""
        return self.behaviour.model_copy(update={"system_prompt": self._editor.text})

    def _show_state(self) -> None:
        behaviour, edited = self.behaviour, self.copy is not None
        copy = self.copy
        stored_here = copy is not None and copy.updated_at == self._kept_at  # maybe without a known key
        self._replaced = self._typed_here and behaviour != self._written and not stored_here
        self._editor.fill(values_of(behaviour, self._session.variables), behaviour.variables)
        self._state.set_content(self._state_words(edited))
        can_save = edited or self.to_save != self.origin.behaviour
        self._note.visible = can_save
        self._save_button.set_enabled(can_save)
        self._reset_button.set_enabled(edited)
        self._debounce.touch()

    def _state_words(self, edited: bool) -> Html:
        trouble = self._workbench.working_copies.trouble(self._session.agent_id)
        number = self._session.variant
        if trouble:
            return tag("span", icon("warning"), f"Not kept yet: {trouble}", cls="mark mark-warn")
        if not edited:
            return tag("span", f"As saved in variant {number}. Change it here while you talk.", cls="faint")
        words = f"Changed since variant {self.origin.number}. Kept; answers use variant {number} until you save."
        if self._replaced:
            words = "Changed in another tab too. What you type or save here is kept as your own."
        return tag("span", icon("edit"), words, cls="mark mark-warn", data_testid="unsaved-prompt")

    def _show_mode(self, mode: Mode) -> None:
        self._editor.show(mode)
        self._modes.show(mode)

    async def _measure(self) -> None:
        """Count, look for faults and compare, once typing rests."""
        behaviour, active = self.to_save, self.agent.active_variant
        self._tokens.text = await prompt_tokens(behaviour)
        self._faults.set_content(_faults(behaviour.system_prompt))
        found = await compared(active.behaviour, behaviour)
        self._changes.visible = not found.none
        self._changes.text = f"Since active v{active.number}: {differences_summary(found)}"
        self._changes.props["title"] = "See what changed since the active variant"

    async def _show_changes(self) -> None:
        active = self.agent.active_variant
        found = await compared(active.behaviour, self.to_save)
        with (
            self,
            named_dialog("What changed") as dialog,
            ui.card().classes("dialog-card").props("data-testid=changes-view"),
        ):
            with ui.element("div").classes("row-line").style("width: 100%"):
                ui.label(f"What changed since active variant {active.number}").classes("section-title grow")
                icon_button("close", "Close", dialog.close)
            ui.html(differences_view(found), sanitize=False).classes("diff-scroll")
        dialog.on("hide", dialog.delete)
        dialog.open()

    async def _save_by_key(self) -> None:
        """Pressed while a save goes on this waits for it: what was typed meanwhile is not in that one."""
        async with self._saving:
            if self.copy is None and self.to_save == self.origin.behaviour:
                ui.notify(f"Nothing to save: this is variant {self.origin.number} as it is.", timeout=2500)
            else:
                await self._save()

    async def _save_once(self) -> None:
        if not self._saving.locked():
            async with self._saving:
                await self._save()

    async def _save(self) -> None:
        behaviour = self._written
        declared = declared_with(behaviour.system_prompt, behaviour.variables)
        model = self._session.model or behaviour.model
        saved = behaviour.model_copy(update={"variables": declared, "model": model})
        note, origin, workbench = str(self._note.value or "").strip(), self.origin.number, self._workbench
        with problems_shown():
            agent = await workbench.agents.change(
                self._session.agent_id, lambda newest: with_variant(newest, saved, origin=origin, note=note)
            )
            number = agent.variants[-1].number
            moved = partial(_moved, agent=agent, number=number, model=model)
            # What is typed from here on is typed over the new variant.
            self._session = await workbench.sessions.change(self._session.id, moved)
            await self._drop(behaviour)
            self._typed_here = False
            self._take_offer_away()
            self._note.value = ""
            self._show_state()
            ui.notify(f"Saved as variant {number}. This session uses it from now on.", timeout=4000)
            self._on_saved()

    async def _drop(self, saved: Behaviour) -> None:
        """Forget the working copy, but not one that another tab made meanwhile."""
        copy = self._workbench.working_copies.get(self._session.agent_id)
        if copy is not None and copy.behaviour == saved:
            await self._workbench.working_copies.drop(self._session.agent_id)
        self._shown_copy = self._workbench.working_copies.get(self._session.agent_id)

    async def _reset(self) -> None:
        if self.copy is None:
            return
        thrown_away = self.copy.model_copy(update={"behaviour": self._written})
        words = f"Back to variant {self._session.variant} as saved"
        with problems_shown():
            if self._replaced:  # what another tab typed there is somebody's work, and stays
                words = "Back to what another tab changed"
            else:
                await self._workbench.working_copies.drop(thrown_away.agent_id)
            self._show_anew()
            self._on_edit()
            self._take_offer_away = self._undo.show(words, partial(self._bring_back, thrown_away))

    async def _bring_back(self, copy: WorkingCopy) -> None:
        self._workbench.working_copies.typed(copy.model_copy(update={"updated_at": now()}))
        self._show_anew()
        self._on_edit()


def _moved(session: Session, *, agent: Agent, number: int, model: str) -> Session:
    """The session with the new variant; its own model is the variant's now, unless another was chosen meanwhile."""
    own = None if session.model == model else session.model
    return switched(session, agent, number).model_copy(update={"model": own})


def _faults(prompt: str) -> Html:
    found = brace_faults(prompt)
    shown = [tag("p", icon("warning"), fault_words(fault), cls="mark mark-warn") for fault in found[:3]]
    if len(found) > 3:
        shown.append(tag("p", f"{len(found) - 3} more of these.", cls="faint"))
    if not prompt.strip():
        shown.append(tag("p", "The prompt is empty: the agent answers without instructions.", cls="faint"))
    return joined(*shown)
