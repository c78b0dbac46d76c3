"""The service that `web_search` asks."""

import os
from typing import Literal, get_args
from urllib.parse import urlsplit

from nicegui import events, ui

from app.domain.errors import WorkbenchError
from app.domain.settings import WebSearch
from app.store.preferences import PreferencesStore
from app.tools.web_search_providers import PROVIDERS
from app.ui.components.buttons import button
from app.ui.components.schema_form_simple import select_box
from app.ui.markup import icon, tag

Choice = Literal["off", "searxng", "brave", "tavily"]
CHOICES: tuple[Choice, ...] = get_args(Choice)


class WebSearchForm(ui.element):
    """Off, or a provider with what it needs; saved with its button. Keys stay in the environment."""

    def __init__(self, preferences: PreferencesStore) -> None:
        super().__init__("section")
        self.classes("panel tool-section").props('aria-label="Search provider" data-testid=web-search-form')
        self._preferences = preferences
        settings = preferences.get().web_search
        self._provider: Choice = settings.provider
        with self:
            ui.html("Search provider", sanitize=False, tag="h2").classes("section-title")
            words = [PROVIDERS[choice].title if choice in PROVIDERS else "Off" for choice in CHOICES]
            select_box("Provider", words, CHOICES.index(self._provider), self._choose)
            self._address = ui.input("Address", value=settings.address, placeholder="https://searx.example.org")
            self._address.props("outlined dense spellcheck=false data-testid=search-address").classes("fill")
            self._variable = ui.input("Environment variable with the key", value=settings.key_variable)
            self._variable.props("outlined dense spellcheck=false data-testid=search-key").classes("fill")
            with ui.element("div").classes("row-line"):
                self._note = (
                    ui.html(sanitize=False).classes("field-note grow").props("role=status data-testid=search-note")
                )
                button("Save", self._save, look="primary", testid="save-search")
        self._show()

    def _choose(self, event: events.GenericEventArguments) -> None:
        self._provider = CHOICES[int(event.args)]
        self._show()

    def _show(self) -> None:
        provider = PROVIDERS.get(self._provider)
        self._address.visible = provider is not None and not provider.address
        self._variable.visible = provider is not None and bool(provider.key_variable)
        if provider:
            self._variable.props["placeholder"] = provider.key_variable
        self._note.set_content(tag("span", key_note(self._provider, str(self._variable.value or ""))))

    async def _save(self) -> None:
        written = WebSearch(
            provider=self._provider,
            address=str(self._address.value or "").strip().rstrip("/"),
            key_variable=str(self._variable.value or "").strip(),
        )
        try:
            check(written)
            before = self._preferences.get()
            await self._preferences.save(before.model_copy(update={"web_search": written}))
        except WorkbenchError as problem:
            self._note.set_content(tag("span", icon("error_outline"), str(problem), cls="field-fault"))
            return
        self._note.set_content(tag("span", f"Saved. {key_note(written.provider, written.key_variable)}"))


def key_note(provider: str, variable: str) -> str:
    """What there is to know of the provider's key."""
    chosen = PROVIDERS.get(provider)
    if chosen is None:
        return "Agents that search are told that it is off."
    if not chosen.key_variable:
        return "It needs no key."
    name = variable.strip() or chosen.key_variable
    if os.environ.get(name):
        return f"{name} is set."
    return f"{name} is not set. Set it and start the app again: keys are never stored."


def check(written: WebSearch) -> None:
    """Raises `WorkbenchError` where an address is missing or is none."""
    provider = PROVIDERS.get(written.provider)
    if provider is None or provider.address:
        return
    parts = urlsplit(written.address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WorkbenchError(f"Say where {provider.title} answers, with https:// or http:// in front.")
