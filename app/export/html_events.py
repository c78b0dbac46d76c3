"""The timeline of an exported page: what was said, called and returned, step by step."""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

import orjson

from app.domain.events import (
    ChildStarted,
    ContextTrimmed,
    Entry,
    Event,
    Forked,
    LimitReached,
    MessageAdded,
    ModelFailed,
    PauseRequested,
    PauseResolved,
    RunResumed,
    RunStarted,
)
from app.domain.media_types import SHOWN_IMAGES, media_type_of
from app.domain.messages import FilePart, ImagePart, Message, ResultPart, ToolResult
from app.domain.trace import CallView, Step
from app.domain.trace.steps import steps_of
from app.export.review import attachments_of
from app.export.rich_text import Markup, element, prose
from app.export.words import duration_words

LONGEST_PROSE = 200_000
"""Characters of answers that are shown as Markdown; what comes after them is shown as it was written."""


class Timeline:
    """Writes the cards of one run."""

    def __init__(self, artifacts: Mapping[str, bytes]) -> None:
        self._artifacts = artifacts
        self._placed: set[str] = set()
        self._prose_left = LONGEST_PROSE

    def sections(self, entries: Sequence[Entry]) -> Iterator[Markup]:
        """What came before the first answer, then a section for each step."""
        calls: dict[str, CallView] = {}
        cards: list[Markup] = []
        number = 0
        for entry in entries:
            if isinstance(entry.event, MessageAdded) and entry.event.message.role == "assistant":
                yield _section(number, cards)
                number, cards = number + 1, []
            cards.extend(self._card(step) for step in steps_of(entry, calls))
            cards.extend(self._aside(entry.event))
        yield _section(number, cards)

    def _card(self, step: Step) -> Markup:
        match step.type:
            case "user-request":
                return element("div", _text(step.text), *self._attached(step.message), cls="card user")
            case "agent-thought":
                return element("details", element("summary", "Thought"), _text(step.text), cls="card", open="")
            case "tool-call":
                return _call_card(step)
            case "tool-result":
                return self._result_card(step)
            case "agent-response":
                return element("div", self._answer(step.text), *self._attached(step.message), cls="card")
            case _:
                assert_never(step.type)

    def _answer(self, text: str) -> Markup:
        self._prose_left -= len(text)
        return prose(text) if self._prose_left >= 0 else _text(text)

    def _result_card(self, step: Step) -> Markup:
        result, call = step.result, step.call
        if result is None or call is None:
            return Markup()
        title = f"{result.name}: {result.status} · {duration_words(call.ms)}"
        printed = (element("p", "Printed", cls="faint"), element("pre", call.printed)) if call.printed else ()
        trouble = (element("pre", call.traceback),) if call.traceback else ()
        body = (element("pre", step.text), *self._parts(result.parts), *printed, *trouble)
        return element("div", element("div", title, cls="faint"), *body, cls="card bad" if result.failed else "card ok")

    def _attached(self, message: Message | None) -> Iterator[Markup]:
        return self._parts(message.attachments if message else ())

    def _parts(self, parts: Iterable[ResultPart]) -> Iterator[Markup]:
        for part in attachments_of(parts):
            yield self._part(part)

    def _part(self, part: ImagePart | FilePart) -> Markup:
        """A picture as itself, once; a file as a link that saves it."""
        content = self._artifacts.get(part.artifact)
        if content is None:
            return element("p", f"{part.name}: its content is not in this file.", cls="faint")
        if part.artifact in self._placed:
            return element("p", element("a", f"{part.name}: shown above", href=f"#a-{part.artifact}"))
        self._placed.add(part.artifact)
        kind = media_type_of(content, part.name)
        packed = base64.b64encode(content).decode()
        if kind in SHOWN_IMAGES:
            return element("img", src=f"data:{kind};base64,{packed}", alt=part.name, id=f"a-{part.artifact}")
        address = f"data:application/octet-stream;base64,{packed}"
        words = f"Save {part.name} ({len(content):,} bytes)"
        return element("p", element("a", words, href=address, download=part.name), id=f"a-{part.artifact}")

    def _aside(self, event: Event) -> Iterator[Markup]:
        """What happened around the steps, as a line."""
        match event:
            case RunStarted():
                yield from self._before(event)
            case ModelFailed(failure=failure, text=text, attempt=attempt):
                yield element("div", f"Attempt {attempt} failed ({failure}): {text}", cls="card bad")
            case PauseRequested(reason=reason, name=name, question=question):
                yield _note(f"Waited for a person: {reason} {name} {question}".rstrip())
            case PauseResolved(decision=decision, by=by, note=note):
                yield _note(f"Decided by {by}: {decision} {note}".rstrip())
            case ContextTrimmed(left_out=left_out, tokens_before=before, tokens_after=after):
                yield _note(f"{len(left_out):,} messages were left out: {before:,} tokens became {after:,}.")
            case LimitReached(limit=limit, allowed=allowed, reached=reached):
                yield element("div", f"Limit reached: {limit}, {reached:g} of {allowed:g}", cls="card bad")
            case RunResumed(by=by):
                yield _note(f"Went on after the app had ended (by {by}).")
            case ChildStarted(child_run_id=run_id, of_run=of_run) if of_run:
                yield _note(f"Answered as run {of_run} was, which began run {run_id}.")
            case ChildStarted(child_run_id=run_id):
                yield _note(f"Began run {run_id}.")
            case Forked(run_id=run_id, seq=seq):
                yield _note(f"Up to here copied from run {run_id}, entry {seq}.")
            case _:
                return

    def _before(self, started: RunStarted) -> Iterator[Markup]:
        """The prompt and the earlier conversation, closed."""
        if started.system is not None:
            yield element("details", element("summary", "System prompt"), _text(started.system.text), cls="card note")
        if started.history:
            said = (element("p", f"{message.role}: {_said(message)}", cls="text") for message in started.history)
            title = f"Said before in this session ({len(started.history):,} messages)"
            yield element("details", element("summary", title), *said, cls="card note")


def _section(number: int, cards: Sequence[Markup]) -> Markup:
    if not cards:
        return Markup()
    if number == 0:
        return element("section", *cards)
    return element("section", element("h3", f"Step {number}"), *cards, cls="step", id=f"step-{number}")


def _call_card(step: Step) -> Markup:
    arguments = step.call.arguments if step.call else {}
    written = orjson.dumps(arguments, option=orjson.OPT_INDENT_2).decode()
    return element("div", element("strong", step.text), element("pre", written), cls="card call")


def _said(message: Message) -> str:
    results = (part.text for part in message.parts if isinstance(part, ToolResult))
    return message.headline or "\n".join(results) or ", ".join(call.name for call in message.tool_calls)


def _text(text: str) -> Markup:
    return element("div", text, cls="text")


def _note(words: str) -> Markup:
    return element("div", words, cls="card note")
