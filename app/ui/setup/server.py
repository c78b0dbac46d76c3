"""Looks for servers of models on this machine, in the Setup guide, or for one at an address typed by hand."""

from collections.abc import Awaitable, Callable, Sequence

from nicegui import events, ui
from pydantic import TypeAdapter

from app.domain.errors import WorkbenchError
from app.llm.providers.nearby import NearbyServer
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.provider_views import READ_FORM, USERNAME
from app.ui.setup.views import servers_view
from app.workbench import Workbench

_FORM = TypeAdapter(dict[str, str])


class SetupServer:
    """Looks as soon as it is shown; `on_working` gets the provider's name of the server that was taken."""

    def __init__(self, workbench: Workbench, on_working: Callable[[str], Awaitable[object]]) -> None:
        self._nearby = workbench.nearby
        self._on_working = on_working
        self._servers: list[NearbyServer] = []
        self._keys: dict[str, str] = {}
        self._list = ui.html(sanitize=False).props("role=status aria-live=polite data-testid=setup-servers")
        on_click_of(self._list, "pick", self._use)
        self._again = button("Look again", self._look, icon="sync", testid="setup-look-again")
        ui.html(address_form(), sanitize=False).on("submit", self._try, js_handler=READ_FORM)
        self._note = ui.html(sanitize=False).props("role=status aria-live=polite data-testid=setup-server-note")
        ui.timer(0, self._look, once=True)

    async def _look(self) -> None:
        self._again.set_enabled(False)
        self._list.set_content(tag("p", "Looking on this machine…", cls="set-note"))
        found = await self._nearby.look()
        if self._list.is_deleted:  # another way was opened meanwhile
            return
        self._show(found)
        self._again.set_enabled(True)

    def _show(self, servers: Sequence[NearbyServer]) -> None:
        self._servers = list(servers)
        self._list.set_content(servers_view(self._servers))

    async def _try(self, event: events.GenericEventArguments) -> None:
        self._say("hourglass_empty", "Asking it for its models…")
        written = _FORM.validate_python(event.args)
        key = written.get("key:key", "")
        try:
            found = await self._nearby.at(written.get("address", ""), key)
        except WorkbenchError as problem:
            self._say("error_outline", str(problem), look="is-bad")
            return
        self._note.set_content("")
        self._keys[found.address] = key
        self._show([found, *(one for one in self._servers if one.address != found.address)])

    async def _use(self, address: str) -> None:
        server = next((one for one in self._servers if one.address == address), None)
        if server is None:
            return
        try:
            name = await self._nearby.take(server, self._keys.get(server.address, ""))
        except WorkbenchError as problem:
            self._say("error_outline", str(problem), look="is-bad")
            return
        await self._on_working(name)

    def _say(self, symbol: str, words: str, *, look: str = "") -> None:
        self._note.set_content(tag("p", icon(symbol), tag("span", words), cls=f"set-said {look}".strip()))


def address_form() -> Html:
    """Boxes for the address of a server that is elsewhere, and for the key that it may want."""
    address = _field("At another address", "text", "address", "http://127.0.0.1:8000/v1", "setup-address")
    key = _field("Key, if it wants one", "password", "key:key", "Paste it here", "setup-server-key")
    find = tag("button", "Find", type="submit", cls="set-button", data_testid="setup-find")
    return tag("form", USERNAME, address, key, find, cls="setup-own", autocomplete="off")


def _field(title: str, kind: str, name: str, hint: str, testid: str) -> Html:
    box = tag(
        "input",
        type=kind,
        name=name,
        placeholder=hint,
        spellcheck="false",
        autocapitalize="off",
        autocomplete="new-password" if kind == "password" else "off",
        cls="set-input",
        data_testid=testid,
    )
    return tag("label", tag("span", title, cls="set-title"), box, cls="set-field")
