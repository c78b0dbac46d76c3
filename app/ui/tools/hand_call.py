"""A tool called by hand: its arguments, the call while it goes on, and what came of it."""

from collections.abc import Callable, Mapping
from functools import partial

from nicegui import background_tasks, ui
from pydantic import JsonValue

from app.domain.tools import Answer, JsonSchema, Progress, Question, ToolSpec
from app.engine.by_hand import HandCall
from app.ui.conversation.sign_in_link import sign_in_view
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.hand_call_copy import KEY, as_curl, as_python
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import copy_text, problems_shown
from app.ui.elements.undo_bar import UndoBar
from app.ui.elements.visible import visible
from app.ui.schema_form.form import SchemaForm
from app.ui.tools.hand_call_arguments import ArgumentsEditor
from app.ui.tools.hand_call_result import HandCallResult
from app.ui.tools.saved_calls import SavedCallsBar
from app.workbench import Workbench

LOOK_SECONDS = 0.1
Arguments = Mapping[str, JsonValue]


class HandCallPanel(ui.element):
    """Begins with what was typed and called last; a call goes on when its page is left."""

    def __init__(self, workbench: Workbench, spec: ToolSpec, undo: UndoBar) -> None:
        super().__init__("section")
        self.classes("panel tool-section hand-call").props('aria-label="Call by hand" id=call')
        self._last = workbench.last_calls
        self._spec = spec
        self._base = str(self.client.request.base_url).rstrip("/")
        self._call: HandCall | None = None
        with self:
            self._build_head()
            self._saved = SavedCallsBar(workbench, spec.name, undo, on_choose=self._put)
            self._arguments = ArgumentsEditor(
                spec.parameters, still_known(spec.parameters, self._last.arguments(spec.name)), on_change=self._keep
            )
            self._arguments.switch.move(self._switch_place)
            self._build_buttons()
            self._live = HandCallLive()
            self._result = HandCallResult(workbench.contents)
            self._timer = ui.timer(LOOK_SECONDS, self._look, active=False)
        self.on("keydown.ctrl.enter", self._run).on("keydown.meta.enter", self._run)
        if (last := self._last.of(spec.name)) is not None:
            self._follow(last)

    def _build_head(self) -> None:
        with ui.element("div").classes("section-head row-line"):
            ui.html("Call", sanitize=False, tag="h2").classes("section-title")
            self._switch_place = ui.element("div").classes("grow")
            icon_button(
                "bookmark_add",
                "Save these arguments",
                lambda: self._saved.save(self._arguments.value),
                testid="save-call-button",
            )
            icon_button("restart_alt", "Start with the defaults", self._reset, testid="reset-arguments")

    def _build_buttons(self) -> None:
        with ui.element("div").classes("row-line call-buttons"):
            self._start = button("Run", self._run, look="primary", icon="play_arrow", testid="tool-run-button")
            self._cancel = button("Cancel", self._stop, icon="stop", testid="tool-cancel-button")
            self._cancel.visible = False
            ui.html(tag("kbd", "Ctrl ⏎"), sanitize=False).classes("call-hint grow")
            for name, written in (("curl", as_curl), ("Python", as_python)):
                copying = button(name, look="quiet", icon="content_copy", testid=f"copy-{name.lower()}")
                copying.on_click(partial(self._copy, name, written))
                copying.props(f'aria-label="Copy as {name}" title="Copy as {name}"')

    def _run(self) -> None:
        if self._call is not None and self._call.outcome is None:
            return
        arguments = self._arguments.ready()
        if arguments is None:
            return
        self._result.visible = False
        self._follow(self._last.start(self._spec.name, arguments))

    def _follow(self, call: HandCall) -> None:
        self._call = call
        self._timer.active = call.outcome is None
        self._show_running()
        self._live.show(call)
        if call.outcome is not None:
            background_tasks.create(self._result.show(call), name="show a result", context=self)

    async def _look(self) -> None:
        call = self._call
        if call is None:
            return
        self._live.show(call)
        if call.outcome is not None:
            self._timer.active = False
            self._show_running()
            await self._result.show(call)
            self._result.run_method("scrollIntoView", {"block": "nearest", "behavior": "smooth"})

    def _show_running(self) -> None:
        running = self._call is not None and self._call.outcome is None
        self._start.set_enabled(not running)
        self._cancel.visible = running

    def _stop(self) -> None:
        if self._call is not None:
            self._call.cancel()

    def _put(self, arguments: dict[str, JsonValue]) -> None:
        self._arguments.put(arguments)
        self._keep(arguments)

    def _keep(self, arguments: dict[str, JsonValue]) -> None:
        self._last.keep(self._spec.name, arguments)

    def _reset(self) -> None:
        self._last.forget(self._spec.name)
        self._arguments.put(None)

    def _copy(self, name: str, written: Callable[[str, str, Arguments], str]) -> None:
        words = f"Copied as {name}. It takes the key from the variable {KEY}."
        copy_text(written(self._base, self._spec.name, self._arguments.value), words, seconds=3.5)


def still_known(schema: JsonSchema, arguments: Arguments | None) -> Arguments | None:
    """The arguments without those that the tool no longer takes, as after its file was edited."""
    known = schema.get("properties")
    if arguments is None or schema.get("additionalProperties") is not False or not isinstance(known, dict):
        return arguments
    return {name: value for name, value in arguments.items() if name in known}


SHOWN = 20_000
"""Characters of what is printed, the last ones."""


class HandCallLive(ui.element):
    """`show` is called again and again with the call as it is now."""

    def __init__(self) -> None:
        super().__init__("div")
        self.classes("call-live")
        self._seen: tuple[str, Progress | None] = ("", None)
        self._question: Question | None = None
        with self:
            self._state = ui.html(sanitize=False).props("role=status data-testid=call-live")
            self._asked = ui.element("div")
            self._printed = ui.html(sanitize=False).classes("tool-body call-printed")
        self.visible = False

    def show(self, call: HandCall) -> None:
        """Show where the call is; nothing once it has ended."""
        self.visible = call.outcome is None
        if not self.visible:
            self._show_question(None, call)
            return
        state = (call.printed, call.progress)
        if state != self._seen or not self._state.content:
            self._seen = state
            self._state.set_content(_progress(call.progress))
            self._printed.set_content(_printed(call.printed))
        if call.question is not self._question:
            self._show_question(call.question, call)

    def _show_question(self, question: Question | None, call: HandCall) -> None:
        self._question = question
        self._asked.clear()
        if question is None:
            return
        with self._asked, ui.element("div").classes("notice notice-warn").props("data-testid=call-question"):
            asker = question.asked_by or "The tool"
            ui.html(visible(tag("strong", f"{asker} asks")), sanitize=False)
            ui.label(visible(question.text)).classes("call-question-text")
            form = SchemaForm(question.form) if question.form else None
            if question.sign_in is not None:
                ui.html(visible(sign_in_view(question.sign_in)), sanitize=False)
                button("Go on without it", lambda: self._reply(call, Answer(decision="decline")), testid="deny-button")
                return
            with ui.element("div").classes("row-line"):
                accept = button("Answer" if form else "Yes", look="primary", testid="answer-button")
                accept.on_click(lambda: self._accept(call, form))
                words = "Decline" if form else "No"
                button(words, lambda: self._reply(call, Answer(decision="decline")), testid="decline-button")

    def _accept(self, call: HandCall, form: SchemaForm | None) -> None:
        if form is None:
            self._reply(call, Answer(decision="accept"))
        elif not form.ask():
            self._reply(call, Answer(decision="accept", values=form.value))

    def _reply(self, call: HandCall, answer: Answer) -> None:
        with problems_shown():
            call.answer(answer)
        self._show_question(None, call)


def _progress(progress: Progress | None) -> Html:
    spinner = tag("span", cls="spinner", aria_hidden="true")
    if progress is None:
        return tag("div", spinner, tag("span", "Running…"), cls="row-line")
    total = progress.total
    done = f"{progress.done:g} of {total:g}" if total else f"{progress.done:g}"
    words = tag("span", progress.text or "Running…", tag("span", f" {done}", cls="faint"))
    share = min(1.0, max(0.0, progress.done / total)) if total else 0.0
    bar = tag("progress", max="1", value=f"{share:.4f}", aria_label="Progress") if total else Html("")
    return joined(tag("div", spinner, words, cls="row-line"), bar)


def _printed(text: str) -> Html:
    return tag("pre", text[-SHOWN:], tabindex="0", data_testid="live-printed") if text else Html("")
