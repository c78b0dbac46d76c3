"""The API keys: listed, made and revoked."""

from collections.abc import Callable

from nicegui import ui

from app.domain.agents import Agent
from app.domain.keys import ApiKey
from app.domain.values import now
from app.engine.keys import MadeKey
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import agreed
from app.ui.integrations.api_key_dialog import KeyDialog
from app.ui.integrations.api_key_rights import asked_for_rights
from app.ui.integrations.api_key_views import keys_list
from app.workbench import Workbench

_TERMINAL = joined("In a terminal: ", tag("code", "agent-playground key create NAME"))


class ApiKeysPanel(ui.element):
    """`on_made` gets each new key; what is made or revoked elsewhere shows with the next `refresh`."""

    def __init__(
        self, workbench: Workbench, on_made: Callable[[MadeKey], None], on_revoked: Callable[[], None]
    ) -> None:
        super().__init__("section")
        self.classes("panel keys-panel").props('aria-label="API keys" id=keys')
        self._workbench = workbench
        self._on_made = on_made
        self._on_revoked = on_revoked
        self._shown = Html("")
        with self:
            with ui.element("div").classes("row-line"):
                ui.html("API keys", sanitize=False, tag="h2").classes("section-title grow")
                button("New key", self.create, look="primary", icon="add", testid="new-key-button")
            self._list = on_click_of(ui.html(sanitize=False), "revoke", self._revoke)
            on_click_of(self._list, "rights", self._change_rights)
            ui.html(_TERMINAL, sanitize=False, tag="p").classes("faint")
        self.refresh()

    def refresh(self) -> None:
        """Show the keys as they are now."""
        shown = keys_list(self._workbench.keys.all(), self._workbench.agents.all(), now())
        if shown != self._shown:
            self._shown = shown
            self._list.set_content(shown)

    async def create(self, agent: Agent | None = None) -> None:
        """Ask what the new key is to open, with that agent chosen, and make it."""
        with self:
            dialog = KeyDialog(self._workbench.keys, self._workbench.agents.all(), chosen=agent)
        made = await dialog.made()
        if made is not None and not self.is_deleted:
            self.refresh()
            self._on_made(made)

    async def _change_rights(self, key_id: str) -> None:
        if (key := self._key(key_id)) is None or (may := await asked_for_rights(key)) is None:
            return
        with problems_shown():
            await self._workbench.keys.change(key.id, may=may)
        if not self.is_deleted:
            self.refresh()

    def _key(self, key_id: str) -> ApiKey | None:
        return next((one for one in self._workbench.keys.all() if one.id == key_id), None)

    async def _revoke(self, key_id: str) -> None:
        if (key := self._key(key_id)) is None:
            return
        words = f"Whoever still sends the key that ends with {key.last_four} is refused from then on, for good."
        if not await agreed(f"Revoke “{key.name}”?", words, confirm="Revoke"):
            return
        with problems_shown():
            await self._workbench.keys.revoke(key.id)
        if not self.is_deleted:
            self.refresh()
            self._on_revoked()
