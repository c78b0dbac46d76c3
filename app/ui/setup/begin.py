"""The first step of the Setup guide: the demo, a key, or a server on this machine."""

from collections.abc import Awaitable, Callable

from nicegui import events, ui

from app.ui.elements.live_html import LiveHtml
from app.ui.setup.key import SetupKey
from app.ui.setup.server import SetupServer
from app.ui.setup.views import EMIT_PICK, ways_view
from app.workbench import Workbench

Chosen = Callable[[str], Awaitable[object]]


class SetupBegin:
    """`on_chosen` gets the name of the provider whose models work now; `wanted` is the way that is open at first."""

    def __init__(self, workbench: Workbench, wanted: str, on_chosen: Chosen) -> None:
        self._workbench = workbench
        self._on_chosen = on_chosen
        self._opened = ""
        self._ways = LiveHtml()
        self._ways.on("click", self._picked, js_handler=EMIT_PICK)
        self._body = ui.element("div").classes("setup-more")
        self._open(wanted)

    async def _picked(self, event: events.GenericEventArguments) -> None:
        if event.args == "demo":
            await self._on_chosen("demo")
        else:
            self._open("" if event.args == self._opened else str(event.args))

    def _open(self, way: str) -> None:
        self._opened = way
        self._ways.show(ways_view(way))
        self._body.clear()
        with self._body:
            match way:
                case "key":
                    SetupKey(self._workbench, self._on_chosen)
                case "server":
                    SetupServer(self._workbench, self._on_chosen)
                case _:
                    pass
        self._body.visible = way in ("key", "server")
