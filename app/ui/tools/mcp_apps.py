"""What the apps of an MCP server ask for, and what of that its owner allows: nothing until they say so."""

from nicegui import ui

from app.domain.apps import AppConsent
from app.tools.mcp.hub import McpHub
from app.tools.mcp.states import ServerState
from app.ui.elements.buttons import button
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.visible import visible

CLIPBOARD = "Write to the clipboard"
EVALUATES = "Make code out of text while they run (eval), which some apps need to show anything"
_PURPOSES = {"connect": "ask", "resource": "load from", "frame": "show in a frame", "base": "begin addresses with"}


class AppConsentForm(ui.element):
    """Shown for a server whose tools bring apps along; drawn anew only when what is asked or allowed changed.

    What was ticked and not saved stays, unless other words stand beside it by then.
    """

    def __init__(self, hub: McpHub, name: str) -> None:
        super().__init__("section")
        self.classes("panel tool-section").props('aria-label="Its apps" data-testid=mcp-app-consent')
        self._hub, self._name = hub, name
        self._shown: AppConsent | None = None
        self._boxes: dict[str, ui.checkbox] = {}
        self._drawn: list[tuple[ui.checkbox, bool]] = []
        """Every box, with what it was drawn with."""
        self._unsaved: dict[str, bool] = {}
        self.visible = False

    def show(self, state: ServerState) -> None:
        """Show what the server's apps ask for now."""
        apps = state.server.apps
        self.visible = any(spec.view for spec in state.tools)
        if self.visible and apps != self._shown:
            self._shown = apps
            self._unsaved = {box.text: bool(box.value) for box, stored in self._drawn if box.value != stored}
            self._drawn.clear()
            self.clear()
            with self:
                self._build(apps)

    def _build(self, apps: AppConsent) -> None:
        ui.html("Its apps", sanitize=False, tag="h2").classes("section-title")
        ui.html(_WORDS, sanitize=False)
        if not apps.asked.names:
            words = "They have asked for no addresses yet. What an app asks for stands here once it was shown."
            ui.html(tag("p", words, cls="faint"), sanitize=False)
        with ui.element("div").classes("app-domains"):
            asked = apps.asked.names
            self._boxes = {name: self._box(_domain_words(apps, name), name in apps.allowed) for name in asked}
            self._clipboard = self._box(CLIPBOARD, apps.clipboard)
            self._clipboard.visible = apps.clipboard_asked
            self._evaluates = self._box(EVALUATES, apps.evaluates)
        with ui.element("div").classes("row-line"):
            button("Save", self._save, look="primary", testid="mcp-app-allow-save")

    def _box(self, words: str, stored: bool) -> ui.checkbox:
        shown = visible(words)
        box = ui.checkbox(shown, value=self._unsaved.get(shown, stored)).props("dense data-testid=mcp-app-allow")
        self._drawn.append((box, stored))
        return box

    async def _save(self) -> None:
        allowed = [name for name, box in self._boxes.items() if box.value]
        clipboard, evaluates = bool(self._clipboard.value), bool(self._evaluates.value)
        with problems_shown():
            await self._hub.allow_apps(self._name, allowed, clipboard=clipboard, evaluates=evaluates)
            ui.notify("Saved. Apps that are opened from now on get it.", timeout=3000)


def _domain_words(apps: AppConsent, name: str) -> str:
    purposes = [words for kind, words in _PURPOSES.items() if name in getattr(apps.asked, kind)]
    return f"{name} ({', '.join(purposes)})"


_WORDS = joined(
    tag("p", icon("widgets"), "Tools of this server bring apps along, which run in the conversation.", cls="mark"),
    tag(
        "p",
        "Each is shut away: it cannot see this page, its cookies or other apps, and reaches only what you allow here. "
        "No browser can keep an app from WebRTC and from looking up names, so what you show it may leave this computer "
        "all the same: use apps of servers that you trust.",
        cls="what-to-do",
    ),
)
