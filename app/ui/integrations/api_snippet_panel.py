"""The snippets that call an agent: chosen, copied, and sent by the browser from the page itself."""

import json
from collections.abc import Awaitable, Callable

from nicegui import background_tasks, events, ui
from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.values import Text, Value
from app.ui.elements.addresses import RUNS, run_address
from app.ui.elements.choice import Choice
from app.ui.elements.format import duration, plural
from app.ui.elements.hand_call_copy import KEY
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import copy_text
from app.ui.integrations.api_snippets import AgentCall, Request, Snippet
from app.ui.integrations.mcp_snippets import ALL_SNIPPETS, snippet_named
from app.ui.markdown.render import code_block, plain, reachable

Try = Callable[[Snippet, AgentCall, int], "Awaitable[Answer]"]


class ApiSnippetPanel(ui.element):
    """`show` fills them in; `on_choose` gets the name of the snippet that somebody turned to; `on_try` tries one that
    no browser can.
    """

    def __init__(self, way: str, on_choose: Callable[[str], None], on_try: Try) -> None:
        super().__init__("section")
        self.classes("api-snippets").props("aria-label=Snippets")
        self._snippet = snippet_named(way)
        self._on_choose = on_choose
        self._on_try = on_try
        self._call: AgentCall | None = None
        self._number = 0
        """Of the request that is shown; an answer to another one comes too late."""
        self._tried: int | None = None
        """That of the one which is being tried."""
        with self:
            names = [(one.name, one.title) for one in ALL_SNIPPETS]
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
            case ["trial"] if self._call is not None and self._tried != self._number:
                self._tried = self._number  # once, where it is pressed twice: each time an agent runs
                background_tasks.create(self._try(self._call), name="try an MCP snippet")
            case ["began", number] if number == self._number:
                self._trial.set_content(_AT_WORK)
            case ["ended", told]:
                self._show_answer(told)

    async def _try(self, call: AgentCall) -> None:
        self._trial.set_content(_AT_WORK)
        snippet, number = self._snippet, self._number
        try:
            answer = await self._on_try(snippet, call, number)
        finally:
            self._tried = None if self._tried == number else self._tried
        if not self.is_deleted:
            self._show_answer(answer.model_dump())

    def _show_answer(self, told: object) -> None:
        answer = answer_of(told)
        if answer is not None and answer.number == self._number and self._call is not None:
            self._trial.set_content(answer_view(answer, self._snippet.request(self._call), self._call.slug))

    def _copy(self, call: AgentCall) -> None:
        written = self._snippet.write(call)
        where = f" It takes the key from the variable {KEY}." if KEY in written else ""
        copy_text(written, f"{self._snippet.title} is copied.{where}", seconds=3.5)


def snippet_view(snippet: Snippet, call: AgentCall, number: int) -> Html:
    """The program with its buttons, what it needs, and as whom the page tries it."""
    request = snippet.request(call)
    told = call_of(request, number) if snippet.over == "browser" else None
    act = "try" if snippet.over == "browser" else "trial"
    head = tag(
        "div",
        tag("span", snippet.notes(call), cls="snippet-note"),
        "" if snippet.over == "browser" else _SKILL,
        _button("content_copy", "Copy", act="copy", testid="copy-snippet"),
        _button("play_arrow", "Try it", act=act, testid="try-snippet", call=told, title=sender_words(request)),
        cls="snippet-head",
    )
    code = reachable(code_block(snippet.write(call), snippet.language))
    return joined(head, tag("div", code, cls="prose", tabindex="0", data_testid="snippet-code"))


_SKILL = tag(
    "a",
    icon("school"),
    "SKILL.md",
    href="/api/v1/docs/SKILL.md",
    target="_blank",
    title="Shows a coding agent how to make your agents better with these tools.",
    data_testid="skill-link",
)


def _button(symbol: str, words: str, *, act: str, testid: str, call: str | None = None, title: str = "") -> Html:
    look = "text-button" if act == "copy" else "text-button text-button-primary"
    return tag(
        "button",
        icon(symbol),
        words,
        cls=look,
        title=title or None,
        data_act=act,
        data_call=call,
        data_testid=testid,
    )


MOST_CHARACTERS = 20_000
"""Of an answer on the page; its run has all of it."""
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)

SEND = """async (event) => {
  const pressed = event.target.closest("[data-act]");
  if (!pressed) return;
  if (pressed.dataset.act !== "try") return emit([pressed.dataset.act]);
  const { number, address, body, headers, credentials } = JSON.parse(pressed.dataset.call);
  emit(["began", number]);
  pressed.disabled = true;
  const begun = performance.now();
  const answered = (status, text, run = "") => {
    pressed.disabled = false;
    const ms = performance.now() - begun;
    emit(["ended", { number, status, run, ms, size: text.length, text: text.slice(0, 200000) }]);
  };
  const runOf = (text) => { try { return JSON.parse(text).data.run_id; } catch { return ""; } };
  if (!address.startsWith("ws")) {
    try {
      const reply = await fetch(address, { method: "POST", headers, credentials, body: JSON.stringify(body) });
      const text = await reply.text();
      answered(reply.status, text, reply.headers.get("X-Run-Id") || runOf(text) || "");
    } catch (problem) {
      answered(0, String(problem));
    }
    return;
  }
  const steps = [];
  const socket = new WebSocket(address);
  socket.onopen = () => socket.send(JSON.stringify(body));
  socket.onmessage = (message) => {
    const step = JSON.parse(message.data);
    steps.push(step);
    if (["agent-response", "pause-requested", "error"].includes(step.type)) socket.close(1000);
  };
  socket.onclose = () => answered(steps.length ? 101 : 0, JSON.stringify(steps));
}"""
"""Sends the request of the `[data-act=try]` that was pressed; emits `["began", n]` and `["ended", Answer]`."""


MCP_ANSWER = 1
"""In place of a status of HTTP."""


class Answer(Value):
    """What came back, as the browser tells it."""

    number: int
    """Of the request that it answers."""
    status: int
    """Of HTTP; 0 where there was no answer."""
    run: Text = ""
    ms: float
    size: int
    """Characters of the whole answer."""
    text: Text


def answer_of(told: object) -> Answer | None:
    """The answer that a browser told of, `None` for anything else."""
    try:
        return Answer.model_validate(told)
    except ValidationError:
        return None


def call_of(request: Request, number: int) -> str:
    """The request as `SEND` reads it."""
    headers = {"Content-Type": "application/json"}
    if request.key:
        headers["Authorization"] = f"Bearer {request.key}"
    as_owner = not request.key and not request.anonymous
    told: JsonValue = {
        "number": number,
        "address": request.address,
        "body": request.body,
        "headers": dict(headers),
        "credentials": "same-origin" if as_owner else "omit",
    }
    return json.dumps(told)


def sender_words(request: Request) -> str:
    """As whom the page sends it."""
    if request.anonymous:
        return "Sent without a key."
    return "Sent with the new key." if request.key else "Sent by this page as you, in place of a key."


_AT_WORK = tag("p", tag("span", cls="spinner"), "The agent is at work…", cls="trial-head")


def answer_view(answer: Answer, request: Request, agent_slug: str) -> Html:
    """Status, time, a link to the run, and the answer set out."""
    good = answer.status in (101, MCP_ANSWER) or 200 <= answer.status < 300
    head = tag(
        "p",
        tag("span", _status_words(answer), cls="pill pill-done" if good else "pill pill-failed"),
        tag("span", duration(answer.ms), cls="muted"),
        tag("span", sender_words(request), cls="faint grow"),
        _link(answer, agent_slug) if good or answer.run else "",
        cls="trial-head",
        data_testid="trial-status",
    )
    return joined(head, tag("div", _text(answer), cls="prose trial-answer", data_testid="trial-answer"))


def _status_words(answer: Answer) -> str:
    match answer.status:
        case 0:
            return "No answer"
        case 101:
            return "Answered over the socket"
        case _ if answer.status == MCP_ANSWER:
            return "Answered over MCP"
        case status:
            return f"HTTP {status}"


def _link(answer: Answer, agent_slug: str) -> Html:
    if answer.run:
        return tag("a", icon("receipt_long"), "Open the run", href=run_address(answer.run), data_testid="trial-run")
    return tag("a", icon("receipt_long"), "Runs of this agent", href=f"{RUNS}?agent={agent_slug}")


def _text(answer: Answer) -> Html:
    """JSON set out as code, anything else as it is."""
    shown = _set_out(answer.text)
    whole = answer.text if shown is None else shown
    left = max(len(whole), answer.size) - MOST_CHARACTERS
    more = tag("p", f"… and {plural(left, 'more character')}.", cls="faint") if left > 0 else Html("")
    beginning = whole[:MOST_CHARACTERS]
    block = plain(beginning) if shown is None else code_block(beginning, "json")
    return joined(block, more)


def _set_out(text: str) -> str | None:
    try:
        return json.dumps(_JSON.validate_json(text), indent=2, ensure_ascii=False)
    except ValidationError:
        return None
