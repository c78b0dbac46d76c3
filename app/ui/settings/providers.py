"""All providers of models: what is set for each, and servers of one's own."""

from collections.abc import Sequence

from nicegui import background_tasks, events, ui
from pydantic import TypeAdapter

from app.domain.errors import WorkbenchError
from app.llm.providers.provider_desk import ProviderState
from app.store.keys.key_places import NO_KEYRING
from app.ui.elements.buttons import button
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.provider_views import READ_FORM, USERNAME, form_field, places_view
from app.ui.settings.provider_card import ProviderCard
from app.workbench import Workbench

LOOK_SECONDS = 1.0
_FORM = TypeAdapter(dict[str, str])


class ProvidersSection:
    """Cards of all providers; the one of `wanted` is opened."""

    def __init__(self, workbench: Workbench, wanted: str = "") -> None:
        self._workbench = workbench
        self._wanted = wanted
        self._cards: dict[str, ProviderCard] = {}
        self._place = ui.html(
            joined(icon("key"), tag("span", "Looking where keys can be kept…")), sanitize=False
        ).classes("set-place")
        self._place.props("role=status data-testid=key-place")
        self._again = button("Try the keyring again", self._look_again, icon="lock_open", testid="keyring-again")
        self._again.visible = False
        self._list = ui.element("div").classes("provider-list")
        with self._list:
            ui.html(tag("p", "Looking for providers…", cls="set-note"), sanitize=False)
        with ui.element("div").classes("own-server"):
            self._add = button(
                "Add a server that speaks OpenAI's protocol", self._turn_form, icon="add", testid="add-provider"
            )
            self._add.disable()  # until there is a list that it can be put into
            self._form = ui.html(own_server_form(), sanitize=False).on("submit", self._add_server, js_handler=READ_FORM)
            self._form.visible = False
            self._note = ui.html(sanitize=False).props("role=status data-testid=add-provider-note")
        ui.timer(LOOK_SECONDS, self._look, immediate=False)

    async def fill(self) -> None:
        """Show the cards; what takes a look around comes behind them."""
        await self._show_cards()
        background_tasks.create(self._look_around(), name="look for servers and a keyring", context=self._list)

    async def _look_around(self) -> None:
        """Say where keys can be kept, and which servers on this computer run."""
        where = await self._workbench.data.provider_keys.where()
        if self._list.is_deleted:  # its page was left
            return
        self._place.set_content(places_view(where.words, where.why))
        self._again.visible = bool(where.why) and where.why != NO_KEYRING
        await self._look_nearby()

    def _look(self) -> None:
        """Show what runs, other pages and this one saw of the providers meanwhile."""
        for card in tuple(self._cards.values()):
            card.look()

    async def _look_again(self) -> None:
        """A keyring that was locked may be open now."""
        self._again.set_enabled(False)
        await self._workbench.data.provider_keys.look_again()
        await self._look_around()
        self._again.set_enabled(True)

    async def _show_cards(self) -> None:
        """Those that are set up first, then the others."""
        states = await self._workbench.provider_desk.all()
        if self._list.is_deleted:
            return
        shown = [one for one in states if one.name != "compatible" or one.is_set]
        in_use = [one.name for one in shown if _is_in_use(one)]
        nearby = [one.name for one in shown if one.name not in in_use and one.provider.is_local]
        others = [one.name for one in shown if one.name not in (*in_use, *nearby)]
        self._list.clear()
        with self._list:
            self._set_up = self._group("Set up", in_use)
            self._group("On this computer", nearby)
            self._group("With a key of yours", others)
        self._add.enable()
        if self._wanted in self._cards:
            await self._cards[self._wanted].turn()

    def _group(self, title: str, names: Sequence[str]) -> ui.element:
        """Their cards below that title, which does not show over none."""
        with ui.element("div").classes("provider-list") as group:
            ui.html(title, sanitize=False, tag="h3").classes("set-group")
            self._cards |= {name: self._card(name) for name in names}
        group.visible = bool(names)
        return group

    def _card(self, name: str) -> ProviderCard:
        return ProviderCard(self._workbench, name, on_removed=lambda: self._removed(name))

    def _removed(self, name: str) -> None:
        card = self._cards.pop(name, None)
        if card is not None:
            card.delete()

    async def _look_nearby(self) -> None:
        """Say which servers on this computer run."""
        local = {card.title: card for card in self._cards.values() if card.is_local}
        for choice in await self._workbench.choices.all():
            if (card := local.get(choice.title)) and not card.is_deleted:
                card.show_served(None if choice.needs else tuple(one.name.partition("/")[2] for one in choice.models))

    def _turn_form(self) -> None:
        self._form.visible = not self._form.visible
        self._note.set_content("")

    async def _add_server(self, event: events.GenericEventArguments) -> None:
        written = _FORM.validate_python(event.args)
        try:
            name = await self._workbench.provider_desk.add(
                written.get("title", ""), written.get("address", ""), written.get("key:key", "")
            )
        except WorkbenchError as problem:
            self._note.set_content(tag("p", icon("error_outline"), str(problem), cls="set-said is-bad"))
            return
        if self._list.is_deleted:
            return
        self._form.set_content(own_server_form())
        self._turn_form()
        with self._set_up:
            card = self._cards[name] = self._card(name)
        self._set_up.visible = True
        self._say(f"{card.title} is added. Checking…")
        self._say(f"{card.title}: {await card.begin()}")
        await self._look_nearby()

    def _say(self, words: str) -> None:
        if not self._note.is_deleted:  # its page was left
            self._note.set_content(tag("p", words, cls="set-said"))


def _is_in_use(state: ProviderState) -> bool:
    """Whether somebody set it up, or took it in the Setup guide."""
    return state.is_custom or state.is_set or bool(state.settings.models)


def own_server_form() -> Html:
    """What a server of one's own needs."""
    add = tag("button", "Add", type="submit", cls="set-button is-primary", data_testid="own-add")
    return tag(
        "form",
        USERNAME,
        form_field("Name", "title", testid="own-title", placeholder="Team server"),
        form_field("Address", "address", testid="own-address", placeholder="http://192.168.1.20:8000/v1"),
        form_field("API key, if it wants one", "key:key", testid="own-key", secret=True, placeholder="Paste it here"),
        tag("div", add, cls="row-line"),
        cls="set-form",
        autocomplete="off",
    )
