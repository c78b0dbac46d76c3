"""Where a message is written."""

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol, get_args

from nicegui import events, ui

LARGEST_EVENT = 400_000
"""Characters; what a browser sends beyond a million bytes never arrives."""


SendAs = Literal["next", "steer", "background"]
"""As the next message, as one that breaks into the answer that goes on, or as a run of its own in the background."""
_WAYS: tuple[SendAs, ...] = get_args(SendAs)


class OnSend(Protocol):
    async def __call__(self, text: str, length: int, how: SendAs) -> bool: ...


class Composer(ui.element, component="composer.js"):
    """Enter sends, Shift-Enter breaks the line. The text leaves the box only once it was taken.

    `on_send` gets the text, its length, and how it is sent: Ctrl-Enter steers, Ctrl-Shift-Enter runs it in the
    background; it says whether the message was taken. Of a text too large to travel only the length comes, with an
    empty text. `on_sent` shows a message that was taken; then it leaves the box.
    `on_typed` gets the text one second after typing stopped, and says whether it was stored: else the tab keeps it.
    """

    def __init__(
        self,
        *,
        key: str,
        text: str,
        placeholder: str,
        on_send: OnSend,
        on_sent: Callable[[], Awaitable[None]],
        on_typed: Callable[[str], Awaitable[bool]],
    ) -> None:
        super().__init__()
        self._props.update(
            text=text,
            placeholder=placeholder,
            label="Message",
            limit=LARGEST_EVENT,
            storage=f"composer:{key}",
        )
        self._on_send, self._on_sent, self._on_typed = on_send, on_sent, on_typed
        self._handed: int | None = None
        """The edition of the text that was sent last: Enter may be pressed again before the box is empty."""
        self.on("send", self._take)
        self.on("typed", self._store)

    def send(self, how: SendAs = "next") -> str:
        """JavaScript that sends what is in the box."""
        return f"() => getElement({self.id}).send('{how}')"

    async def _take(self, event: events.GenericEventArguments) -> None:
        edition = int(event.args["edition"])
        if edition == self._handed:
            return
        self._handed, taken = edition, False
        how: SendAs = next((way for way in _WAYS if way == event.args["how"]), "next")
        try:
            taken = await self._on_send(str(event.args["text"]), int(event.args["length"]), how)
        finally:
            if not taken and self._handed == edition:
                self._handed = None
        if taken:
            await self._empty(edition)

    async def _empty(self, edition: int) -> None:
        """The message of that edition was taken, whatever becomes of showing it."""
        try:
            await self._on_sent()
        finally:
            self._props["text"] = ""
            # Not the words, which may hold a key that was pasted: they do not come back from the server.
            self.run_method("sent", edition)

    async def _store(self, event: events.GenericEventArguments) -> None:
        self._props["text"] = text = str(event.args["text"])
        if await self._on_typed(text):
            self.run_method("saved", int(event.args["edition"]))
