"""Where a message is written."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from nicegui import events, ui

LARGEST_EVENT = 400_000
"""Characters; what a browser sends beyond a million bytes never arrives."""


class OnSend(Protocol):
    async def __call__(self, text: str, length: int, *, steers: bool) -> None: ...


class Composer(ui.element, component="composer.js"):
    """Enter sends, Shift-Enter breaks the line. The text leaves the box only when `sent` says so.

    `on_send` gets the text, its length, and whether it is to break into the answer that goes on (Ctrl-Enter); of a text
    too large to travel only the length comes, with an empty text.
    `on_typed` gets the text one second after typing stopped.
    """

    def __init__(
        self,
        *,
        key: str,
        text: str,
        placeholder: str,
        on_send: OnSend,
        on_typed: Callable[[str], Awaitable[None]],
    ) -> None:
        super().__init__()
        self._props.update(
            text=text,
            placeholder=placeholder,
            label="Message",
            limit=LARGEST_EVENT,
            storage=f"composer:{key}",
        )

        async def send(event: events.GenericEventArguments) -> None:
            await on_send(str(event.args["text"]), int(event.args["length"]), steers=bool(event.args["steers"]))

        async def typed(event: events.GenericEventArguments) -> None:
            self._props["text"] = str(event.args)
            await on_typed(str(event.args))

        self.on("send", send)
        self.on("typed", typed)

    def send(self, *, steers: bool = False) -> str:
        """JavaScript that sends what is in the box."""
        return f"() => getElement({self.id}).send({'true' if steers else 'false'})"

    def focus(self) -> None:
        self.run_method("focus")

    def sent(self, text: str) -> None:
        """The message was taken: empty the box, unless something else stands in it by now."""
        self._props["text"] = ""
        self.run_method("sent", text)

    def put(self, text: str) -> None:
        """Write into the box."""
        self._props["text"] = text
        self.run_method("put", text)
