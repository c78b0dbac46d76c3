"""One agent: the editor of its next variant, a chat that tries it, and all the variants it has."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Literal, assert_never

from nicegui import PageArguments, ui

from app.domain.agents import (
    Agent,
    Behaviour,
    PromptBehaviour,
    WorkflowBehaviour,
    archived,
    unarchived,
)
from app.domain.errors import NotFound
from app.domain.evals.gates import GateOutcome
from app.ui.agents.agent_head import AgentHead
from app.ui.agents.editor_draft import EditorBar, EditorDraft
from app.ui.agents.editor_form import EditorForm
from app.ui.agents.editor_tabs import TABS, Tab, changed_tabs, tab_of
from app.ui.agents.nodes_note import nodes_note
from app.ui.agents.try_chat import TryChat
from app.ui.agents.variants import Variants
from app.ui.conversation.differences_view import EDITOR, DifferencesDialog
from app.ui.elements.addresses import AGENTS, agent_address, agent_runs_address, build_address
from app.ui.elements.buttons import button
from app.ui.elements.choice import Choice
from app.ui.elements.clicks import one_at_a_time
from app.ui.elements.gate_dialog import Promotion, ask_about, past_the_gate, undo_promotion
from app.ui.elements.notices import problems_shown
from app.ui.elements.pager import address_with, say_address
from app.ui.elements.undo_bar import DeletedNotice, UndoBar
from app.ui.markdown.live_markdown import LiveMarkdown
from app.workbench import Workbench

REFRESH_SECONDS, GATE_SECONDS = 0.5, 2.0
MOST_GATED = 20
"""The newest variants of which is told whether the gate would let them past."""
Side = Literal["node", "try", "variants"]


def agent_page(workbench: Workbench, live_markdown: LiveMarkdown, slug: str, arguments: PageArguments) -> None:
    """Build `/agents/{slug}`, whose address may say the editor's `tab`; raises `NotFound`."""
    AgentPage(workbench, live_markdown, found(workbench, slug), arguments)


def found(workbench: Workbench, slug: str) -> Agent:
    """The agent of that address; raises `NotFound` with the way to a deleted one."""
    agent = next((one for one in workbench.agents.all() if one.slug == slug), None)
    if agent is not None:
        return agent
    if any(one.slug == slug for one in workbench.agents.deleted()):
        raise NotFound("This agent was deleted. Restore it from the Trash of the Agents page.")
    raise NotFound("There is no agent at this address. The Agents page lists all there are.")


class AgentPage:
    """Pulls: a timer of the page looks whether another tab changed the agent."""

    sides: ClassVar[tuple[tuple[Side, str], ...]] = (("try", "Try it"), ("variants", "Variants"))
    """What stands beside the editor."""
    list_address: ClassVar[str] = AGENTS

    def __init__(
        self, workbench: Workbench, live_markdown: LiveMarkdown, agent: Agent, arguments: PageArguments
    ) -> None:
        self._workbench = workbench
        self._frame = arguments.frame
        self._tab = tab_of(arguments.query_parameters.get("tab", ""))
        self._agent_id = agent.id
        self._draft = EditorDraft(workbench, agent)
        self._seen: tuple[object, ...] = ()
        self._form: EditorForm | None = None
        self._outcomes: dict[int, GateOutcome] = {}
        ui.page_title(f"{agent.name} · Agent Playground")
        self._undo = UndoBar()
        self._take_offer_away: Callable[[], None] = lambda: None
        with ui.element("div").classes("page page-wide agent-page"):
            self._head = AgentHead(
                workbench,
                self._draft,
                list_address=self.list_address,
                on_change=self._look,
                on_gate=self._look_at_gate,
            )
            self._build_columns(live_markdown)
        self._show_form()
        self._look()
        ui.timer(REFRESH_SECONDS, self._look)
        ui.timer(GATE_SECONDS, self._look_at_gate)

    @property
    def _agent(self) -> Agent:
        return self._workbench.agents.get(self._agent_id)

    def _build_columns(self, live_markdown: LiveMarkdown) -> None:
        with ui.element("div").classes("agent-columns"):
            with ui.element("div").classes("agent-editor"):
                self._build_bar()
                self._place = ui.element("div")
            with ui.element("aside").classes("agent-side panel").props('aria-label="Try it, and variants"'):
                self._build_side(live_markdown)
        self._show_side(self.sides[0][0])

    def _build_bar(self) -> None:
        self._bar = EditorBar(on_save=self._save, on_discard=self._discard, on_differences=self._show_what_changed)
        self._elsewhere = ui.element("div").props("role=status")
        words = "This agent is deleted. What you change here stays with it."
        restore = partial(self._workbench.agents.restore, self._agent_id)
        self._deleted = DeletedNotice(words, restore, testid="agent-deleted")

    def _build_side(self, live_markdown: LiveMarkdown) -> None:
        label = "What stands beside the editor"
        self._sides = Choice(self.sides, self._show_side, label=label, testid="side-{}", look="mode-switch")
        self._try = ui.element("div").classes("agent-try")  # built once it is looked at, and the editor is seen
        self._chat: TryChat | None = None
        self._new_chat = partial(TryChat, self._workbench, live_markdown, self._draft, self._undo, on_go=self._go)
        with ui.element("div").classes("agent-versions") as self._versions:
            self._variants = Variants(self._act)

    def _show_side(self, side: Side) -> None:
        self._sides.show(side)
        self._try.visible = side == "try"
        if side == "try" and self._chat is None:
            with self._try:
                ui.timer(0, self._chat_here, once=True)
        self._versions.visible = side == "variants"

    def _chat_here(self) -> TryChat:
        """The chat, built where it is not yet."""
        if self._chat is None:
            with self._try:
                self._chat = self._new_chat()
        return self._chat

    def _go(self, tab: Tab) -> None:
        if self._form is not None:
            self._form.go(tab)

    def _turned(self, tab: Tab) -> None:
        self._tab = tab
        say_address(self._frame, address_with(agent_address(self._agent.slug), {"tab": "" if tab == TABS[0] else tab}))
        self._mark()

    def _mark(self) -> None:
        match (self._draft.saved, self._draft.behaviour):
            case (PromptBehaviour() as saved, PromptBehaviour() as behaviour) if self._form is not None:
                self._form.show_unsaved(changed_tabs(saved, behaviour))

    def _show_form(self) -> None:
        """Build the editor anew, for a behaviour that does not come from its boxes."""
        self._place.clear()
        match self._draft.behaviour:
            case PromptBehaviour() as behaviour:
                with self._place:
                    self._form = EditorForm(
                        self._workbench, behaviour, tab=self._tab, on_change=self._changed, on_turn=self._turned
                    )
            case WorkflowBehaviour(workflow=workflow):
                with self._place:
                    nodes_note(workflow, build_address(self._agent.slug))
            case _:
                assert_never(self._draft.behaviour)

    def _changed(self, behaviour: Behaviour) -> None:
        if behaviour != self._draft.behaviour:
            self._take_offer_away()
        self._draft.change(behaviour)
        self._bar.show(self._draft)
        self._mark()

    def _look(self) -> None:
        """Show what is new of the agent and of its draft."""
        self._draft.look()
        agent = self._agent
        week = self._workbench.rows.week_of(agent.id)
        state = (agent, week, self._draft.origin, dict(self._outcomes))
        if state != self._seen:
            self._seen = state
            self._head.show(agent, week)
            self._variants.show(agent, origin=self._draft.origin, outcomes=self._outcomes)
        self._deleted.show(deleted=agent.deleted_at is not None)
        self._bar.show(self._draft)
        self._mark()
        self._show_elsewhere()

    def _show_elsewhere(self) -> None:
        elsewhere = self._draft.elsewhere
        if elsewhere == bool(self._elsewhere.default_slot.children):
            return
        self._elsewhere.clear()
        if elsewhere:
            with (
                self._elsewhere,
                ui.element("div").classes("notice notice-warn").props("data-testid=changed-elsewhere"),
            ):
                ui.label("Another tab changes this agent too. Save here and there: both become variants of their own.")
                button("Show the other tab's changes", self._load)

    def _load(self) -> None:
        self._draft.load()
        self._show_form()
        self._look()

    @one_at_a_time
    async def _save(self) -> None:
        if not self._draft.changed:
            return
        with problems_shown():
            variant = await self._draft.save(self._bar.note)
            self._bar.clear_note()
            if self._form is not None:
                self._form.saved()
            self._look()
            self._show_side("variants")
            ui.notify(f"Saved as variant {variant.number}", timeout=2500)

    def _discard(self) -> None:
        thrown_away = self._draft.behaviour
        self._replace(self._draft.saved)
        self._offer_undo("Discarded the changes", thrown_away, self._draft.origin)

    def _copy(self, number: int) -> None:
        before, origin = self._draft.behaviour, self._draft.origin
        self._replace(self._agent.variant(number).behaviour, origin=number)
        self._offer_undo(f"Variant {number} is in the editor", before, origin)

    def _offer_undo(self, words: str, before: Behaviour, origin: int) -> None:
        """Until somebody goes on in the editor: what is written there since would be gone."""
        self._take_offer_away = self._undo.show(words, lambda: self._replace(before, origin=origin))

    def _replace(self, behaviour: Behaviour, *, origin: int | None = None) -> None:
        self._draft.change(behaviour, origin=origin)
        self._show_form()
        self._look()

    def _show_what_changed(self) -> None:
        DifferencesDialog(self._agent, self._draft.behaviour, before=self._draft.origin, after=EDITOR)

    async def _act(self, action: str, number: int) -> None:
        with problems_shown():
            match action:
                case "promote":
                    await self._promote(number)
                case "gate":
                    await self._show_gate(number)
                case "diff":
                    self._show_differences(number)
                case "talk":
                    await self._head.talk(number)
                case "compare":
                    self._head.compare(number)
                case "copy":
                    self._copy(number)
                case "runs":
                    ui.navigate.to(agent_runs_address(self._agent.slug, number))
                case "archive":
                    await self._workbench.agents.change(self._agent_id, partial(archived, number=number))
                case "unarchive":
                    await self._workbench.agents.change(self._agent_id, partial(unarchived, number=number))
        self._look()

    async def _promote(self, number: int) -> None:
        activate = partial(self._workbench.gating.activate, self._agent_id, number, by="page")
        self._offer_back(await past_the_gate(self._workbench, self._agent_id, activate))

    async def _show_gate(self, number: int) -> None:
        if (outcome := await self._workbench.gating.outcome(self._agent, number)) is not None:
            self._offer_back(await ask_about(self._workbench, self._agent_id, outcome))

    def _offer_back(self, promotion: Promotion | None) -> None:
        if promotion is not None:
            undo = partial(undo_promotion, self._workbench, promotion)
            self._undo.show(f"Variant {promotion.after.active} is the active one", undo, self._look)

    async def _look_at_gate(self) -> None:
        """Tell of the newest variants whether the gate would let them past."""
        agent, gating = self._agent, self._workbench.gating
        told = (
            {}
            if agent.gate is None
            else {one.number: await gating.outcome(agent, one.number) for one in agent.variants[-MOST_GATED:]}
        )
        self._outcomes = {number: outcome for number, outcome in told.items() if outcome is not None}
        self._look()

    def _show_differences(self, number: int) -> None:
        """Against the active variant; for that one, against where it came from."""
        agent = self._agent
        other = agent.active if number != agent.active else agent.variant(number).origin or number
        DifferencesDialog(agent, self._draft.behaviour, before=other, after=number)
