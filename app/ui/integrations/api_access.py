"""Who may run an agent over the API."""

from collections.abc import Callable, Sequence

from nicegui import ui

from app.domain.agents import Agent
from app.domain.keys import ApiKey
from app.domain.values import now
from app.ui.elements.choice import Choice
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.integrations.api_key_views import reaching
from app.workbench import Workbench

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
            ui.html("Who may run it over the API", sanitize=False, tag="h3").classes("field-title")
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
        make = tag("button", "Make one", type="button", cls="link-button", data_wish=True, data_testid="wish-key")
        return tag("p", "No key opens it. ", make, cls="api-keys-named")
    chips = [tag("span", icon("key"), key.name, cls="chip", title=f"…{key.last_four}") for key in keys[:MOST_NAMED]]
    left = len(keys) - MOST_NAMED
    more = f" and {left} more" if left > 0 else ""
    return tag("p", "Opened by ", *chips, more, cls="api-keys-named")


def _words(agent: Agent) -> str:
    if agent.is_public:
        return "Every program on this computer can run it, and spend what its model costs. All else needs a key."
    return "A program has to show a key that opens this agent."
