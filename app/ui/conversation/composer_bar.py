"""Where a message is written and sent, at the bottom of a conversation."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from app.domain.errors import TooLarge, WorkbenchError
from app.engine.sessions.turns import LONGEST_MESSAGE
from app.ui.conversation.composer import Composer, SendAs
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.markup import joined, tag

BACKGROUND_ITEM = joined("Run in background", tag("kbd", "Ctrl Shift Enter"))
RUNNING_HINT = "Enter queues it as the next message, Ctrl-Enter steers: it breaks into the answer."


class ComposerBar(ui.element):
    """The text box with its buttons, and what there is to say about it.

    `on_send` gets a message and how it is sent; what it raises is said under the box. Else `on_sent` shows the message,
    which then leaves the box.
    """

    def __init__(
        self,
        *,
        key: str,
        text: str,
        placeholder: str,
        hint: str,
        send_label: str = "Send",
        queues: bool = False,
        on_send: Callable[[str, SendAs], Awaitable[None]],
        on_sent: Callable[[], Awaitable[None]],
        on_typed: Callable[[str], Awaitable[None]],
    ) -> None:
        """`key` names the box in the browser; with `queues` messages are taken while an answer goes on, and may be run
        in the background.
        """
        super().__init__("div")
        self.classes("composer-dock")
        self._hint, self._queues, self._on_send, self._on_typed = hint, queues, on_send, on_typed
        with self:
            self.above = ui.element("div")
            """For what waits to be sent."""
            with ui.element("div").classes("composer") as self.box:
                self._composer = Composer(
                    key=key,
                    text=text,
                    placeholder=placeholder,
                    on_send=self.submit,
                    on_sent=on_sent,
                    on_typed=self._typed,
                )
                self._build_buttons(send_label)
            self._note = ui.label().classes("composer-note").props("role=alert data-testid=composer-note")
            self._note.visible = False
            with ui.element("div").classes("composer-foot"):
                self._words = ui.label(hint).classes("composer-hint")
                self.cost = ui.label().classes("composer-cost").props("data-testid=composer-cost")
                """What the next turn costs."""
        self.show(running=False)

    def _build_buttons(self, send_label: str) -> None:
        if self._queues:
            self._build_menu()
        self._send = icon_button("arrow_upward", send_label, look="primary", testid="send-button")
        self._send.classes("send-button").on("click", js_handler=self._composer.send())
        self._steer = button("Steer", icon="alt_route", testid="steer-button")
        self._steer.props('title="Break into the answer with this message" aria-label=Steer')
        self._steer.classes("send-button btn-label").on("click", js_handler=self._composer.send("steer"))
        self._queue = button("Queue", icon="playlist_add", look="primary", testid="queue-button")
        self._queue.props('title="Send this message when the answer is finished" aria-label=Queue')
        self._queue.classes("send-button btn-label").on("click", js_handler=self._composer.send())

    def _build_menu(self) -> None:
        with (
            icon_button("expand_less", "More ways to send", testid="send-menu").classes("more-ways"),
            ui.menu() as menu,
        ):
            menu.props('anchor="top right" self="bottom right"')
            item = ui.menu_item().classes("more-ways-item").props("data-testid=background-button")
            item.on("click", js_handler=self._composer.send("background"))
            with item:
                ui.html(BACKGROUND_ITEM, sanitize=False, tag="span")

    def show(self, *, running: bool) -> None:
        """Offer what can be done with a message now."""
        queues = running and self._queues
        self._send.visible = not queues
        self._send.set_enabled(not running)
        self._queue.visible = self._steer.visible = queues
        self._words.text = RUNNING_HINT if queues else self._hint

    async def submit(self, text: str, length: int, how: SendAs = "next") -> bool:
        """Send the text; of one that is too large to travel only the length is known. True when it was taken."""
        self.say("")
        try:
            if length and not text:
                raise TooLarge(
                    f"The message has {length:,} characters; {LONGEST_MESSAGE:,} is the most. "
                    "Shorten it, or send it in several messages."
                )
            await self._on_send(text, how)
        except WorkbenchError as problem:
            self.say(str(problem))
            return False
        return True

    def say(self, words: str) -> None:
        """Say under the box why a message was not sent; empty words take that back."""
        self._note.text = words
        self._note.visible = bool(words)

    async def _typed(self, text: str) -> bool:
        try:
            await self._on_typed(text)
        except WorkbenchError as problem:
            self.say(str(problem))
            return False
        return True
