"""What the model got in one call, as markup: what changed since the call before is open, what did not is folded."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import assert_never

from pydantic import JsonValue

from app.domain.messages import (
    AppPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    SentAttachment,
    TextPart,
    ToolCall,
    ToolResult,
    sent_key,
    sent_words,
)
from app.domain.tools import ToolSpec
from app.domain.trace import Edited
from app.domain.trace.requests import ModelRequestView, SentChange, SentMessage
from app.domain.values import size
from app.ui.conversation.edited_mark import edited_mark
from app.ui.conversation.tool_body import cut, pretty
from app.ui.elements.format import head, plural
from app.ui.elements.markup import Html, joined, tag

SHOWN = 40
"""Messages of one group that are shown; the others are counted, and shown when they are asked for."""
CHANGES: dict[SentChange, tuple[str, str]] = {
    "new": ("New", "is-good"),
    "changed": ("Changed", "is-warn"),
    "stubbed": ("Shortened from here on", "is-warn"),
    "dropped": ("Left out from here on", "is-warn"),
}
ROLES = {"user": "User", "assistant": "Model", "tool": "Tool result", "system": "System"}


EditedIn = Callable[[Message], Sequence[Edited]]
"""What a person edited of a message."""


def request_settings(view: ModelRequestView, prompt: Edited | None = None) -> Html:
    """Model, parameters, system prompt and what a person made of it, tools and the shape of the answer."""
    return joined(
        _parameters(view),
        edited_mark(prompt, about="System prompt: "),
        _system(view),
        _tools(view),
        _output_schema(view),
    )


def request_messages(view: ModelRequestView, edited_in: EditedIn, *, earlier: int = 0) -> Html:
    """The messages in order; `earlier`: how many more of each unchanged group are shown."""
    groups = groupby(view.messages, key=lambda one: one.change == "kept")
    shown = [
        part for kept, group in groups for part in _group(list(group), edited_in, kept=kept, earlier=earlier, view=view)
    ]
    return tag("section", tag("p", _messages_title(view), cls="part-title"), *shown, cls="sent-messages")


def _messages_title(view: ModelRequestView) -> str:
    sent = sum(one.change != "dropped" for one in view.messages)
    new = sum(one.change in ("new", "changed") for one in view.messages)
    kept = "" if view.is_first else f", {new:,} new"
    gone = f"; {plural(view.left_out, 'earlier message')} not sent any more" if view.left_out else ""
    return f"{plural(sent, 'message')}{kept}{gone}"


def _group(
    group: Sequence[SentMessage], edited_in: EditedIn, *, kept: bool, earlier: int, view: ModelRequestView
) -> Iterator[Html]:
    most = SHOWN + earlier
    messages = [_message(one, edited_in, is_open=not kept, view=view) for one in group[-most:]]
    if len(group) > most:
        words = f"Show {min(SHOWN, len(group) - most)} earlier of {plural(len(group) - most, 'message')}"
        button = tag("button", words, cls="text-button text-button-plain", data_do="earlier")
        messages.insert(0, button)
    if not kept:
        yield from messages
        return
    title = f"{plural(len(group), 'unchanged message')}"
    summary = tag("summary", title)
    yield tag("details", summary, *messages, cls="sent-kept", open=earlier > 0, data_testid="unchanged-messages")


def _message(one: SentMessage, edited_in: EditedIn, *, is_open: bool, view: ModelRequestView) -> Html:
    words, tone = CHANGES.get(one.change, ("", ""))
    if view.is_first:
        words, tone = ("Said before this run", "") if one.place < view.history else ("", "")
    message, edited = one.message, edited_in(one.message)
    summary = tag(
        "summary",
        tag("strong", ROLES[message.role]),
        tag("span", words, cls=f"chip {tone}") if words else "",
        tag("span", "Edited by you", cls="chip is-warn") if edited else "",
        tag("span", head(_headline(message), 100), cls="truncate muted"),
    )
    marks = (edited_mark(mark) for mark in edited)
    body = joined(*marks, *(_part(part, view.call.attachments) for part in message.parts)) or tag(
        "p", "Nothing in it.", cls="faint"
    )
    cls = f"sent-message sent-{message.role} is-{one.change}"
    return tag("details", summary, body, cls=cls, open=is_open and one.change != "dropped", data_testid="sent-message")


def _part(part: Part, sent: Sequence[SentAttachment]) -> Html:
    match part:
        case TextPart(text=text):
            return cut(text)
        case ReasoningPart(text=text):
            return joined(
                tag("p", "Thought", cls="part-name"), cut(text or "Sent back in the provider's own encrypted form.")
            )
        case ToolCall(name=name, arguments=arguments, malformed=malformed):
            return joined(tag("p", f"Calls {name}", cls="part-name"), cut(malformed or pretty(arguments)))
        case ToolResult(name=name, status=status):
            said = "" if status == "ok" else f" ({status})"
            return joined(tag("p", f"{name}{said}", cls="part-name"), *(_part(one, sent) for one in part.parts))
        case ImagePart() | FilePart():
            how = next((sent_words(fact) for fact in sent if sent_key(fact) == sent_key(part)), "")
            return tag("p", _file_words(part), tag("span", f" {how}", cls="muted") if how else "")
        case AppPart():
            return tag("p", _file_words(part))
        case _:
            assert_never(part)


def _file_words(part: ImagePart | FilePart | AppPart) -> str:
    match part:
        case ImagePart(name=name, media_type=media_type):
            return f"Image: {name} ({media_type})"
        case FilePart(name=name, media_type=media_type):
            return f"File: {name} ({media_type}, {size(part.size)})"
        case AppPart(uri=uri):
            return f"View: {uri}"


def _headline(message: Message) -> str:
    calls = ", ".join(call.name for call in message.tool_calls)
    return message.headline or (f"calls {calls}" if calls else "") or _results(message.parts)


def _results(parts: Iterable[Part]) -> str:
    return " ".join(head(part.text, 100) for part in parts if part.type == "tool_result")


def _parameters(view: ModelRequestView) -> Html:
    written = view.call.parameters.model_dump(mode="json", exclude_none=True)
    pairs = {"model": view.call.model, **written}
    rows = joined(*(joined(tag("dt", name), tag("dd", _short(value))) for name, value in pairs.items()))
    changed = f"Model and parameters{_standing(view, is_changed=bool(view.changed))}"
    names = " and ".join(view.changed)
    note = tag("span", f"{names} changed".capitalize(), cls="chip is-warn") if names else Html("")
    inner = tag("dl", rows, cls="facts-list")
    return tag(
        "details",
        tag("summary", tag("span", changed), note),
        inner,
        open=view.is_first or bool(names),
        cls="sent-setting",
    )


def _system(view: ModelRequestView) -> Html:
    if view.system is None:
        return tag("p", "No system prompt.", cls="faint")
    text = view.system.text
    title = f"System prompt, {plural(len(text), 'character')}{_standing(view, is_changed=False)}"
    return tag("details", tag("summary", title), cut(text), open=view.is_first, cls="sent-setting")


def _tools(view: ModelRequestView) -> Html:
    if not view.tools:
        return tag("p", "No tools.", cls="faint")
    title = f"{plural(len(view.tools), 'tool')}{_standing(view, is_changed=False)}"
    names = tag("span", ", ".join(spec.name for spec in view.tools), cls="truncate muted")
    return tag(
        "details", tag("summary", tag("span", title), names), *(_tool(spec) for spec in view.tools), cls="sent-setting"
    )


def _tool(spec: ToolSpec) -> Html:
    summary = tag("summary", tag("strong", spec.name), tag("span", head(spec.description, 90), cls="truncate muted"))
    schema = cut(json.dumps(spec.parameters, indent=2, ensure_ascii=False))
    return tag("details", summary, tag("p", spec.description), schema, cls="sent-tool")


def _output_schema(view: ModelRequestView) -> Html:
    if view.output_schema is None:
        return Html("")
    title = f"Shape of the answer{_standing(view, is_changed=False)}"
    return tag("details", tag("summary", title), cut(pretty(view.output_schema)), cls="sent-setting")


def _standing(view: ModelRequestView, *, is_changed: bool) -> str:
    return "" if view.is_first or is_changed else ", unchanged"


def _short(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)
