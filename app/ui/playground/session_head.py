"""The head of a session: who answers, as which variant and by which model, and how it stands."""

from collections.abc import Callable
from functools import partial

from nicegui import ui

from app.domain.agents import NODES_MODELS, model_of
from app.domain.sessions import Session, switched
from app.ui.conversation.conversation import Conversation
from app.ui.conversation.figures import ceiling, token_ceiling
from app.ui.conversation.session_bars import SessionFacts, session_chips, session_heading
from app.ui.elements.addresses import compare_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.clicks import ONE_CLICK
from app.ui.elements.model_picker import ModelPicker
from app.ui.elements.new_session import start_session
from app.ui.elements.notices import problems_shown
from app.ui.elements.variant_select import VariantSelect
from app.workbench import Workbench


class SessionHead(ui.element):
    """`on_change` is called when a variant or a model was chosen here."""

    def __init__(self, workbench: Workbench, session: Session, *, on_change: Callable[[], object]) -> None:
        super().__init__("div")
        self.classes("session-head")
        self._workbench = workbench
        self._session = session
        self._agent = workbench.agents.get(session.agent_id)
        self._on_change = on_change
        with self:
            self._build_facts()
            again = partial(start_session, workbench, self._agent.id)
            new = button("New session", icon="add", testid="new-session-button").classes("btn-label")
            new.on("click", again, js_handler=ONE_CLICK).props('aria-label="New session"')
            compare = icon_button(
                "compare_arrows", "Compare with another variant", self._compare, testid="compare-link"
            )
            compare.classes("head-extra")
            side = icon_button("view_sidebar", "Show or hide prompt and settings", testid="side-panel-button")
            side.on("click", js_handler="() => showSide()")

    def _build_facts(self) -> None:
        with ui.element("div").classes("session-facts"):
            self._heading = ui.html(sanitize=False).classes("session-name")
            self._variant = VariantSelect(self._agent, self._session.variant, self._choose_variant)
            self._picker = ModelPicker(self._workbench, self.model, self._choose_model, reset="Use the variant's model")
            self._chips = ui.html(sanitize=False).classes("session-chips")

    @property
    def model(self) -> str | None:
        """The model that answers; `None` where those of a workflow's nodes do."""
        return self._session.model or model_of(self._agent.variant(self._session.variant).behaviour)

    def show(self, session: Session, facts: SessionFacts) -> None:
        """Show how the session stands."""
        self._session, self._agent = session, self._workbench.agents.get(session.agent_id)
        self._heading.set_content(session_heading(facts))
        self._chips.set_content(session_chips(facts))
        self._variant.show(self._agent, session.variant)
        if self._picker.model != (self.model or NODES_MODELS):
            self._picker.show(self.model)

    async def show_trouble(self) -> None:
        """Say what stands in the model's way."""
        if (model := self.model) is not None:
            self._picker.show(model, trouble=await self._workbench.choices.trouble(model))

    async def pick_model(self) -> None:
        """Offer the models."""
        await self._picker.open()

    async def _choose_variant(self, number: int) -> None:
        await self._change(partial(switched, agent=self._agent, number=number))

    async def _choose_model(self, model: str | None) -> None:
        await self._change(lambda newest: newest.model_copy(update={"model": model}))
        await self.show_trouble()

    async def _change(self, change: Callable[[Session], Session]) -> None:
        with problems_shown():
            await self._workbench.sessions.change(self._session.id, change)
        self._on_change()

    def _compare(self) -> None:
        ui.navigate.to(compare_address(self._agent.slug, self._session.variant))


def session_facts(
    workbench: Workbench, session: Session, conversation: Conversation, *, in_all: float, **costs: float
) -> SessionFacts:
    """As of now. In US dollars: what the session has cost in all, and all agents as `ceiling` wants it."""
    agent, turns = workbench.agents.get(session.agent_id), conversation.turns
    limits, ledger = agent.variant(session.variant).behaviour.limits, workbench.runs.ledger
    return SessionFacts(
        agent=agent.name,
        icon=agent.icon,
        status=conversation.status,
        turns=conversation.figures,
        ceiling=ceiling(
            limits,
            run_cost=turns[-1].figures.cost if turns else 0.0,
            session_cost=ledger.session_cost(session.id) if limits.session_cost else 0.0,
            all_day=ledger.day_ceiling(),
            all_month=ledger.month_ceiling(),
            **costs,
        ),
        in_all=in_all,
        token_ceiling=token_ceiling(limits, turns[-1].figures.tokens if turns else 0),
    )
