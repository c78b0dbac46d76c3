"""What a call by hand gave back: text, a tree, a table, images and files to download."""

import asyncio
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nicegui import ui
from pydantic import JsonValue

from app.domain.errors import NotFound, StorageError
from app.domain.events import FileChanged
from app.domain.media_types import SHOWN_IMAGES
from app.domain.messages import AppPart, FilePart, ImagePart, ResultPart
from app.domain.values import size
from app.engine.by_hand import HandCall
from app.engine.loop.outcomes import Outcome
from app.store.contents.contents import Contents
from app.ui.conversation.artifact_buttons import artifact_buttons, hear_artifact_buttons
from app.ui.conversation.tool_body import STATUS_WORDS, cut
from app.ui.elements.buttons import icon_action
from app.ui.elements.choice import choice_buttons
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import duration, head, plural
from app.ui.elements.json_tree import LONGEST_TEXT, json_tree, literal
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import copy_text
from app.ui.schema_form.json import BrokenJson, read_json

View = Literal["text", "tree", "table"]
TITLES: dict[View, str] = {"text": "Text", "tree": "Tree", "table": "Table"}
LARGEST_IMAGE = 4_000_000
"""Bytes of an image above which it is offered for download only."""


@dataclass(frozen=True)
class Shown:
    """A result, read once for all its views."""

    text: str
    value: JsonValue
    views: tuple[View, ...]


def shown_of(text: str) -> Shown:
    """The text, and what it is as JSON where it is an object or a list."""
    try:
        value = read_json(text) if text.lstrip()[:1] in ("{", "[") else None
    except BrokenJson:
        value = None
    if not isinstance(value, dict | list):
        return Shown(text, None, ("text",))
    return Shown(text, value, ("text", "tree", "table") if as_rows(value) else ("text", "tree"))


class HandCallResult(ui.element):
    """`show` takes a call that has ended; the view that was chosen stays for the next one. Hidden while one goes on."""

    def __init__(self, contents: Contents) -> None:
        super().__init__("section")
        self.classes("call-result").props('aria-label="Result" data-testid=tool-call-by-hand-result')
        self._contents = contents
        self._view: View = "text"
        self._shown = Shown("", None, ("text",))
        self._call: HandCall | None = None
        with self:
            self._head = ui.html(sanitize=False).classes("call-result-head")
            self._body = ui.html(sanitize=False).classes("call-result-body tool-body")
            self._files = ui.html(sanitize=False).classes("call-result-files tool-body")
        on_click_of(self, "action", lambda _: copy_text(self._shown.text))
        on_click_of(self, "choice", self._turn)
        hear_artifact_buttons(self, contents)
        self.visible = False

    async def show(self, call: HandCall) -> None:
        """Show how the call ended."""
        outcome = call.outcome
        if outcome is None:
            return
        self._call = call
        self._shown = await asyncio.to_thread(shown_of, outcome.text)
        self._draw(outcome)
        self._files.set_content(
            joined(*[await self._part(part) for part in outcome.parts], *map(_change, call.changes))
        )
        self.visible = True

    def _draw(self, outcome: Outcome) -> None:
        view = self._view if self._view in self._shown.views else "text"
        self._head.set_content(_head(outcome, self._shown, view))
        self._body.set_content(joined(_content(outcome, self._shown, view), _printed(outcome), _traceback(outcome)))

    def _turn(self, wanted: str) -> None:
        if self._call is not None and self._call.outcome is not None:
            self._view = next((view for view in TITLES if view == wanted), "text")
            self._draw(self._call.outcome)

    async def _part(self, part: ResultPart) -> Html:
        match part:
            case ImagePart():
                return await self._image(part)
            case FilePart():
                return _file(part, f"{part.media_type}, {size(part.size)}")
            case AppPart():
                return tag("p", "It brings an app along, which is shown where an agent calls it.", cls="faint")
            case _:
                return Html("")

    async def _image(self, part: ImagePart) -> Html:
        try:
            octets = await self._contents.size(part.artifact)
        except (NotFound, StorageError) as problem:
            return tag("p", str(problem), cls="faint")
        about = f"{part.media_type}, {size(octets)}"
        name = part.alt or f"image.{part.media_type.partition('/')[2]}"
        file = FilePart(artifact=part.artifact, media_type=part.media_type, filename=name, size=octets)
        if part.media_type not in SHOWN_IMAGES or octets > LARGEST_IMAGE:
            return _file(file, f"{about}: not shown here")
        picture = tag("img", src=self._contents.picture(part.artifact), alt=part.alt or "Image that the tool returned")
        return tag("figure", picture, _file(file, about), cls="call-image")


def _head(outcome: Outcome, shown: Shown, view: View) -> Html:
    failed = outcome.status != "ok"
    pill = "pill-stopped" if outcome.status == "cancelled" else "pill-failed" if failed else "pill-done"
    views = tag(
        "div",
        choice_buttons([(one, TITLES[one]) for one in shown.views], view, testid="result-{}"),
        cls="mode-switch",
        role="group",
        aria_label="How to show the result",
    )
    copy = icon_action("copy", "content_copy", "Copy the result")
    return joined(
        tag("h3", "Result"),
        tag("span", STATUS_WORDS[outcome.status], cls=f"pill {pill}", data_testid="call-status"),
        tag("span", duration(outcome.ms), cls="faint", title="Time taken"),
        tag("span", cls="grow"),
        views if len(shown.views) > 1 else "",
        copy if shown.text else "",
    )


def _content(outcome: Outcome, shown: Shown, view: View) -> Html:
    if outcome.status != "ok":
        return tag("div", cut(outcome.text or "No message."), cls="tool-error", data_testid="call-error")
    match view:
        case "tree":
            return json_tree(shown.value)
        case "table":
            return json_table(as_rows(shown.value))
        case "text":
            return cut(shown.text) if shown.text else _no_text(outcome)


def _no_text(outcome: Outcome) -> Html:
    return Html("") if outcome.parts else tag("p", "It returned nothing.", cls="faint")


def _printed(outcome: Outcome) -> Html:
    if not outcome.printed:
        return Html("")
    return tag(
        "section", tag("p", "Printed", cls="part-title"), tag("div", cut(outcome.printed), data_testid="call-printed")
    )


def _traceback(outcome: Outcome) -> Html:
    if not outcome.traceback:
        return Html("")
    return tag("details", tag("summary", "Where it failed"), cut(outcome.traceback), cls="traceback")


def _change(change: FileChanged) -> Html:
    name, digest = change.path, change.after
    if digest is None:
        return tag("p", tag("code", name), " was removed.", cls="call-file")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    file = FilePart(artifact=digest, media_type=kind, filename=name.rpartition("/")[2], size=0)
    return _file(file, "written" if change.before is None else "changed", name=name)


def _file(file: FilePart, about: str, *, name: str = "") -> Html:
    words = tag("code", name or file.filename, cls="truncate")
    return tag(
        "div",
        icon("insert_drive_file"),
        words,
        tag("span", about, cls="faint grow"),
        artifact_buttons(file),
        cls="call-file",
    )


MOST_ROWS = 200
MOST_COLUMNS = 40
LONGEST_CELL = 200
"""Characters of one cell of a table."""


def as_rows(value: JsonValue) -> list[dict[str, JsonValue]]:
    """The objects of a list of nothing but objects; else nothing."""
    if not isinstance(value, list):
        return []
    rows = [one for one in value if isinstance(one, dict)]
    return rows if len(rows) == len(value) else []


def json_table(rows: Sequence[dict[str, JsonValue]]) -> Html:
    """A table of the objects: a column for each name, in the order in which they first appear."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = names[:MOST_COLUMNS]
    header = tag("tr", *(tag("th", name, scope="col") for name in shown))
    lines = (tag("tr", *(_cell(row, name) for name in shown)) for row in rows[:MOST_ROWS])
    table = tag("table", tag("thead", header), tag("tbody", *lines))
    return joined(tag("div", table, cls="json-table", tabindex="0"), _left_out(rows, names))


def _left_out(rows: Sequence[object], names: Sequence[str]) -> Html:
    more = []
    if len(rows) > MOST_ROWS:
        more.append(f"The first {MOST_ROWS} of {plural(len(rows), 'row')}.")
    if len(names) > MOST_COLUMNS:
        more.append(f"The first {MOST_COLUMNS} of {len(names)} columns.")
    words = " ".join(more) or f"{plural(len(rows), 'row')}, {plural(len(names), 'column')}"
    return tag("p", words, cls="faint")


def _cell(row: dict[str, JsonValue], name: str) -> Html:
    if name not in row:
        return tag("td", cls="json-none")
    value = row[name]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return tag("td", literal(value), cls="json-cell-number")
    text = value if isinstance(value, str) else literal(value)
    return tag("td", head(text, LONGEST_CELL), title=text[:LONGEST_TEXT] if len(text) > LONGEST_CELL else None)
