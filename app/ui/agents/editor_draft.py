"""What somebody makes of an agent in the editor before it is a variant, and the bar that says how it stands."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from nicegui import ui
from pydantic import JsonValue

from app.domain.agents import Agent, Behaviour, Variant, WorkingCopy, with_variant
from app.domain.errors import NotFound, StorageError
from app.domain.values import now
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.markup import Html, icon, joined, tag
from app.workbench import Workbench


class EditorDraft:
    """Begins with the agent's working copy, where there is one, else with the active variant.

    What is changed is the working copy from then on: it belongs to the workbench, and outlives the page.
    """

    def __init__(self, workbench: Workbench, agent: Agent) -> None:
        self._workbench = workbench
        self._agent_id = agent.id
        self._dropping: asyncio.Task[None] | None = None
        self._drop_trouble = ""
        self._replaced: int | None = None
        """The newest variant when another page's changes became the working copy; `None` while they are not."""
        self._kept_at: datetime | None = None
        """When the working copy that is this draft was kept."""
        self.origin = agent.active
        """The number of the variant it began from."""
        self.behaviour = agent.active_variant.behaviour
        self.pins: dict[str, JsonValue] = {}
        """By node of a workflow: what stands for what it gives."""
        self.load()

    @property
    def agent(self) -> Agent:
        """The agent as it is stored now."""
        return self._workbench.agents.get(self._agent_id)

    @property
    def saved(self) -> Behaviour:
        """What the draft began from."""
        return self.agent.variant(self.origin).behaviour

    @property
    def changed(self) -> bool:
        """True when it is not what it began from."""
        return self.behaviour != self.saved

    @property
    def is_kept(self) -> bool:
        """False once it was saved or discarded on another page."""
        return self._kept() is not None

    @property
    def is_written(self) -> bool:
        """True when all of it is on disk."""
        return self._workbench.working_copies.is_written(self._agent_id)

    @property
    def trouble(self) -> str:
        """Why it is not on disk, in words; empty when it is, or will be."""
        return self._drop_trouble or self._workbench.working_copies.trouble(self._agent_id)

    @property
    def elsewhere(self) -> bool:
        """True when another page has changed the agent's working copy after this one did."""
        kept = self._kept()
        if kept is None or kept.behaviour == self.behaviour:
            return False
        return kept.updated_at != self._kept_at  # else a known key was taken out of it when it was stored

    def load(self) -> None:
        """Take the working copy as it is now."""
        kept = self._kept()
        if kept is not None:
            self.origin, self.behaviour, self.pins = kept.origin, kept.behaviour, dict(kept.pins)
            self._kept_at = kept.updated_at

    def look(self) -> None:
        """Take the pins of another page that has the same in its editor.

        Keep it again where another page's changes took its place and were thrown away: nobody discarded this one.
        """
        self._look_at_pins()
        newest = self.agent.variants[-1].number
        if self._replaced == newest and self.changed and not self.is_kept:
            self._keep()
        if not self.elsewhere:
            self._replaced = None
        elif self._replaced is None:
            self._replaced = newest

    def _look_at_pins(self) -> None:
        kept = self._kept()
        if kept is None and not self.changed:
            self.pins = {}
        elif kept is not None and kept.behaviour == self.behaviour and kept.updated_at != self._kept_at:
            self.load()

    def pin(self, pins: Mapping[str, JsonValue]) -> None:
        """Let these values stand for what those nodes give, and no others."""
        self.pins = dict(pins)
        self.change(self.behaviour)

    def change(self, behaviour: Behaviour, *, origin: int | None = None) -> None:
        """Take another state, of another origin where one is named; it is kept a second after the last change."""
        own = not self.elsewhere
        self.behaviour = behaviour
        self.origin = origin or self.origin
        if self.changed or (self.pins and own):
            self._keep()
        elif own:  # what another tab has changed there is somebody's work, and stays
            self._dropping = asyncio.get_running_loop().create_task(self._drop(), name="forget a working copy")

    async def save(self, note: str) -> Variant:
        """Save it as the agent's next variant, whatever other tabs saved meanwhile. Raises `WorkbenchError`."""
        behaviour, origin, kept_at = self.behaviour, self.origin, self._kept_at
        await self._workbench.workflow_checks.check(behaviour, self.agent.slug)
        agent = await self._workbench.agents.change(
            self._agent_id, lambda agent: with_variant(agent, behaviour, origin=origin, note=note)
        )
        variant = agent.variants[-1]
        self.origin = variant.number
        kept = self._kept()
        # What another tab has changed there is somebody's work, and stays.
        if kept is not None and (kept.behaviour == behaviour or kept.updated_at == kept_at):
            if self.pins:
                self._keep()
            else:
                await self._drop()
        return variant

    def _keep(self) -> None:
        copy = WorkingCopy(
            agent_id=self._agent_id, origin=self.origin, behaviour=self.behaviour, pins=self.pins, updated_at=now()
        )
        self._kept_at, self._drop_trouble = copy.updated_at, ""
        self._workbench.working_copies.typed(copy)

    async def _drop(self) -> None:
        try:
            await self._workbench.working_copies.drop(self._agent_id)
            self._drop_trouble = ""
        except StorageError as problem:
            self._drop_trouble = str(problem)

    def _kept(self) -> WorkingCopy | None:
        kept = self._workbench.working_copies.get(self._agent_id)
        if kept is None:
            return None
        try:
            self.agent.variant(kept.origin)
        except NotFound:
            return kept.model_copy(update={"origin": self.agent.active})
        return kept


LONGEST_NOTE = 300


class EditorBar(ui.element):
    """`note` is what was written about the variant to be saved."""

    def __init__(
        self,
        *,
        on_save: Callable[[], Awaitable[None]],
        on_discard: Callable[[], None],
        on_differences: Callable[[], None],
    ) -> None:
        super().__init__("div")
        self.classes("editor-bar").props('role=toolbar aria-label="Changes"')
        with self:
            self._state = ui.html(sanitize=False).classes("grow").props("role=status data-testid=editor-state")
            self._differences = icon_button("difference", "What changed", on_differences, testid="what-changed-button")
            self._discard = button("Discard changes", on_discard, look="quiet", icon="undo")
            self._discard.props('data-testid=reset-prompt-button aria-label="Discard changes"').classes("btn-label")
            self._note = ui.input(placeholder="Note (optional)").classes("note-box")
            self._note.props(f'outlined dense maxlength={LONGEST_NOTE} aria-label="Note for the variant"')
            self._note.props("data-testid=variant-note").on("keydown.enter", on_save)
            self._save = button("Save as variant", on_save, look="primary", icon="save", testid="save-variant-button")

    @property
    def note(self) -> str:
        return str(self._note.value or "").strip()[:LONGEST_NOTE]

    def show(self, draft: EditorDraft) -> None:
        """Show the draft's state as it is now."""
        changed = draft.changed
        self._state.set_content(_state(draft))
        for one in (self._differences, self._discard, self._note):
            one.visible = changed
        self._save.set_enabled(changed)

    def clear_note(self) -> None:
        self._note.value = ""


def _state(draft: EditorDraft) -> Html:
    name = tag("strong", f"v{draft.origin}")
    if draft.trouble:
        words = f"Not kept: {draft.trouble} What you typed stays on this page."
        return joined(name, tag("span", icon("error_outline"), words, cls="mark mark-warn"))
    if not draft.changed:
        return joined(name, tag("span", "No changes", cls="faint"))
    kept = "draft kept" if draft.is_written else "keeping…"
    if not draft.is_kept:
        kept = "not kept: saved or discarded elsewhere"
    return joined(name, tag("span", "Changed", cls="chip is-warn"), tag("span", kept, cls="faint"))
