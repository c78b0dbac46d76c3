"""Where a message is written and sent, at the bottom of a conversation."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from app.ui.conversation.composer import Composer, SendAs
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.markup import joined, tag

BACKGROUND_ITEM = joined("Run in background", tag("kbd", "Ctrl Shift Enter"))
RUNNING_HINT = "Enter queues it as the next message, Ctrl-Enter breaks into the answer."


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
        on_stop: Callable[[], object] | None = None,
        waits: bool = True,
        focused: bool = True,
        handles: str = "",
        on_send: Callable[[str, SendAs], Awaitable[None]],
        on_sent: Callable[[], Awaitable[None]],
        on_typed: Callable[[str], Awaitable[None]],
    ) -> None:
        """`key` names the box in the browser. With `on_stop` an answer is stopped here, and messages that may wait may
        be run in the background. `focused`: the cursor is in it. `handles` begins the `data-testid` of a second one.
        """
        super().__init__("div")
        self.classes("composer-dock")
        self._handles, self._hint, self._on_stop = handles, hint, on_stop
        self._waits = waits and on_stop is not None
        with self:
            self.above = ui.element("div")  # for what waits to be sent
            with ui.element("div").classes("composer") as self.box:
                self.composer = Composer(
                    key=key,
                    text=text,
                    placeholder=placeholder,
                    on_send=on_send,
                    on_sent=on_sent,
                    on_typed=on_typed,
                    say=self.say,
                    testid=f"{handles}chat-input",
                    focused=focused,
                )
                self._build_buttons(send_label)
            self._build_foot()
        self.show(running=False)

    def _build_foot(self) -> None:
        self._note = ui.label().classes("composer-note").props("role=alert data-testid=composer-note")
        self._note.visible = False
        with ui.element("div").classes("composer-foot"):
            self._words = ui.label(self._hint).classes("composer-hint")
            self.cost = ui.label().classes("composer-cost developer-only").props("data-testid=composer-cost")
            """What the next turn costs."""

    def _build_buttons(self, send_label: str) -> None:
        if self._waits:
            self._build_menu()
        self._send = icon_button("arrow_upward", send_label, look="primary", testid=f"{self._handles}send-button")
        self._send.classes("send-button").on("click", js_handler=self.composer.send())
        self._steer = button("Break in", icon="alt_route", testid="steer-button")
        self._steer.props('title="Break into the answer with this message" aria-label="Break in"')
        self._steer.classes("send-button btn-label with-text").on("click", js_handler=self.composer.send("steer"))
        self._queue = button("Queue", icon="playlist_add", look="primary", testid="queue-button")
        self._queue.props('title="Send this message when the answer is finished" aria-label=Queue')
        self._queue.classes("send-button btn-label with-text").on("click", js_handler=self.composer.send())
        self._stop = icon_button(
            "stop", "Stop the answer", look="danger", testid=f"{self._handles}stop-button" if self._on_stop else ""
        )
        self._stop.classes("send-button stop-button").props("aria-keyshortcuts=Escape")
        if self._on_stop:
            self._stop.on("click", self._on_stop, js_handler=self.composer.focusing("emit()"))

    def _build_menu(self) -> None:
        with (
            icon_button("expand_less", "More ways to send", testid="send-menu").classes("more-ways"),
            ui.menu() as menu,
        ):
            menu.props('anchor="top right" self="bottom right"')
            item = ui.menu_item().classes("more-ways-item").props("data-testid=background-button")
            item.on("click", js_handler=self.composer.send("background"))
            with item:
                ui.html(BACKGROUND_ITEM, sanitize=False, tag="span")

    def show(self, *, running: bool, hint: str = "") -> None:
        """Offer what can be done with a message now; `hint` is said from now on while no answer goes on."""
        self._hint = hint or self._hint
        queues, stops = running and self._waits, running and self._on_stop is not None
        self._send.visible = not stops
        self._send.set_enabled(not running)
        self._queue.visible = self._steer.visible = queues
        self._stop.visible = stops
        self._words.text = RUNNING_HINT if queues else self._hint

    def unsay(self, words: str) -> None:
        """Take the words back, where they are said under the box."""
        if words == self._note.text:
            self.say("")

    def say(self, words: str) -> None:
        """Say under the box why a message was not sent; empty words take that back."""
        self._note.text = words
        self._note.visible = bool(words)
