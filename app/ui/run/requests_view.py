"""Exactly what the model got: the calls of a run as a list, the chosen one in full."""

import json

from nicegui import background_tasks, ui

from app.domain.failure_words import failure_words
from app.domain.trace.requests import ModelCall, ModelRequestView, model_calls, request_at, request_json
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import duration, plural, tokens
from app.ui.elements.markup import tag
from app.ui.elements.notices import copy_text
from app.ui.run.request_cards import SHOWN, request_messages, request_settings
from app.ui.run.trace_growth import RunSoFar, projected
from app.ui.run.trace_list import Line, ListAndPane


class Requests:
    def __init__(self, run: RunSoFar, *, seq: int | None) -> None:
        """`seq`: the last call up to that entry is opened first."""
        self._run = run
        self._seq = seq
        self._entries = -1
        self._calls: list[ModelCall] = []
        self._list: ListAndPane | None = None
        self._count = ui.html("Reading the calls…", sanitize=False).classes("muted trace-count")
        self._place = ui.element("div").classes("fill")

    async def show(self, *, alive: bool) -> None:
        """Take in the calls that have come."""
        if self._entries == len(self._run.entries):
            return
        self._entries = len(self._run.entries)
        entries = self._run.entries[: self._entries]
        self._calls = await projected(model_calls, entries)
        words = f"{plural(len(self._calls), 'call')} of the model. Each shows what it was sent, exactly."
        self._count.set_content(tag("span", words if self._calls else "The model was not called yet."))
        if self._list is not None:
            self._list.grow(len(self._calls), follow=alive)
        elif self._calls:
            self._build(self._calls)

    def go(self, index: int) -> None:
        """Open the call that wrote, or was followed by, the step with that index."""
        if self._list is not None:
            self._list.go(_before(self._calls, self._run.steps[index].seq))

    def _build(self, calls: list[ModelCall]) -> None:
        chosen = 0 if self._seq is None else _before(calls, self._seq)
        with self._place:
            self._list = ListAndPane(
                len(calls),
                self._line,
                lambda index: RequestCard(self._run, self._calls[index].seq),
                chosen=chosen,
                on_choose=lambda _: None,
                label="Model calls of this run",
                testid="model-call",
            )

    def _line(self, index: int) -> Line:
        call = self._calls[index]
        before = self._calls[index - 1].message_count if index else 0
        again = f", attempt {call.attempt}" if call.attempt > 1 else ""
        used = f"{tokens(call.usage.input_tokens)} in" if call.usage else "no answer yet"
        return {
            "type": "act",
            "tone": "failed" if call.failure else "",
            "number": f"{call.number:,}",
            "label": "Call",
            "text": f"{plural(call.message_count, 'message')}{_more(call.message_count - before, index)}{again}",
            "note": failure_words(call.failure).title if call.failure else f"{used}, {duration(call.ms)}",
        }


class RequestCard(ui.element):
    """One call in full; it is put together when it is built, in a thread where the run is long."""

    def __init__(self, run: RunSoFar, seq: int) -> None:
        super().__init__("article")
        self.classes("request").props("data-testid=request-detail")
        self._run = run
        self._seq = seq
        self._earlier = 0
        self._view: ModelRequestView | None = None
        with self:
            self._head = ui.element("div").classes("row-line fill")
            self._settings = ui.html("Reading this call…", sanitize=False).classes("stack")
            self._messages = on_click_of(ui.html(sanitize=False), "do", self._show_earlier)
        background_tasks.create(self._read(), name="read a model call", context=self)

    async def _read(self) -> None:
        entries = self._run.entries[:]
        self._view = await projected(lambda read: request_at(read, self._seq), entries)
        with self._head:
            title = tag("strong", f"What {self._view.call.model} was sent")
            ui.html(title, sanitize=False).classes("grow truncate")
            button("Copy as JSON", self._copy, icon="content_copy", look="quiet", testid="copy-request")
        self._settings.set_content(request_settings(self._view, self._run.edits.prompt()))
        self._messages.set_content(request_messages(self._view, self._run.edited_in))

    def _show_earlier(self, _: str) -> None:
        if self._view is not None:
            self._earlier += SHOWN
            self._messages.set_content(request_messages(self._view, self._run.edited_in, earlier=self._earlier))

    def _copy(self) -> None:
        if self._view is not None:
            copy_text(json.dumps(request_json(self._view), indent=2, ensure_ascii=False))


def _more(number: int, index: int) -> str:
    if not index or not number:
        return ""
    return f", {number:,} more" if number > 0 else f", {-number:,} fewer"


def _before(calls: list[ModelCall], seq: int) -> int:
    """The index of the last call up to that entry."""
    return max(0, sum(call.seq <= seq for call in calls) - 1)
