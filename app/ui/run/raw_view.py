"""A run as it is stored: every entry of its trace as JSON."""

import asyncio
from collections.abc import Sequence

from nicegui import ui

from app.domain.events import Entry
from app.ui.conversation.edited_mark import edited_mark
from app.ui.conversation.tool_body import cut
from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import button
from app.ui.elements.format import head, plural
from app.ui.elements.markup import joined, tag
from app.ui.elements.modes import developer_note
from app.ui.elements.notices import copy_text
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trace_list import Line, ListAndPane
from app.ui.run.trace_words import since

MOST_COPIED = 8_000_000
"""Characters that go to the clipboard; more is a file."""
FAILURES = ("model_failed", "limit_reached")


class Raw:
    def __init__(self, run: RunSoFar, *, seq: int | None) -> None:
        """`seq`: the entry that is opened first."""
        self._run = run
        developer_note()
        with ui.element("div").classes("row-line fill"):
            self._count = ui.html(sanitize=False).classes("muted trace-count grow")
            button("Copy all as JSON Lines", self._copy_all, icon="content_copy", testid="copy-all-entries")
        self._list = ListAndPane(
            len(run.entries),
            self._line,
            self._open,
            chosen=run.entry_place(seq or 0),
            on_choose=lambda _: None,
            label="Entries of this run",
            testid="raw-entry",
        )

    async def show(self, *, alive: bool) -> None:
        """Take in the entries that have come."""
        words = f"{plural(len(self._run.entries), 'event')}, as stored."
        self._count.set_content(tag("span", words))
        self._list.grow(len(self._run.entries), follow=alive)

    def go(self, index: int) -> None:
        """Open the entry of the step with that index."""
        self._list.go(self._run.entry_place(self._run.steps[index].seq))

    def _line(self, index: int) -> Line:
        entry = self._run.entries[index]
        failed, edited = entry.event.type in FAILURES, self._run.edits.at(entry.seq)
        return {
            "type": entry.event.type.replace("_", "-"),
            "tone": "failed" if failed else "",
            "number": f"{entry.seq:,}",
            "label": entry.event.type,
            "text": head(entry.event.model_dump_json(exclude={"type"}, exclude_defaults=True)[:400]),
            "note": "edited by you" if edited else since(self._run.began_for(entry.seq), entry.at),
        }

    def _open(self, index: int) -> None:
        entry = self._run.entries[index]
        with ui.element("div").classes("row-line fill"):
            title = tag("strong", f"#{entry.seq} {entry.event.type}")
            ui.html(title, sanitize=False).classes("grow truncate")
            address = f"{run_address(self._run.run_id)}?step={entry.seq}"
            ui.html(tag("a", "Show its step", href=address, cls="text-link", data_testid="raw-step"), sanitize=False)
            button("Copy", lambda: copy_text(entry.model_dump_json()), look="quiet", testid="copy-entry")
        marks = map(edited_mark, self._run.edits.at(entry.seq))
        ui.html(joined(*marks, cut(entry.model_dump_json(indent=2))), sanitize=False).classes("tool-body fill")

    async def _copy_all(self) -> None:
        lines = await asyncio.to_thread(json_lines, list(self._run.entries))
        if len(lines) > MOST_COPIED:
            ui.download.content(lines, f"run-{self._run.run_id}.jsonl", "application/jsonl")
            ui.notify("Too much for the clipboard: downloaded as a file instead.")
            return
        copy_text(lines, f"Copied {plural(len(self._run.entries), 'line')}.")


def json_lines(entries: Sequence[Entry]) -> str:
    """One JSON object a line."""
    return "".join(f"{entry.model_dump_json()}\n" for entry in entries)
