"""Where a message is written."""

from collections.abc import Awaitable, Callable
from typing import Literal, get_args

from nicegui import events, ui

from app.domain.errors import TooLarge, WorkbenchError
from app.engine.sessions.turns import LONGEST_MESSAGE

LARGEST_EVENT = 400_000
"""Characters; what a browser sends beyond a million bytes never arrives."""


SendAs = Literal["next", "steer", "background"]
"""As the next message, as one that breaks into the answer that goes on, or as a run of its own in the background."""
_WAYS: tuple[SendAs, ...] = get_args(SendAs)


class Composer(ui.element, component="composer.js"):
    """Enter sends, Shift-Enter breaks the line. The text leaves the box only once it was taken.

    `on_send` gets the text and how it is sent: Ctrl-Enter breaks in, Ctrl-Shift-Enter runs it in the background.
    `on_sent` shows a message that was taken; then it leaves the box.
    `on_typed` gets the text one second after typing stopped; where it was not stored, the tab keeps it.
    `say` is told why something was not taken or stored, and with empty words that this holds no more.
    """

    def __init__(
        self,
        *,
        key: str,
        text: str,
        placeholder: str,
        on_send: Callable[[str, SendAs], Awaitable[None]],
        on_sent: Callable[[], Awaitable[None]],
        on_typed: Callable[[str], Awaitable[None]],
        say: Callable[[str], None],
        focused: bool = True,
        testid: str = "chat-input",
    ) -> None:
        """`focused`: the cursor is in it once it is shown."""
        super().__init__()
        self._props.update(
            text=text,
            placeholder=placeholder,
            label="Message",
            limit=LARGEST_EVENT,
            storage=f"composer:{key}",
            focused=focused,
            testid=testid,
        )
        self._on_send, self._on_sent, self._on_typed, self._say = on_send, on_sent, on_typed, say
        self._handed: int | None = None
        """The edition of the text that was sent last: Enter may be pressed again before the box is empty."""
        self.on("send", self._take)
        self.on("typed", self._store)

    def send(self, how: SendAs = "next") -> str:
        """JavaScript that sends what is in the box."""
        return f"() => getElement({self.id}).send('{how}')"

    def focusing(self, first: str) -> str:
        """JavaScript that does that and puts the cursor into the box, but not where that brings up a keyboard."""
        return f"() => {{ {first}; getElement({self.id}).focus(); }}"

    def focus(self) -> None:
        """Put the cursor into the box, but not where that brings up a keyboard."""
        self.run_method("focus")

    async def draft(self, text: str) -> str:
        """Put a text behind what was typed, for the person to look at and send; why not, if that was not done."""
        return str(await self.run_method("draft", text))

    async def submit(self, text: str, length: int, how: SendAs = "next") -> bool:
        """Send the text; of one that is too large to travel only the length is known. True when it was taken."""
        self._say("")
        try:
            if length and not text:
                raise TooLarge(
                    f"The message has {length:,} characters; {LONGEST_MESSAGE:,} is the most. "
                    "Shorten it, or send it in several messages."
                )
            await self._on_send(text, how)
        except WorkbenchError as problem:
            self._say(str(problem))
            return False
        return True

    async def _take(self, event: events.GenericEventArguments) -> None:
        edition = int(event.args["edition"])
        if edition == self._handed:
            return
        self._handed, taken = edition, False
        how: SendAs = next((way for way in _WAYS if way == event.args["how"]), "next")
        try:
            taken = await self.submit(str(event.args["text"]), int(event.args["length"]), how)
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
        try:
            await self._on_typed(text)
        except WorkbenchError as problem:
            self._say(str(problem))
        else:
            self.run_method("saved", int(event.args["edition"]))
