"""Where a message is written."""

from collections.abc import Awaitable, Callable

from nicegui import events, ui

LARGEST_EVENT = 400_000
"""Characters; what a browser sends beyond a million bytes never arrives."""


class Composer(ui.element, component="composer.js"):
    """Enter sends, Shift-Enter breaks the line. The text leaves the box only when `sent` says so.

    `on_send` gets the text and its length; of a text too large to travel only the length comes, with an empty text.
    `on_typed` gets the text one second after typing stopped.
    """

    def __init__(
        self,
        *,
        session_id: str,
        text: str,
        placeholder: str,
        on_send: Callable[[str, int], Awaitable[None]],
        on_typed: Callable[[str], Awaitable[None]],
    ) -> None:
        super().__init__()
        self._props.update(
            text=text,
            placeholder=placeholder,
            label="Message",
            limit=LARGEST_EVENT,
            storage=f"composer:{session_id}",
        )

        async def send(event: events.GenericEventArguments) -> None:
            await on_send(str(event.args["text"]), int(event.args["length"]))

        async def typed(event: events.GenericEventArguments) -> None:
            self._props["text"] = str(event.args)
            await on_typed(str(event.args))

        self.on("send", send)
        self.on("typed", typed)

    def send(self) -> str:
        """JavaScript that sends what is in the box."""
        return f"() => getElement({self.id}).send()"

    def sent(self, text: str) -> None:
        """The message was taken: empty the box, unless something else stands in it by now."""
        self._props["text"] = ""
        self.run_method("sent", text)

    def put(self, text: str) -> None:
        """Write into the box."""
        self._props["text"] = text
        self.run_method("put", text)
