"""A call by hand while it goes on: how far it is, what it prints, what it asks."""

from nicegui import ui

from app.domain.tools import Answer, Progress, Question
from app.engine.by_hand import HandCall
from app.ui.elements.buttons import button
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.visible import visible
from app.ui.schema_form.form import SchemaForm

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
