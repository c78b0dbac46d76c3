"""The snippets that call an agent: chosen, copied, and tried from the page."""

from collections.abc import Callable

from nicegui import events, ui

from app.ui.elements.choice import Choice
from app.ui.elements.hand_call_copy import KEY
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.integrations.api_snippets import SNIPPETS, AgentCall, Snippet, snippet_named
from app.ui.integrations.api_trial import SEND, answer_of, answer_view, call_of, sender_words, waiting_view
from app.ui.markdown.render import code_block


class ApiSnippetPanel(ui.element):
    """`show` fills them in; `on_choose` gets the name of the snippet that somebody turned to."""

    def __init__(self, way: str, on_choose: Callable[[str], None]) -> None:
        super().__init__("section")
        self.classes("api-snippets").props("aria-label=Snippets")
        self._snippet = snippet_named(way)
        self._on_choose = on_choose
        self._call: AgentCall | None = None
        self._number = 0
        """Of the request that is shown; an answer to another one comes too late."""
        with self:
            names = [(one.name, one.title) for one in SNIPPETS]
            self._ways = Choice(
                names, self._choose, label="How it is called", testid="way-{}", look="segmented api-ways"
            )
            self._code = ui.html(sanitize=False).classes("snippet").on("click", self._act, js_handler=SEND)
            self._trial = ui.html(sanitize=False).classes("trial").props("role=status data-testid=trial")

    def show(self, call: AgentCall) -> None:
        """Fill the snippets in; the answer to another call goes."""
        if call != self._call:
            self._call = call
            self._redraw()

    def _redraw(self) -> None:
        if self._call is None:
            return
        self._number += 1
        self._ways.show(self._snippet.name)
        self._code.set_content(snippet_view(self._snippet, self._call, self._number))
        self._trial.set_content("")

    def _choose(self, name: str) -> None:
        self._snippet = snippet_named(name)
        self._redraw()
        self._on_choose(self._snippet.name)

    def _act(self, event: events.GenericEventArguments) -> None:
        match event.args:
            case ["copy"] if self._call is not None:
                self._copy(self._call)
            case ["began", number] if number == self._number:
                self._trial.set_content(waiting_view())
            case ["ended", told]:
                self._show_answer(told)

    def _show_answer(self, told: object) -> None:
        answer = answer_of(told)
        if answer is not None and answer.number == self._number and self._call is not None:
            self._trial.set_content(answer_view(answer, self._snippet.request(self._call), self._call.slug))

    def _copy(self, call: AgentCall) -> None:
        ui.clipboard.write(self._snippet.write(call))
        from_environment = KEY in self._snippet.write(call)
        where = f" It takes the key from the variable {KEY}." if from_environment else ""
        ui.notify(f"{self._snippet.title} is copied.{where}", timeout=3500)


def snippet_view(snippet: Snippet, call: AgentCall, number: int) -> Html:
    """The program with its buttons, what it needs, and as whom the page tries it."""
    request = snippet.request(call)
    told = call_of(request, number)
    head = tag(
        "div",
        tag("span", snippet.notes(call), cls="snippet-note"),
        _button("content_copy", "Copy", act="copy", testid="copy-snippet"),
        _button("play_arrow", "Try it", act="try", testid="try-snippet", call=told, title=sender_words(request)),
        cls="snippet-head",
    )
    code = code_block(snippet.write(call), snippet.language)
    return joined(head, tag("div", code, cls="prose", tabindex="0", data_testid="snippet-code"))


def _button(symbol: str, words: str, *, act: str, testid: str, call: str | None = None, title: str = "") -> Html:
    look = "text-button text-button-primary" if act == "try" else "text-button"
    return tag(
        "button",
        icon(symbol),
        words,
        type="button",
        cls=look,
        title=title or None,
        data_act=act,
        data_call=call,
        data_testid=testid,
    )
