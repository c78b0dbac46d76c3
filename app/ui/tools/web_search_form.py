"""The service that `web_search` asks."""

import os
from typing import Literal, get_args
from urllib.parse import urlsplit

from nicegui import events, ui
from pydantic import TypeAdapter

from app.domain.errors import WorkbenchError
from app.domain.settings import WebSearch
from app.store.keys.provider_keys import KeyDescription, ProviderKeys
from app.store.records.tables import PreferencesStore
from app.tools.http.web_search_providers import PROVIDERS
from app.ui.elements.buttons import button
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.provider_views import READ_FORM, USERNAME
from app.ui.schema_form.simple import select_box

Choice = Literal["off", "searxng", "brave", "tavily"]
_FORM = TypeAdapter(dict[str, str])
CHOICES: tuple[Choice, ...] = get_args(Choice)


class WebSearchForm(ui.element):
    """Off, or a provider with what it needs; saved with its button. A key is saved apart, where keys are kept."""

    def __init__(self, preferences: PreferencesStore, keys: ProviderKeys) -> None:
        super().__init__("section")
        self.classes("panel tool-section").props('aria-label="Search provider" data-testid=web-search-form')
        self._preferences = preferences
        self._keys = keys
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
            self._key = ui.html(sanitize=False).on("submit", self._save_key, js_handler=READ_FORM)
            with ui.element("div").classes("row-line"):
                self._note = (
                    ui.html(sanitize=False).classes("field-note grow").props("role=status data-testid=search-note")
                )
                self._forget = button("Remove the key", self._forget_key, look="danger", testid="forget-search-key")
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
        self._key.visible = self._variable.visible
        self._forget.visible = self._keys.describe(f"{self._provider}:key") is not None
        self._key.set_content(_key_form(provider.title) if provider else "")
        self._note.set_content(tag("span", self._key_note(str(self._variable.value or ""))))

    def _key_note(self, variable: str) -> str:
        return key_note(self._provider, variable, self._keys.describe(f"{self._provider}:key"))

    async def _save_key(self, event: events.GenericEventArguments) -> None:
        pasted = _FORM.validate_python(event.args).get("key", "")
        try:
            await self._keys.save(f"{self._provider}:key", pasted)
        except WorkbenchError as problem:
            self._note.set_content(tag("span", icon("error_outline"), str(problem), cls="field-fault"))
            return
        self._key.client.run_javascript(f"getHtmlElement({self._key.id}).querySelector('form').reset()")
        self._show()

    async def _forget_key(self) -> None:
        try:
            await self._keys.forget(f"{self._provider}:key")
        except WorkbenchError as problem:
            self._note.set_content(tag("span", icon("error_outline"), str(problem), cls="field-fault"))
            return
        self._show()

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
        self._note.set_content(tag("span", f"Saved. {self._key_note(written.key_variable)}"))


def key_note(provider: str, variable: str, saved: KeyDescription | None = None) -> str:
    """What there is to know of the provider's key."""
    chosen = PROVIDERS.get(provider)
    if chosen is None:
        return "Agents that search are told that it is off."
    if not chosen.key_variable:
        return "It needs no key."
    name = variable.strip() or chosen.key_variable
    if os.environ.get(name):
        return f"{name} is set."
    if saved is not None and not variable.strip():
        return (
            f"Its key is set{f', ends in …{saved.ends}' if saved.ends else ''}, and kept {saved.where}. {saved.trouble}"
        )
    return f"{name} is not set. Save a key here, or set the variable and start the app again."


def _key_form(title: str) -> Html:
    """A box for its key; what is typed is sent once, and kept in no element."""
    box = tag(
        "input",
        type="password",
        name="key",
        placeholder="Paste a key to save it",
        autocomplete="new-password",
        spellcheck="false",
        aria_label=f"Key of {title}",
        cls="set-input grow",
        data_testid="search-key-value",
    )
    save = tag("button", "Save the key", type="submit", cls="set-button", data_testid="save-search-key")
    return tag("form", USERNAME, box, save, cls="row-line", autocomplete="off")


def check(written: WebSearch) -> None:
    """Raises `WorkbenchError` where an address is missing or is none."""
    provider = PROVIDERS.get(written.provider)
    if provider is None or provider.address:
        return
    parts = urlsplit(written.address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WorkbenchError(f"Say where {provider.title} answers, with https:// or http:// in front.")
