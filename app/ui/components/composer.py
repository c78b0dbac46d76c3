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
    """Enter sends, Shift-Enter breaks the line. The text leaves the box only when `sent` says so.

    `on_send` gets the text, its length, and how it is sent: Ctrl-Enter steers, Ctrl-Shift-Enter runs it in the
    background; it says whether the message was taken. Of a text too large to travel only the length comes, with an
    empty text.
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
        self._handed: int | None = None
        """The edition of the text that was sent last: Enter may be pressed again before the box is empty."""

        async def send(event: events.GenericEventArguments) -> None:
            edition = int(event.args["edition"])
            if edition == self._handed:
                return
            self._handed, taken = edition, False
            how: SendAs = next((way for way in _WAYS if way == event.args["how"]), "next")
            try:
                taken = await on_send(str(event.args["text"]), int(event.args["length"]), how)
            finally:
                if not taken and self._handed == edition:
                    self._handed = None

        async def typed(event: events.GenericEventArguments) -> None:
            self._props["text"] = str(event.args)
            await on_typed(str(event.args))

        self.on("send", send)
        self.on("typed", typed)

    def send(self, how: SendAs = "next") -> str:
        """JavaScript that sends what is in the box."""
        return f"() => getElement({self.id}).send('{how}')"

    def focus(self) -> None:
        self.run_method("focus")

    def sent(self, text: str) -> None:
        """The message was taken: empty the box, unless something else stands in it by now."""
        self._props["text"] = ""
        self.run_method("sent", len(text.encode("utf-16-le", "surrogatepass")) // 2)  # as the browser counts

    def put(self, text: str) -> None:
        """Write into the box."""
        self._props["text"] = text
        self.run_method("put", text)
