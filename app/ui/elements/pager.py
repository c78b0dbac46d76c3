"""Lists that come by pages: the buttons that turn them, and the address that says which page is shown."""

from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from nicegui import ui

from app.ui.elements.buttons import button
from app.ui.elements.markup import tag


class Pager(ui.element):
    """Hidden while there is one page; `on_turn` gets the number of the page that is asked for."""

    def __init__(self, noun: str, on_turn: Callable[[int], None]) -> None:
        """`noun`: what stands on the pages, such as "runs"."""
        super().__init__("nav")
        self.classes("runs-pager").props(f'aria-label="Pages of {noun}"')
        self._page = 1
        with self:
            turn = button("Previous", icon="chevron_left", testid="previous-page")
            self._previous = turn.on_click(lambda: on_turn(max(1, self._page - 1)))
            self._place = ui.html(sanitize=False).classes("muted")
            turn = button("Next", testid="next-page").props("icon-right=chevron_right")
            self._next = turn.on_click(lambda: on_turn(self._page + 1))
        self.visible = False

    def show(self, page: int, pages: int) -> None:
        """Say that this one of so many pages is shown."""
        self._page = page
        self.visible = pages > 1
        self._place.set_content(tag("span", f"Page {page:,} of {pages:,}"))
        self._previous.set_enabled(page > 1)
        self._next.set_enabled(page < pages)


def pages(total: int, size: int) -> int:
    """How many pages of that size so many fill, one at least."""
    return max(1, -(-total // size))


def counted(text: str) -> int | None:
    """The number from 1 on that an address says, `None` for anything else."""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) <= 6 and int(text) > 0 else None


def address_with(path: str, said: Mapping[str, str]) -> str:
    """The address with what its query says; what is empty is not mentioned."""
    query = urlencode({name: value for name, value in said.items() if value})
    return f"{path}?{query}" if query else path


def stand_at(frame: ui.sub_pages, address: str) -> None:
    """For the builder of a page: that address stands for it, and what the one asked for said besides is done once."""
    router = ui.context.client.sub_pages_router
    if router.is_initial_request:
        ui.navigate.history.replace(address)
    else:
        router.current_path = address  # which NiceGUI has the browser show once the page is built
    frame._reset_match()


def say_address(frame: ui.sub_pages, address: str, *, in_place: bool = True) -> None:
    """Let the browser show that address, in place of the one that was, or as one more step back."""
    (ui.navigate.history.replace if in_place else ui.navigate.history.push)(address)
    # NiceGUI believes the page to stand at its first address still, and would not build it anew for that one.
    frame._reset_match()
