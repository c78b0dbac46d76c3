"""What the opened card of a tool call shows: arguments, what it printed, its result, the files it changed."""

import asyncio
import json
from collections.abc import Mapping
from difflib import unified_diff

from pydantic import JsonValue

from app.domain.errors import NotFound, StorageError
from app.domain.events import FileChanged
from app.domain.media_types import SHOWN_IMAGES
from app.domain.messages import FilePart, ImagePart, ToolStatus
from app.domain.result_rows import kept_whole
from app.domain.trace import CallView
from app.domain.values import size
from app.store.contents.contents import Contents
from app.ui.conversation.artifact_buttons import artifact_buttons
from app.ui.conversation.edited_mark import edited_mark
from app.ui.conversation.result_view import Order, value_view
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.visible import visible
from app.ui.markdown.render import code_block

SHOWN = 20_000
"""Characters of an argument, a result or an output that a card shows."""
DIFF_LIMIT = 200_000
"""Bytes of a file above which its change is named, not shown."""
IMAGE_LIMIT = 4_000_000
"""Bytes of an image above which it is named, not shown."""

STATUS_WORDS: dict[ToolStatus, str] = {
    "ok": "Done",
    "error": "Failed",
    "timeout": "Took too long",
    "denied": "Denied",
    "cancelled": "Stopped",
    "invalid": "Arguments did not fit",
    "unknown": "No such tool",
}


def call_body(call: CallView, attached: Html | None = None, returned: Html | None = None) -> Html:
    """All that is known of the call; `attached` and `returned` are what `attachments` and `returned_view` gave."""
    return joined(
        _section("Arguments", joined(edited_mark(call.edited_arguments), _arguments(call))),
        printed_view(call),
        _result(call, returned),
        attached or "",
        traceback_view(call),
    )


async def attachments(call: CallView, contents: Contents) -> Html:
    """The images and files of the result and the changes of files, read from the artifacts."""
    shown = [await _change(change, contents) for change in call.changes]
    for part in call.result.parts if call.result else ():
        if isinstance(part, ImagePart):
            shown.append(await _image(part, contents))
        elif isinstance(part, FilePart):
            words = tag("p", f"{part.filename} ({part.media_type}, {size(part.size)})")
            shown.append(_section("File", joined(words, artifact_buttons(part))))
    return joined(*shown)


async def returned_view(call: CallView, contents: Contents, order: Order | None = None) -> Html | None:
    """The rows or the JSON that the call returned, rows in that order; `None` where it returned anything else."""
    if call.result is None or call.result.failed:
        return None
    text, whole = call.result.text, kept_whole(call.result)
    if whole is not None:
        try:
            text = (await contents.get(whole.artifact)).decode(errors="replace")
        except (NotFound, StorageError):
            return None  # its file says so, below
    return await asyncio.to_thread(value_view, text, order) if len(text) > SHOWN else value_view(text, order)


def pretty(value: object) -> str:
    """The value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def cut(text: str) -> Html:
    """The text for a box of its own; of a long one the beginning, and in words how much there is."""
    if len(text) <= SHOWN:
        return tag("pre", text, tabindex="0")
    note = tag("p", f"The first {SHOWN:,} of {len(text):,} characters.", cls="faint")
    return joined(tag("pre", text[:SHOWN], tabindex="0"), note)


def _arguments(call: CallView) -> Html:
    if call.malformed is not None:
        note = tag("p", "The model wrote arguments that are no JSON object:", cls="faint")
        return tag("div", note, visible(cut(call.malformed)), data_testid="tool-arguments")
    shown = tag("div", visible(cut(pretty(call.arguments))), data_testid="tool-arguments")
    return joined(shown, long_arguments(call.arguments, call.name))


def long_arguments(arguments: Mapping[str, JsonValue], tool: str) -> Html:
    """The arguments of several lines as they are, since JSON has them in one."""
    texts = ((name, value) for name, value in arguments.items() if isinstance(value, str) and "\n" in value)
    return visible(joined(*(joined(tag("p", name, cls="part-name"), _as_code(value, tool)) for name, value in texts)))


def _as_code(text: str, tool: str) -> Html:
    if tool != "execute_python" or len(text) > SHOWN:
        return cut(text)
    return tag("div", code_block(text, "python"), cls="prose")


def printed_view(call: CallView) -> Html:
    """What it printed, of much the end."""
    if not call.printed:
        return Html("")
    tail = call.printed[-SHOWN:]
    note = f"The last {SHOWN:,} of {len(call.printed):,} characters." if len(call.printed) > SHOWN else ""
    box = tag("pre", tail, tabindex="0", data_testid="tool-printed")
    return _section("Printed", joined(box, tag("p", note, cls="faint") if note else ""))


def _result(call: CallView, returned: Html | None) -> Html:
    if call.result is None:
        words = "Waiting for its turn." if call.started_at is None else "Still running."
        words = "None: the app was closed before." if call.left else words
        return _section("Result", tag("p", words, cls="faint"))
    if call.result.failed:
        box = tag("div", cut(call.result.text or "No message."), data_testid="tool-error", cls="tool-error")
        said = joined(edited_mark(call.edited_result), tag("div", box, data_testid="tool-result"), _attempts(call))
        return _section(STATUS_WORDS[call.result.status], said)
    box = tag("div", returned_text(call.result.text, returned), data_testid="tool-result")
    return _section("Result", joined(edited_mark(call.edited_result), box, _attempts(call)))


def returned_text(text: str, returned: Html | None) -> Html:
    """What `returned_view` gave, with the text that the model got one click away; else that text."""
    if not text:
        return tag("p", "It returned no text.", cls="faint")
    if returned is None:
        return cut(text)
    return joined(returned, tag("details", tag("summary", "As the model got it"), cut(text), cls="traceback"))


def _attempts(call: CallView) -> Html:
    return tag("p", f"Tried {call.attempts} times.", cls="faint") if call.attempts > 1 else Html("")


def traceback_view(call: CallView) -> Html:
    """Where it failed; nothing where that is not known."""
    if not call.traceback:
        return Html("")
    return tag("details", tag("summary", "Where it failed"), cut(call.traceback), cls="traceback")


async def _change(change: FileChanged, contents: Contents) -> Html:
    try:
        before = (await contents.get(change.before)) if change.before else b""
        after = (await contents.get(change.after)) if change.after else b""
    except (NotFound, StorageError) as problem:
        return _section(f"Changed {change.path}", tag("p", str(problem), cls="faint"))
    verb = "Wrote" if change.before is None else "Removed" if change.after is None else "Changed"
    return _section(f"{verb} {change.path}", _difference(before, after))


def _difference(before: bytes, after: bytes) -> Html:
    try:
        old, new = before.decode(), after.decode()
    except UnicodeDecodeError:
        return tag("p", f"{size(len(after))}, not text.", cls="faint")
    if len(before) + len(after) > DIFF_LIMIT:
        return tag("p", f"{size(len(before))} before, {size(len(after))} now.", cls="faint")
    lines = list(unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2))[2:]
    if len(lines) > 400:
        return tag("p", f"{plural(len(lines), 'line')} of changes.", cls="faint")
    return tag("pre", *(_difference_line(line) for line in lines), cls="diff", tabindex="0")


def _difference_line(line: str) -> Html:
    kind = {"+": "added", "-": "removed", "@": "place"}.get(line[:1], "same")
    return tag("span", f"{line}\n", cls=f"diff-{kind}")


async def _image(part: ImagePart, contents: Contents) -> Html:
    try:
        octets = await contents.size(part.artifact)
    except (NotFound, StorageError) as problem:
        return _section("Image", tag("p", str(problem), cls="faint"))
    if part.media_type not in SHOWN_IMAGES or octets > IMAGE_LIMIT:
        return _section("Image", tag("p", f"{part.media_type}, {size(octets)}: not shown here.", cls="faint"))
    name = part.alt or "Image that the tool returned"
    shown = tag("img", src=contents.picture(part.artifact), alt=name)
    label = f"Show {name} larger"
    button = tag(
        "button", shown, cls="picture-button", title=label, data_picture=part.artifact, data_name=part.name,
        aria_label=label, data_testid="thumbnail",
    )  # fmt: skip
    return _section("Image", button)


def _section(title: str, content: Html) -> Html:
    return tag("section", tag("p", title, cls="part-title"), content)
