"""The pages inside the frame; what goes wrong while one is built is told in words."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from nicegui import Client, ui
from nicegui.page_arguments import RouteMatch

from app.domain.errors import NotFound, WorkbenchError
from app.ui.elements.notices import trouble_page

log = logging.getLogger(__name__)

FIRST_CONTENT_SECONDS = 0.15
"""How long a page that has to wait for its content is held back, so that it comes with it."""


class Pages(ui.sub_pages):
    """NiceGUI's sub pages with our words for an unknown address."""

    reading = False
    """Whether the code of the page is still read: it may have pages inside, so its address is not unknown yet."""

    def __init__(self, routes: dict[str, Callable[..., object]]) -> None:
        self.worth_showing = asyncio.Event()
        super().__init__(routes)

    def _set_match(self, match: RouteMatch | None) -> None:
        if match is not None or not (self.reading and self._active_tasks):
            super()._set_match(match)

    async def built(self) -> None:
        """Return when the page of the address is built, is worth showing, or its frame is better shown alone."""
        if self._active_tasks:
            worth = asyncio.create_task(self.worth_showing.wait())
            both = (asyncio.gather(*self._active_tasks, return_exceptions=True), worth)
            try:
                await asyncio.wait(both, timeout=FIRST_CONTENT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            finally:
                worth.cancel()

    def _render_404(self) -> None:
        ui.page_title("Not found · Agent Playground")
        trouble_page("There is no such page", "The address may be mistyped, or from another version of the app.")

    def _render_error(self, _: Exception) -> None:
        log.exception("A page could not be built")
        failed()


def worth_showing(element: ui.element) -> None:
    """Hold the page in which the element is back no longer: the rest of it follows."""
    for frame in element.ancestors():
        if isinstance(frame, Pages):
            frame.worth_showing.set()


def is_left(client: Client) -> bool:
    """Whether its browser went to another page, or closed the tab: `LeftPages` gave it a moment of its own then."""
    return client.page.reconnect_timeout is not None


def failed() -> None:
    """What a page shows after a bug of ours; its traceback is in the log."""
    ui.page_title("Error · Agent Playground")
    trouble_page("This page could not be shown", "Something went wrong inside the app. Reload the page to try again.")


def shown(build: Callable[[], object], *, cls: str = "") -> None:
    """Build a page in a place of that class; an error takes the place of the half-built page."""
    with ui.element("div").classes(cls) as place:
        try:
            build()
        except Exception as problem:  # noqa: BLE001  the border of a page: told in words, kept in the log
            _tell(place, problem)


async def shown_later(build: Callable[[], Awaitable[None]]) -> None:
    """The same for a page that has to wait for what it shows."""
    with ui.element("div") as place:
        try:
            await build()
        except Exception as problem:  # noqa: BLE001  as above
            _tell(place, problem)


def _tell(place: ui.element, problem: Exception) -> None:
    place.clear()
    with place:
        match problem:
            case NotFound():
                ui.page_title("Not found · Agent Playground")
                trouble_page("This is not here any more", str(problem))
            case WorkbenchError():
                ui.page_title("Error · Agent Playground")
                trouble_page("This could not be shown", str(problem))
            case _:
                log.error("A page could not be built", exc_info=problem)
                failed()
