"""A tool call as a card: one line while it is closed, everything once it is opened."""

from nicegui import events, ui

from app.domain.tools import Progress, ToolSpec
from app.domain.trace import CallView
from app.store.contents.contents import Contents
from app.ui.conversation.artifact_buttons import hear_artifact_buttons
from app.ui.conversation.tool_body import STATUS_WORDS, attachments, call_body
from app.ui.elements.format import duration, head, percent
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import titled, visible


class ToolCard(ui.element):
    """Its body is built when it is first opened; `show` takes what became known since."""

    def __init__(self, call: CallView, spec: ToolSpec | None, contents: Contents, *, opened: bool = False) -> None:
        super().__init__("details")
        self.classes("tool-card").props("data-testid=tool-call")
        self._call = call
        self._spec = spec
        self._contents = contents
        self._attached = Html("")
        self._body: ui.html | None = None
        self._opened = False
        self._how_far = Html("")
        with self:
            self._summary = ui.html(self._line(), sanitize=False, tag="summary")
        hear_artifact_buttons(self, contents)
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
                self._body.set_content(call_body(self._call, self._attached))

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
            with self:
                self._body = ui.html(call_body(self._call), sanitize=False).classes("tool-body")
        self._attached = await attachments(self._call, self._contents)
        self._body.set_content(call_body(self._call, self._attached))

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
        _result_head(call) if with_result else Html(""),
        how_far if how_far and call.result is None else "",
        tag("span", duration(call.ms) if call.ms is not None else "", cls="tool-ms"),
        tag("span", _mark(call), state_words(call), cls=f"tool-state tool-{call.state}"),
    )


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
    return "Running" if call.state == "running" else "Waiting"


def _mark(call: CallView) -> Html:
    match call.state:
        case "done":
            return icon("check_circle")
        case "failed":
            return icon("error")
        case "running":
            return tag("span", cls="spinner", aria_hidden="true")
        case "pending":
            return icon("schedule")


def _arguments_head(call: CallView) -> str:
    if call.malformed is not None:
        return head(call.malformed, 80)
    shown = ", ".join(f"{name}: {_short(value)}" for name, value in list(call.arguments.items())[:6])
    return head(shown, 80)


def _short(value: object) -> str:
    return head(value if isinstance(value, str) else str(value), 40)


def _result_head(call: CallView) -> Html:
    if call.result is None:
        return Html("")
    text = head(call.result.text, 90) or STATUS_WORDS[call.result.status]
    return tag("span", text, cls="tool-result-head", data_testid="tool-result")
