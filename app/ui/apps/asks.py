"""What a view asks a person in a dialog of ours: to open an address, to save a file."""

import asyncio
from urllib.parse import urlsplit

from nicegui import ui

from app.domain.errors import ToolError
from app.domain.values import size
from app.ui.elements.buttons import button
from app.ui.elements.markup import tag
from app.ui.elements.questions import answer_to, named_dialog
from app.ui.elements.visible import visible

LONGEST_ADDRESS = 4_000
MOST_DENIED = 3
"""Answers of no in a row, after which a view is not asked for again."""


class Asks:
    """The dialogs of one view, one at a time. `place` is where they stand; `who` is the view, in words."""

    def __init__(self, place: ui.element, who: str) -> None:
        self._place, self._who = place, who
        self._asking = asyncio.Lock()
        self._denied = 0

    async def opened(self, address: object) -> bool:
        """Whether a person opened the address; raises `ToolError` for one that is none of the web."""
        if not isinstance(address, str) or not _is_of_web(address):
            raise ToolError("Only http and https addresses can be opened.")
        words = f"{self._who} wants to open this address in a new tab. It learns that you did."
        return await self._asked("Open this address?", words, address, confirm="Open", link=address)

    async def saved(self, name: str, octets: int | None) -> bool:
        """Whether a person lets it save the file; `octets` is its size, `None` where that is not known yet."""
        known = f"{name} ({size(octets)})" if octets is not None else name
        words = f"{self._who} wants to save a file on this computer. Open it only if you trust who made it."
        return await self._asked("Save this file?", words, known, confirm="Save")

    async def _asked(self, title: str, words: str, what: str, *, confirm: str, link: str = "") -> bool:
        if self._asking.locked():
            raise ToolError("The app asks something already.")
        if self._denied >= MOST_DENIED:
            raise ToolError("The app was told no several times. Open it again to be asked again.")
        async with self._asking:
            allowed = await answer_to(self._dialog(title, words, what, confirm=confirm, link=link), bool) is True
        self._denied = 0 if allowed else self._denied + 1
        return allowed

    def _dialog(self, title: str, words: str, what: str, *, confirm: str, link: str) -> ui.dialog:
        with self._place, named_dialog(title) as dialog, ui.card().classes("dialog-card dialog-small"):
            dialog.props("data-testid=app-ask")
            ui.label(title).classes("section-title")
            ui.label(visible(words)).classes("faint")
            ui.html(tag("pre", visible(what), cls="code-box app-ask-address", tabindex="0"), sanitize=False)
            with ui.element("div").classes("row-line at-end"):
                button("No", lambda: dialog.submit(False), testid="app-ask-deny").props("autofocus")
                allow = button(confirm, lambda: dialog.submit(True), look="primary", testid="app-ask-allow")
                if link:  # followed by the click itself, so that no blocker of pop-ups stands in its way
                    allow.props["href"], allow.props["target"] = link, "_blank"
                    allow.props["rel"] = "noopener noreferrer"
        return dialog


def _is_of_web(address: str) -> bool:
    if len(address) > LONGEST_ADDRESS or not address.isprintable() or " " in address or "\\" in address:
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
