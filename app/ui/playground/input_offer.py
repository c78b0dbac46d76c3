"""The way to give a workflow all that its input takes, where a message alone does not say that."""

from collections.abc import Awaitable, Callable, Mapping

from nicegui import ui
from pydantic import JsonValue

from app.domain.agents import WorkflowBehaviour
from app.domain.sessions import Session
from app.domain.tools import JsonSchema
from app.ui.elements.buttons import button
from app.ui.elements.format import head
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.visible import visible
from app.ui.schema_form.run_form import as_message, asked_for_input, given_before, names_of, takes_more
from app.workbench import Workbench


class InputOffer(ui.element):
    """`on_message` gets the message that says what somebody filled in; what goes beside it is the session's by then."""

    def __init__(self, workbench: Workbench, on_message: Callable[[str], Awaitable[None]]) -> None:
        super().__init__("div")
        self.classes("setup-strip").props("data-testid=input-offer")
        self._workbench, self._on_message = workbench, on_message
        self._session_id = ""
        self._takes: JsonSchema | None = None
        self._given: Mapping[str, JsonValue] = {}
        with self:
            self._words = ui.html(sanitize=False).classes("grow")
            button("Fill in", self._ask, look="quiet", testid="input-form-button")
        self.visible = False

    def show(self, session: Session) -> None:
        """Be there where the input takes more than a message."""
        used = self._workbench.agents.get(session.agent_id).variant(session.variant).behaviour
        self._session_id = session.id
        self._takes = takes_more(used.workflow) if isinstance(used, WorkflowBehaviour) else None
        self.visible = self._takes is not None
        if self._takes is not None:
            self._given = self._given or given_before(self._takes, session.variables)
            words = visible(head(", ".join(names_of(self._takes)), 80))
            self._words.set_content(joined(icon("input"), tag("span", f"It takes {words}.")))

    async def _ask(self) -> None:
        if self._takes is None or (given := await asked_for_input(self._takes, self._given)) is None:
            return
        self._given = given
        text, variables = as_message(given)
        changes = {"variables": variables}
        with problems_shown():
            await self._workbench.sessions.change(self._session_id, lambda one: one.model_copy(update=changes))
            await self._on_message(text)
