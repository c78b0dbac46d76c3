"""The agent that is called from outside: which one, who may, and what it is asked."""

from collections.abc import Callable, Sequence

from nicegui import ui

from app.domain.agents import Agent, declared_of, template_of
from app.domain.keys import ApiKey
from app.domain.values import now, well_formed
from app.ui.elements.choice import Choice, choice_box
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.variables_form import VariablesForm, fields_of
from app.ui.integrations.api_key_views import reaching
from app.workbench import Workbench

GREETING = "Hello! What can you do?"


class ApiAgentPanel(ui.element):
    """`on_change` is called whenever something else is to be asked, `on_choose` with another agent to ask."""

    def __init__(
        self,
        workbench: Workbench,
        agents: Sequence[Agent],
        chosen: Agent,
        *,
        on_change: Callable[[], None],
        on_choose: Callable[[Agent], None],
        on_wish: Callable[[], object],
    ) -> None:
        super().__init__("section")
        self.classes("panel api-agent").props("aria-label=Agent")
        self._workbench = workbench
        self._agents = {agent.id: agent for agent in agents}
        self._on_change = on_change
        self._on_choose = on_choose
        self.agent = chosen
        self.variables: dict[str, str] = {}
        with self:
            self._build_select(chosen)
            self._access = ApiAccess(workbench, on_change=self.refresh, on_wish=on_wish)
            self._message = ui.textarea("Message", value=_first_message(chosen), on_change=self._on_change)
            self._message.props("outlined dense autogrow rows=2 debounce=300 data-testid=api-message").classes("fill")
            self._form = VariablesForm(self._set_variable)
        self._show_agent()

    @property
    def message(self) -> str:
        return well_formed(str(self._message.value or ""))

    def refresh(self) -> None:
        """Show the agent as it is now; one that was deleted meanwhile stays as it was known."""
        newest = next((one for one in self._workbench.agents.all() if one.id == self.agent.id), self.agent)
        changed = newest != self.agent
        self.agent = newest
        self._access.show(newest)
        if changed:
            self._show_variables()
            self._on_change()

    def _build_select(self, chosen: Agent) -> None:
        names = {agent.id: agent.name for agent in self._agents.values()}
        box = choice_box(names, chosen.id, label="Agent", testid="agent-select")

        def choose() -> None:
            if (agent := self._agents.get(str(box.value))) is not None:
                self._turn_to(agent)

        box.on_value_change(choose)

    def _turn_to(self, agent: Agent) -> None:
        untouched = self.message == _first_message(self.agent)
        self.agent = next((one for one in self._workbench.agents.all() if one.id == agent.id), agent)
        self.variables = {}
        if untouched:
            self._message.value = _first_message(self.agent)
        self._show_agent()
        self._on_choose(self.agent)

    def _show_agent(self) -> None:
        self._access.show(self.agent)
        self._show_variables()

    def _show_variables(self) -> None:
        behaviour = self.agent.active_variant.behaviour
        fields = fields_of(template_of(behaviour), declared_of(behaviour), self.variables)
        self.variables = {field.variable.name: field.value for field in fields}
        self._form.visible = bool(fields)
        self._form.show(fields)

    def _set_variable(self, name: str, value: str) -> None:
        self.variables[name] = well_formed(value)
        self._on_change()


def _first_message(agent: Agent) -> str:
    return agent.examples[0] if agent.examples else GREETING


MOST_NAMED = 12
_CHOICES = (("key", "Only with a key"), ("anyone", "Anyone on this computer"))


class ApiAccess(ui.element):
    """`on_change` is called when it was changed here; `on_wish` when somebody wants a key for the agent."""

    def __init__(self, workbench: Workbench, *, on_change: Callable[[], None], on_wish: Callable[[], object]) -> None:
        super().__init__()
        self.classes("api-access")
        self._workbench = workbench
        self._on_change = on_change
        self._agent: Agent | None = None
        self._shown = Html("")
        with self:
            ui.html("Who may run it over the API", sanitize=False, tag="h2").classes("field-title")
            label = "Who may run it over the API"
            self._choice = Choice(_CHOICES, self._choose, label=label, testid="access-{}")
            self._reach = ui.html(sanitize=False).classes("api-reach").props("role=status data-testid=api-reach")
            on_click_of(self._reach, "wish", lambda _: on_wish())

    def show(self, agent: Agent) -> None:
        """Show how it stands now."""
        self._agent = agent
        moment = now()
        shown = joined(
            tag("p", _words(agent), cls="field-note"), reach(reaching(self._workbench.keys.all(), agent, moment))
        )
        if shown != self._shown:
            self._shown = shown
            self._choice.show("anyone" if agent.is_public else "key")
            self._reach.set_content(shown)

    async def _choose(self, access: str) -> None:
        agent, public = self._agent, access == "anyone"
        if agent is None or agent.is_public == public:
            return
        with problems_shown():
            await self._workbench.agents.change(agent.id, lambda one: one.model_copy(update={"is_public": public}))
        if not self.is_deleted:
            self._on_change()


def reach(keys: Sequence[ApiKey]) -> Html:
    """The keys by their names, or the way to the first one."""
    if not keys:
        make = tag("button", "Make one", cls="link-button", data_wish=True, data_testid="wish-key")
        return tag("p", "No key opens it. ", make, cls="api-keys-named")
    chips = [tag("span", icon("key"), key.name, cls="chip", title=f"…{key.last_four}") for key in keys[:MOST_NAMED]]
    left = len(keys) - MOST_NAMED
    more = f" and {left} more" if left > 0 else ""
    return tag("p", "Opened by ", *chips, more, cls="api-keys-named")


def _words(agent: Agent) -> str:
    if agent.is_public:
        return "Every program on this computer can run it, and spend what its model costs. All else needs a key."
    return "A program has to show a key that opens this agent."
