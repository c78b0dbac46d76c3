"""A tool call as a card: one line while it is closed, everything once it is opened."""

from nicegui import events, ui

from app.domain.tools import Progress, ToolSpec
from app.domain.trace import CallView
from app.store.contents.contents import Contents
from app.ui.conversation.artifact_buttons import hear_artifact_buttons
from app.ui.conversation.attached import hear_attached
from app.ui.conversation.edited_mark import edited_chip
from app.ui.conversation.result_view import Order, next_order
from app.ui.conversation.task_line import is_task
from app.ui.conversation.tool_body import STATUS_WORDS, attachments, call_body, returned_view
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import duration, head, percent
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import titled, visible

LINE = 240
"""Characters of arguments and result on its line, which cuts them to the room that there is."""


class ToolCard(ui.element):
    """Its body is built when it is first opened; `show` takes what became known since."""

    def __init__(self, call: CallView, spec: ToolSpec | None, contents: Contents, *, opened: bool = False) -> None:
        super().__init__("details")
        self.classes("tool-card").props("data-testid=tool-call")
        self._call = call
        self._spec = spec
        self._contents = contents
        self._attached = Html("")
        self._returned: Html | None = None
        self._order: Order | None = None
        self._body: LiveHtml | None = None
        self._opened = False
        self._how_far = Html("")
        with self:
            self._summary = ui.html(self._line(), sanitize=False, tag="summary")
        self.on("toggle", self._toggle, js_handler="(event) => emit(event.target.open)")
        if opened:
            self.props("open")

    async def show(self, call: CallView) -> None:
        """Show the call as it is known now."""
        self._call = call
        self._summary.set_content(self._line())
        if self._opened:
            await self._show_body()

    def printed(self, text: str) -> None:
        """Show what the call has printed so far, while it is still running."""
        if self._call.result is None and self._call.printed != text:
            self._call.printed = text
            if self._body is not None and self._opened:
                self._body.show(call_body(self._call, self._attached))

    def progressed(self, progress: Progress) -> None:
        """Show how far the call is, while it is still running."""
        how_far = progress_words(progress)
        if self._call.result is None and how_far != self._how_far:
            self._how_far = how_far
            self._summary.set_content(self._line())

    async def _toggle(self, event: events.GenericEventArguments) -> None:
        self._opened = bool(event.args)
        self._summary.set_content(self._line())
        if self._opened:
            await self._show_body()

    async def _show_body(self) -> None:
        if self._body is None:
            with self, ui.element("div") as place:
                self._body = LiveHtml()
                self._body.classes("tool-body")
            hear_artifact_buttons(place, self._contents)
            hear_attached(place, self._contents)
            on_click_of(place, "sort", self._sort)
        self._returned = await returned_view(self._call, self._contents, self._order)
        self._body.show(call_body(self._call, self._attached, self._returned))
        self._attached = await attachments(self._call, self._contents)
        self._body.show(call_body(self._call, self._attached, self._returned))

    async def _sort(self, column: str) -> None:
        self._order = next_order(self._order, column)
        await self._show_body()

    def _line(self) -> Html:
        return call_line(self._call, self._spec, with_result=not self._opened, how_far=self._how_far)


def call_line(call: CallView, spec: ToolSpec | None, *, with_result: bool = True, how_far: Html | None = None) -> Html:
    """The one line of a call: what was called with what, where it stands, and the head of its result.

    `how_far` is what `progress_words` gave for a call that is running.
    """
    return joined(
        icon(spec.icon if spec else "build", "tool-icon"),
        tag("span", titled(spec, call.name, call.label), cls="tool-title"),
        tag("span", visible(_arguments_head(call)), cls="tool-head"),
        edited_chip(call.edited_arguments),
        _result_head(call) if with_result and not (is_task(call) and call.task_run) else Html(""),
        how_far if how_far and call.result is None else "",
        *_ended(call),
    )


def _ended(call: CallView) -> tuple[Html, ...]:
    """How long it took and where it stands; of a result that a person wrote, that."""
    if call.edited_result is not None:
        return (edited_chip(call.edited_result),)
    took = tag("span", duration(call.ms) if call.ms is not None else "", cls="tool-ms")
    return took, tag("span", _mark(call), state_words(call), cls=f"tool-state tool-{call.state}")


def progress_words(progress: Progress) -> Html:
    """How far a call is, as a bar where it knows the whole, and in words."""
    words = head(progress.text, 60)
    if not progress.total or progress.total <= 0:
        return tag("span", words or f"{progress.done:g}", cls="tool-progress", data_testid="tool-progress")
    share = min(max(progress.done / progress.total, 0), 1)
    bar = tag("progress", max="100", value=f"{share * 100:.0f}", aria_label="Progress")
    return tag("span", bar, f"{percent(share)} {words}".rstrip(), cls="tool-progress", data_testid="tool-progress")


def state_words(call: CallView) -> str:
    """Where the call stands, in a word or two."""
    if call.result is not None:
        return STATUS_WORDS[call.result.status]
    if call.left:
        return "Interrupted" if call.started_at else "Not called"
    return "Running" if call.state == "running" else "Waiting"


def _mark(call: CallView) -> Html:
    match call.state:
        case "done":
            return icon("check_circle")
        case "failed":
            return icon("error")
        case "running":
            return tag("span", cls="spinner", aria_hidden="true")
        case "left":
            return icon("power_settings_new")
        case "pending":
            return icon("schedule")


def _arguments_head(call: CallView) -> str:
    if call.malformed is not None:
        return head(call.malformed, LINE)
    shown = ", ".join(f"{name}: {head(str(value), LINE // 2)}" for name, value in list(call.arguments.items())[:9])
    return head(shown, LINE)


def _result_head(call: CallView) -> Html:
    if call.result is None:
        return Html("")
    text = head(call.result.text, LINE) or STATUS_WORDS[call.result.status]
    return tag("span", text, cls="tool-result-head", data_testid="tool-result")
