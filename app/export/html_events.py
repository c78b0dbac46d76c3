"""The timeline of an exported page: what was said, called and returned, step by step."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never
from urllib.parse import quote

from pydantic import JsonValue

from app.domain.events import (
    ChildStarted,
    ContextTrimmed,
    Entry,
    Event,
    Forked,
    LimitReached,
    ModelFailed,
    PauseRequested,
    PauseResolved,
    RunResumed,
    RunStarted,
)
from app.domain.markdown_blocks import fenced_parts
from app.domain.media_types import SHOWN_IMAGES, media_type_of
from app.domain.messages import AppPart, FilePart, ImagePart, Message, ResultPart, SentKey, ToolResult, sent_key
from app.domain.result_rows import SHOWN_ROWS, RowTable, cell_text, json_of, kept_whole, table_of
from app.domain.trace import NONE_EDITED, CallView, Edited, Edits, NodeRun, Step, nodes
from app.domain.trace.sent import how_sent
from app.domain.trace.steps import StepsSoFar
from app.domain.trace.trajectory import begins_step
from app.export.review import attachments_of
from app.export.rich_text import Markup, element, joined, prose
from app.export.words import app_words, duration_words, json_bytes, node_words

LONGEST_VALUE = 20_000
"""Characters of a node's value that are shown; the trace has all."""
LONGEST_PROSE = 200_000
"""Characters of answers that are shown as Markdown; what comes after them is shown as it was written."""


class Timeline:
    """Writes the cards of a run, or of several behind one another: what is shown of one is not shown again."""

    def __init__(self, artifacts: Mapping[str, bytes], edits: Edits = NONE_EDITED, *, origin: str = "") -> None:
        """`origin`: where the app's pages are now; empty where nobody knows."""
        self._origin, self._run_id = origin, ""
        self._artifacts = artifacts
        self._edits = edits
        self._placed: set[str] = set()
        self._sent: Mapping[SentKey, str] = {}
        self._nodes: Mapping[str, NodeRun] = {}
        self._prose_left = 0

    def sections(self, entries: Sequence[Entry], *, within: str = "", edits: Edits | None = None) -> Iterator[Markup]:
        """What came before the first answer, then a section for each step; `within` makes their ids its own.

        `edits`: of this run, where it is one of several.
        """
        if edits is not None:
            self._edits = edits
        self._prose_left = LONGEST_PROSE
        self._sent = how_sent(entries)
        self._run_id = entries[0].run_id if entries else ""
        so_far, begun = StepsSoFar(), set[str]()
        cards: list[Markup] = []
        number = 0
        self._nodes = nodes(entries).by_call
        for entry in entries:
            if begins_step(entry, begun):
                yield _section(number, cards, within)
                number, cards = number + 1, []
            for step in so_far.take(entry):
                if step.call is not None:
                    step.call.note_edits(self._edits)
                cards.append(self._card(step))
            cards.extend(self._aside(entry.event))
        yield _section(number, cards, within)

    def _card(self, step: Step) -> Markup:
        match step.type:
            case "user-request":
                said = (*_fenced(step.text), edited_mark(self._edits.message(step.seq)))
                return element("div", *said, *self._attached(step.message), cls="card user")
            case "agent-thought":
                own = step.message is not None and bool(step.message.tool_calls)
                edited = edited_mark(self._edits.message(step.seq)) if own else ""
                return element("details", element("summary", "Thought"), _text(step.text), edited, cls="card", open="")
            case "tool-call":
                return _call_card(step.call) if step.call else Markup()
            case "tool-result":
                return self._result_card(step.call) if step.call else Markup()
            case "agent-response":
                answer = (self._answer(step.text), edited_mark(self._edits.message(step.seq)))
                return element("div", *answer, *self._attached(step.message), cls="card")
            case "node":
                return self._node_card(self._nodes[step.node.call_id]) if step.node else Markup()
            case _:
                assert_never(step.type)

    def _node_card(self, run: NodeRun) -> Markup:
        """What it was given and what it gave, with the calls of its tool."""
        head = element("div", element("strong", run.label), " ", element("span", node_words(run), cls="faint"))
        given = (element("p", "Given", cls="faint"), _value(run.inputs)) if run.inputs else ()
        calls = (self._result_card(call) for call in run.calls.values())
        gave = () if run.as_returned or not run.ended or run.value is None else (_value(run.value),)
        trouble = (element("pre", run.error.text),) if run.error else ()
        below = (_note(f"Began run {child}, which is a record of its own.") for child in run.children)
        tone = "bad" if run.state == "failed" else "ok" if run.state == "done" else "note"
        return element("div", head, *given, *calls, *below, *gave, *trouble, cls=f"card {tone}")

    def _answer(self, text: str) -> Markup:
        self._prose_left -= len(text)
        return prose(text) if self._prose_left >= 0 else _text(text)

    def _result_card(self, call: CallView) -> Markup:
        if (result := call.result) is None:
            return Markup()
        edited = edited_mark(call.edited_result)
        title = result.name if edited else f"{result.name}: {result.status} · {duration_words(call.ms)}"
        printed = (element("p", "Printed", cls="faint"), element("pre", call.printed)) if call.printed else ()
        trouble = (element("pre", call.traceback),) if call.traceback else ()
        body = (edited, self._returned(call, result), *self._parts(result.parts), *printed, *trouble)
        return element("div", element("div", title, cls="faint"), *body, cls="card bad" if result.failed else "card ok")

    def _returned(self, call: CallView, result: ToolResult) -> Markup:
        """Rows as a table, JSON in lines, any other text as it is."""
        if result.failed:
            return element("pre", result.text)
        if call.name == "spawn_task" and call.task_run and not call.edited_result:
            return element("p", f"Handed over to run {call.task_run}, which is a record of its own.")
        whole = kept_whole(result)
        content = self._artifacts.get(whole.artifact) if whole else None
        if table := table_of(content.decode(errors="replace") if content else result.text):
            return joined(_table(table), _pretty(table.beside) if table.beside else "")
        value = json_of(result.text)
        return element("pre", result.text) if value is None else _pretty(value)

    def _attached(self, message: Message | None) -> Iterator[Markup]:
        return self._parts(message.attachments if message else ())

    def _parts(self, parts: Sequence[ResultPart]) -> Iterator[Markup]:
        for part in attachments_of(parts):
            yield self._part(part)
            if words := self._sent.get(sent_key(part)):
                yield element("p", words, cls="faint")
        yield from (self._app(part) for part in parts if isinstance(part, AppPart))

    def _app(self, part: AppPart) -> Markup:
        """That there is an app, with the way to where it is shown: the run's page, which asks who one is."""
        address = f"{self._origin}/runs/{quote(self._run_id, safe='')}"
        link = (" ", element("a", "Open in the app", href=address)) if self._origin else ()
        return element("div", app_words(part), *link, cls="card note")

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
            case Forked(run_id=run_id, seq=seq, edited=edited):
                but = ", but for what is marked as edited" if edited else ""
                yield _note(f"Up to here copied from run {run_id}, entry {seq}{but}.")
            case _:
                return

    def _before(self, started: RunStarted) -> Iterator[Markup]:
        """The prompt and the earlier conversation, closed."""
        if started.system is not None:
            prompt = (element("summary", "System prompt"), _text(started.system.text))
            yield joined(element("details", *prompt, cls="card note"), edited_mark(self._edits.prompt()))
        if started.history:
            said = (element("p", f"{message.role}: {_said(message)}", cls="text") for message in started.history)
            title = f"Said before in this session ({len(started.history):,} messages)"
            yield element("details", element("summary", title), *said, cls="card note")


def _section(number: int, cards: Sequence[Markup], within: str) -> Markup:
    if not cards:
        return Markup()
    if number == 0:
        return element("section", *cards)
    return element("section", element("h3", f"Step {number}"), *cards, cls="step", id=f"{within}step-{number}")


def _call_card(call: CallView) -> Markup:
    written = json_bytes(call.arguments, indent=2).decode() if call.malformed is None else call.malformed
    edited = edited_mark(call.edited_arguments)
    return element("div", element("strong", call.name), edited, element("pre", written), cls="card call")


def edited_mark(edited: Edited | None) -> Markup:
    """That a person edited it, and what it was; all of a long old value is one click away."""
    if edited is None:
        return Markup()
    if not edited.is_long or edited.was is None:
        return element("div", edited.words, cls="edited")
    return element("details", element("summary", edited.words), element("pre", edited.was), cls="edited")


def _table(table: RowTable) -> Markup:
    head = element("tr", *(element("th", name, scope="col") for name in table.columns))
    rows = (element("tr", *(element("td", cell_text(cell)) for cell in row)) for row in table.rows[:SHOWN_ROWS])
    left = len(table.rows) - SHOWN_ROWS
    more = element("p", f"The first {SHOWN_ROWS} of {len(table.rows):,} rows.", cls="faint") if left > 0 else ""
    return joined(element("div", element("table", head, *rows), cls="wide"), more)


def _value(value: JsonValue) -> Markup:
    """What a node was given or gave; of a long one the beginning."""
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return element("pre", written if len(written) <= LONGEST_VALUE else f"{written[:LONGEST_VALUE]}…")


def _pretty(value: JsonValue) -> Markup:
    """JSON that folds as a whole."""
    written = json.dumps(value, ensure_ascii=False, indent=2)
    return element("details", element("summary", "JSON", cls="faint"), element("pre", written), open="")


def _fenced(text: str) -> Iterator[Markup]:
    """What was said as it was written, code between fences as code."""
    for part, language in fenced_parts(text):
        yield _text(part.strip("\n")) if language is None else element("pre", part)


def _said(message: Message) -> str:
    results = (part.text for part in message.parts if isinstance(part, ToolResult))
    return message.headline or "\n".join(results) or ", ".join(call.name for call in message.tool_calls)


def _text(text: str) -> Markup:
    return element("div", text, cls="text")


def _note(words: str) -> Markup:
    return element("div", words, cls="card note")
