"""What the user said, with a way to say it differently."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from nicegui import ui

from app.domain.messages import Message
from app.store.contents.contents import Contents
from app.ui.conversation.attached import attached, hear_attached
from app.ui.elements.buttons import button, icon_action
from app.ui.elements.format import clock, moment_text, plural
from app.ui.elements.markup import Html, icon, joined, tag

SHOWN = 10_000
"""Characters of a message that its bubble shows."""


class UserMessage(ui.element):
    """A bubble; while it is edited a text box stands in its place."""

    def __init__(self, contents: Contents) -> None:
        super().__init__("div")
        self.said: Message | None = None
        self._contents = contents
        hear_attached(self, contents)
        with self:
            self._bubble = ui.html(sanitize=False).classes("user-message").props("data-testid=user-message")
        self._editor: ui.element | None = None

    @property
    def text(self) -> str:
        return self.said.text if self.said else ""

    def show(self, message: Message, said_at: datetime) -> None:
        self.said = message
        time = tag("time", clock(said_at), datetime=said_at.isoformat(), title=moment_text(said_at))
        actions = tag(
            "div",
            time,
            icon_action("edit", "edit", "Edit and send again", testid="edit-button"),
            icon_action("copy-request", "content_copy", "Copy message", testid="copy-request-button"),
            cls="message-actions",
        )
        bubble = _bubble(message.text) if message.text.strip() else ""
        self._bubble.set_content(joined(attached(message.attachments, self._contents), bubble, actions))

    def edit(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Let the text be changed; once `send` has sent it, another turn stands in this one's place."""
        if self._editor is not None:
            return
        self._bubble.visible = False
        with self, ui.element("div").classes("edit-box") as self._editor:
            box = ui.textarea(value=self.text).props('outlined autogrow autofocus aria-label="Edit message"')
            box.props("data-testid=edit-input")

            async def send_it() -> None:
                await send(box.value or "")

            box.on("keydown.ctrl.enter", send_it).on("keydown.meta.enter", send_it).on("keydown.esc", self._close)
            kept = "Its attachments go along again. " if self.said and self.said.attachments else ""
            words = f"{kept}Everything after this message is replaced. Its run stays on the Runs page."
            ui.label(words).classes("faint")
            with ui.element("div").classes("row-line at-end"):
                button("Cancel", self._close, look="quiet")
                button("Send", send_it, look="primary", testid="edit-send-button")

    def _close(self) -> None:
        if self._editor is not None:
            self._editor.delete()
            self._editor = None
            self._bubble.visible = True


class SteerMessage(ui.element):
    """What the user said in the middle of an answer, which was broken off here."""

    def __init__(self, message: Message, said_at: datetime, contents: Contents) -> None:
        super().__init__("div")
        self.classes("steer-message")
        hear_attached(self, contents)
        time = tag("time", clock(said_at), datetime=said_at.isoformat(), title=moment_text(said_at))
        words = tag("div", icon("alt_route"), tag("span", "You broke in here"), time, cls="steer-mark")
        bubble = _bubble(message.text) if message.text.strip() else ""
        with self:
            said = ui.html(joined(words, attached(message.attachments, contents), bubble), sanitize=False)
            said.classes("user-message").props("data-testid=user-message")


def _bubble(text: str) -> Html:
    if len(text) <= SHOWN:
        return tag("div", text, cls="user-bubble")
    left = f"… {plural(len(text) - SHOWN, 'character')} more; copy the message to see all of it."
    return tag("div", text[:SHOWN], tag("div", left, cls="faint"), cls="user-bubble")
