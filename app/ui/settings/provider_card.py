"""One provider in the settings: a line that opens to its form, its models and its doctor."""

from collections.abc import Callable
from functools import partial

from nicegui import events, ui
from pydantic import TypeAdapter

from app.domain.errors import WorkbenchError
from app.llm.providers.accepted import accepted_by
from app.llm.providers.provider_desk import ProviderEntry
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.focus import lead_to, refocus
from app.ui.elements.format import plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import icon, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.provider_views import READ_FORM, card_head, form_view, models_view
from app.ui.elements.questions import agreed
from app.ui.elements.undo_bar import UndoBar
from app.ui.settings.provider_doctor import ProviderDoctor
from app.ui.settings.provider_files import ProviderFilesSwitch
from app.workbench import Workbench

_FORM = TypeAdapter(dict[str, str])


class ProviderCard(ui.element):
    """Its body is built when it is first opened. `on_removed` is told when it is gone."""

    def __init__(self, workbench: Workbench, name: str, *, on_removed: Callable[[], object]) -> None:
        super().__init__("section")
        self.classes("provider-card").props["data-provider-card"] = name
        self._workbench = workbench
        self._desk = workbench.provider_desk
        self._name = name
        self._on_removed = on_removed
        self._served: tuple[str, ...] = ()
        self._take_offer_away: Callable[[], None] = lambda: None
        self._is_open = False
        self._said = 0
        """How often it has said something."""
        self._state = self._desk.state(name)
        with self:
            self._head = on_click_of(LiveHtml(), "key", lambda _: self.turn())
            self._body = ui.element("div").classes("provider-body")
            self._body.visible = False
        self._show_head()

    @property
    def is_local(self) -> bool:
        return self._state.provider.is_local

    @property
    def title(self) -> str:
        return self._state.provider.title

    def show_served(self, models: tuple[str, ...] | None) -> None:
        """Tell what a server nearby offers now, `None` when it does not say."""
        self._served = models or ()
        self.look()
        if models and self._body.default_slot.children:
            self._doctor.suggest(models[0])

    def look(self) -> None:
        """Show what was last seen of it by now."""
        try:
            self._state = self._desk.state(self._name)
        except WorkbenchError:  # removed in another tab
            self._on_removed()
            return
        self._show_head()

    async def begin(self) -> str:
        """Lead somebody who just added it there, and see whether it works; gives that in words."""
        if not self._is_open:
            await self.turn()
        lead_to(self._head, "button")
        return await self._check("Added.")

    async def turn(self) -> None:
        """Open or close it."""
        self._is_open = not self._is_open
        is_new = self._is_open and not self._body.default_slot.children
        if is_new:
            with self._body:
                self._build_body()
        self._body.visible = self._is_open
        self._show_head()
        if is_new:
            await self._suggest()

    def _build_body(self) -> None:
        self._form = ui.html(sanitize=False).on("submit", self._save, js_handler=READ_FORM)
        self._note = ui.html(sanitize=False).props("role=status aria-live=polite data-testid=provider-note")
        with ui.element("div").classes("row-line provider-buttons"):
            self._ask = button("Ask for its models", self._list_models, icon="sync", testid="list-models")
            self._forget = button("Remove the key", self._forget_key, icon="delete", look="danger", testid="forget-key")
            if self._state.is_custom:
                button("Remove this server", self._remove, look="danger", testid="remove-provider")
        if accepted_by(self._name).native:
            ProviderFilesSwitch(self._workbench, self._name, self.title)
        self._models = ui.html(sanitize=False)
        self._undo = UndoBar()
        self._doctor = ProviderDoctor(self._workbench.doctor, self._name, is_local=self.is_local)
        self._show()

    async def _suggest(self) -> None:
        """Let the doctor try a cheap model of those that are offered."""
        offered = self._state.settings.models or self._served
        if offered or self._name != "azure":  # whose models go by the names that were given to them there
            await self._workbench.catalog.ready()
            if not self.is_deleted:
                self._doctor.suggest(self._workbench.catalog.inexpensive(self._name, offered))

    def _show(self) -> None:
        """Show what is stored now."""
        self._state = self._desk.state(self._name)
        self._show_head()
        self._form.set_content(form_view(self._state))
        self._ask.visible = self._state.lists_models
        self._forget.visible = any(key.where for key in self._state.keys)
        self._models.set_content(models_view(self._state.settings.models, self._state))

    def _show_head(self) -> None:
        self._head.show(card_head(self._state, is_open=self._is_open, served=len(self._served)))

    async def _save(self, event: events.GenericEventArguments) -> None:
        written = _FORM.validate_python(event.args)
        keys = {name.removeprefix("key:"): value for name, value in written.items() if name.startswith("key:")}
        settings = {name: value for name, value in written.items() if not name.startswith("key:") and name != "models"}
        before, address = self._desk.saved_keys(self._name), self._state.address
        try:
            removed = await self._desk.save(self._name, ProviderEntry(keys, settings, written.get("models", "")))
        except WorkbenchError as problem:
            self._say(str(problem), good=False)
            return
        self._show()
        if self._state.address != address:
            self._served = ()
            self._doctor.forget()
        if any(keys.values()):
            self._take_offer_away()
        if replaced := {name: key for name, key in before.items() if keys.get(name)}:
            self._offer_back("was replaced", replaced)
        self._form.client.run_javascript(f"getHtmlElement({self._form.id}).querySelector('form').reset()")
        taken = f" Taken away: {', '.join(removed)}." if removed else ""
        if not self._state.lists_models or (self._state.provider.needs_key and not self._state.has_key):
            self._say(f"Saved.{taken}{' Run the doctor to see whether it works.' if self._state.has_key else ''}")
            return
        await self._check(f"Saved.{taken}")

    async def _check(self, before: str) -> str:
        """Ask for the models at once, which tells whether key and address work; gives what it says of it."""
        self._say(f"{before} Checking…")
        asked = self._said
        try:
            settings = await self._desk.list_models(self._name)
        except WorkbenchError as problem:
            words = f"{before} But it does not work yet: {problem}" if before else str(problem)
            self._say(words, good=False, since=asked)
            self.look()
            return words
        words = f"{before} It works: {plural(len(settings.models), 'model')} offered."
        if not self.is_deleted:  # its page was left
            self._show()
            self._say(words, since=asked)
            await self._suggest()
        return words

    def _offer_back(self, what: str, keys: dict[str, str]) -> None:
        """Until there is a newer one, which those would take the place of."""
        words = f"The key of {self.title} {what}"
        self._take_offer_away = self._undo.show(words, partial(self._bring_back, keys))

    async def _bring_back(self, keys: dict[str, str]) -> None:
        with problems_shown():
            await self._desk.bring_back(self._name, keys)
            self._say("The key from before is back.")
        self._show()

    async def _list_models(self) -> None:
        self._ask.set_enabled(False)
        try:
            await self._check("")
        finally:
            if not self.is_deleted:
                self._ask.set_enabled(True)

    async def _forget_key(self) -> None:
        words = "It is deleted where it is kept. Agents that use this provider stop working until it has one again."
        if not await agreed(f"Remove the key of {self._state.provider.title}?", words, confirm="Remove"):
            return
        before = self._desk.saved_keys(self._name)
        with problems_shown():
            await self._desk.forget_key(self._name)
            self._say("The key is removed.")
            self._offer_back("was removed", before)
        self._show()
        refocus(self._form, "input:not([hidden])")

    async def _remove(self) -> None:
        words = f"Agents whose model begins with {self._name}/ stop working. Its key is deleted too."
        if not await agreed(f"Remove {self._state.provider.title}?", words, confirm="Remove"):
            return
        with problems_shown():
            await self._desk.remove(self._name)
            self._on_removed()

    def _say(self, words: str, *, good: bool = True, since: int | None = None) -> None:
        """Say it; what came of something older not where more was said `since`."""
        if self.is_deleted or since not in (None, self._said):
            return
        self._said += 1
        symbol, look = ("check_circle", "set-said is-good") if good else ("error_outline", "set-said is-bad")
        self._note.set_content(tag("p", icon(symbol), tag("span", words.strip()), cls=look))
