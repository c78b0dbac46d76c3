"""What views of apps tell the model with the next message, above the box where that is written."""

from nicegui import ui

from app.domain.sessions import Session
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import head
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.visible import visible
from app.workbench import Workbench


class AppContexts(ui.element):
    """Each can be taken away before the message is sent."""

    def __init__(self, workbench: Workbench, session_id: str) -> None:
        super().__init__("div")
        self._workbench, self._session_id = workbench, session_id
        with self:
            self._list = LiveHtml().classes("app-contexts")
        on_click_of(self, "context", self._drop)

    def show(self, session: Session) -> None:
        """Show what goes along with the session's next message."""
        self._list.show(joined(*(_chip(one.call_id, one.tool, one.text) for one in session.app_contexts)))

    async def _drop(self, call_id: str) -> None:
        def without(session: Session) -> Session:
            left = tuple(one for one in session.app_contexts if one.call_id != call_id)
            return session.model_copy(update={"app_contexts": left})

        with problems_shown():
            self.show(await self._workbench.sessions.change(self._session_id, without))


def _chip(call_id: str, tool: str, text: str) -> Html:
    label = f"Do not send what the app of {tool} says"
    return tag(
        "div",
        icon("widgets"),
        tag(
            "span",
            visible(f"Goes along, from the app of {tool}: {head(text, 160)}"),
            cls="truncate grow",
            title=head(text, 1000),
        ),
        tag("button", icon("close"), cls="icon-action", data_context=call_id, data_key=call_id, aria_label=label),
        cls="app-context",
        data_testid="app-context",
    )
