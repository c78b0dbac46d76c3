"""A dialog in which a person decides on an MCP server that waits for them, with all that they agree to in view."""

from nicegui import ui

from app.tools.mcp.hub import McpHub
from app.tools.mcp.states import ServerState
from app.ui.consent.server_views import CHANGES_WORDS, changes_view, consent_view
from app.ui.elements.buttons import button
from app.ui.elements.markup import joined
from app.ui.elements.questions import answer_to, named_dialog


async def settle_server(hub: McpHub, name: str) -> None:
    """Ask whether it may start, or go on with other tools. Raises `Conflict` where they are others again by then."""
    state = next((one for one in hub.states() if one.server.name == name), None)
    if state is None or state.status not in ("consent", "changed"):
        return  # settled elsewhere
    match await _asked(state):
        case "agree" if state.status == "consent":
            await hub.consent(name, state.server.transport)
        case "agree":
            await hub.accept_changes(name, state.changes)
        case "off":
            await hub.enable(name, False)
        case _:
            pass


async def _asked(state: ServerState) -> str | None:
    starts = state.status == "consent"
    title = f"May {state.server.name} start?" if starts else f"What has changed in {state.server.name}"
    with named_dialog(title) as dialog, ui.card().classes("dialog-card").props("data-testid=settle-server"):
        ui.label(title).classes("section-title")
        shown = consent_view(state.server) if starts else joined(CHANGES_WORDS, changes_view(state.changes))
        ui.html(shown, sanitize=False).classes("stack settle-server").props("tabindex=0 autofocus role=group")
        with ui.element("div").classes("row-line at-end"):
            button("Not now", lambda: dialog.submit(None), look="quiet", testid="settle-later")
            button("Turn it off", lambda: dialog.submit("off"), testid="settle-off")
            words = "Start it" if starts else "Accept changes"
            button(words, lambda: dialog.submit("agree"), look="primary", testid="settle-agree")
    return await answer_to(dialog, str)
