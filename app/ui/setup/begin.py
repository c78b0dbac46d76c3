"""The first step of the Setup guide: the demo, a key, or a server on this machine."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from app.ui.elements.clicks import on_click_of
from app.ui.elements.live_html import LiveHtml
from app.ui.setup.key import SetupKey
from app.ui.setup.server import SetupServer
from app.ui.setup.views import ways_view
from app.workbench import Workbench

Chosen = Callable[[str], Awaitable[object]]


class SetupBegin:
    """`on_chosen` gets the name of the provider whose models work now; `wanted` is the way that is open at first."""

    def __init__(self, workbench: Workbench, wanted: str, on_chosen: Chosen) -> None:
        self._workbench = workbench
        self._on_chosen = on_chosen
        self._opened = ""
        self._ways = LiveHtml()
        on_click_of(self._ways, "pick", self._picked)
        self._body = ui.element("div").classes("setup-more")
        self._open(wanted)

    async def _picked(self, way: str) -> None:
        if way == "demo":
            await self._on_chosen("demo")
        else:
            self._open("" if way == self._opened else way)

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
