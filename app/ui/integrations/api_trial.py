"""A snippet's request, sent by the browser from the page itself, and what came back."""

import json

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.values import Text, Value
from app.ui.elements.addresses import RUNS, run_address
from app.ui.elements.format import duration, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.integrations.api_snippets import Request
from app.ui.markdown.render import code_block, plain

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


def waiting_view() -> Html:
    return tag("p", tag("span", cls="spinner"), "The agent is at work…", cls="trial-head")


def answer_view(answer: Answer, request: Request, agent_slug: str) -> Html:
    """Status, time, a link to the run, and the answer set out."""
    good = answer.status == 101 or 200 <= answer.status < 300
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
