"""What the user said, with a way to say it differently."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from nicegui import ui

from app.domain.markdown_blocks import fenced_parts
from app.domain.messages import Message, SentAttachment
from app.domain.trace import Edited
from app.domain.values import now
from app.store.contents.contents import Contents
from app.ui.conversation.attached import attached, hear_attached
from app.ui.conversation.edited_mark import edited_mark
from app.ui.elements.buttons import button, icon_action
from app.ui.elements.format import clock, moment_text, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.markdown.render import code_block, reachable

BRANCH = "branch"
"""The action of a step to another branch; its value is the run that this begins with."""
SHOWN = 10_000
"""Characters of a message that its bubble shows."""

SCROLLED = 600
"""Characters of a message whose bubble may be higher than it is shown: it is scrolled by keyboard too."""


class UserMessage(ui.element):
    """A bubble; while it is edited a text box stands in its place."""

    def __init__(self, contents: Contents) -> None:
        super().__init__("div")
        self.said: Message | None = None
        self._said_at = now()
        self._edited: Edited | None = None
        self._beside: tuple[str, ...] = ()
        self._place = 0
        self._sent: Sequence[SentAttachment] = ()
        self._contents = contents
        with self:
            self._bubble = ui.html(sanitize=False).classes("user-message").props("data-testid=user-message")
        self._editor: ui.element | None = None

    @property
    def text(self) -> str:
        return self.said.text if self.said else ""

    def show(self, message: Message, said_at: datetime, edited: Edited | None = None) -> None:
        """`edited`: that a person wrote it anew before the run went on from another one."""
        if message.attachments and self.said is None:
            hear_attached(self, self._contents)
        self.said, self._said_at, self._edited = message, said_at, edited
        self._draw(message)

    def show_sent(self, sent: Sequence[SentAttachment]) -> None:
        """Say how its attachments went along in the first call."""
        if self.said is not None and self.said.attachments and not self._sent:
            self._sent = sent
            self._draw(self.said)

    def stand(self, run_id: str, beside: Sequence[str]) -> None:
        """Say which of the runs beside one another this one is, with steps to those next to it."""
        if tuple(beside) == self._beside:
            return
        self._beside, self._place = tuple(beside), beside.index(run_id)
        if self.said is not None:
            self._draw(self.said)

    def _draw(self, message: Message) -> None:
        time = tag("time", clock(self._said_at), datetime=self._said_at.isoformat(), title=moment_text(self._said_at))
        actions = tag(
            "div",
            branch_steps(self._beside, self._place) if len(self._beside) > 1 else "",
            time,
            icon_action("edit", "edit", "Edit and send again", testid="edit-button"),
            icon_action("copy-request", "content_copy", "Copy message", testid="copy-request-button"),
            cls="message-actions",
        )
        bubble = _bubble(message.text) if message.text.strip() else ""
        files = attached(message.attachments, self._contents, self._sent)
        self._bubble.set_content(joined(files, bubble, edited_mark(self._edited), actions))

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
            words = f"{kept}What was said stays: the new words begin a branch beside it."
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

    def __init__(self, message: Message, said_at: datetime, contents: Contents, edited: Html) -> None:
        super().__init__("div")
        self.classes("steer-message")
        if message.attachments:
            hear_attached(self, contents)
        self._message, self._contents, self._is_sent = message, contents, False
        time = tag("time", clock(said_at), datetime=said_at.isoformat(), title=moment_text(said_at))
        self._mark = tag("div", icon("alt_route"), tag("span", "You broke in here"), time, cls="steer-mark")
        self._words = joined(_bubble(message.text) if message.text.strip() else "", edited)
        with self:
            self._said = ui.html(sanitize=False).classes("user-message").props("data-testid=user-message")
        self._draw(())

    def show_sent(self, sent: Sequence[SentAttachment]) -> None:
        """Say how its attachments went along in the call behind it."""
        if self._message.attachments and not self._is_sent:
            self._is_sent = True
            self._draw(sent)

    def _draw(self, sent: Sequence[SentAttachment]) -> None:
        files = attached(self._message.attachments, self._contents, sent)
        self._said.set_content(joined(self._mark, files, self._words))


def branch_steps(beside: Sequence[str], place: int) -> Html:
    """`‹ 2 / 3 ›`: the branch one is on among those that begin here, and the way to the ones next to it."""
    return tag(
        "span",
        _step("Previous branch", "‹", beside[place - 1] if place > 0 else None),
        tag("span", f"{place + 1} / {len(beside)}"),
        _step("Next branch", "›", beside[place + 1] if place + 1 < len(beside) else None),
        role="group",
        aria_label=f"Branch {place + 1} of {len(beside)}",
        cls="branches",
        data_testid="branches",
    )


def _step(label: str, sign: str, run_id: str | None) -> Html:
    """One that leads nowhere keeps its place and the focus."""
    leads = {"data_action": BRANCH, "data_value": run_id} if run_id else {"aria_disabled": "true"}
    return tag("button", sign, type="button", aria_label=label, title=label, **leads)


def _bubble(text: str) -> Html:
    left = f"… {plural(len(text) - SHOWN, 'character')} more; copy the message to see all of it."
    more = tag("div", left, cls="faint") if len(text) > SHOWN else ""
    scrolls = "0" if len(text) > SCROLLED or text.count("\n") > SCROLLED // 50 else None
    return tag("div", *map(_said, fenced_parts(text[:SHOWN])), more, cls="user-bubble", tabindex=scrolls)


def _said(part: tuple[str, str | None]) -> Html:
    """What was said as it was written, code between fences as code."""
    text, language = part
    if language is None:
        return joined(text.strip("\n"))
    return tag("div", reachable(code_block(text, language or "text")), cls="prose")
