"""A run as the document that its Markdown export writes, to read and to copy."""

import asyncio
from time import monotonic

from nicegui import ui

from app.export.markdown import review
from app.ui.elements.buttons import button
from app.ui.elements.markup import tag
from app.ui.markdown.markdown import Markdown
from app.ui.run.trace_growth import RunSoFar

LONGEST = 150_000
"""Characters of the document that are shown; the export has all of it."""


class ReviewView:
    def __init__(self, run: RunSoFar) -> None:
        self._run = run
        self._entries = -1
        self._not_before = 0.0
        self._document = ""
        with ui.element("div").classes("row-line fill"):
            self._said = ui.html("Writing the review…", sanitize=False).classes("muted trace-count grow")
            self._copy = button("Copy as Markdown", self._copy_all, icon="content_copy", testid="copy-review")
            self._copy.visible = False
        self._place = ui.element("article").classes("review").props("data-testid=run-review")

    async def show(self, *, alive: bool) -> None:
        """Write the review of the run as it is now; one that goes on is written anew at times."""
        if self._entries == len(self._run.entries) or monotonic() < self._not_before:
            return
        started = monotonic()
        entries = list(self._run.entries)
        self._entries = len(entries)
        if self._run.started is None:
            self._said.set_content("Without the first record of this run there is no review of it.")
            return
        written = await asyncio.to_thread(review, entries, alive=alive)
        self._document = written.document
        self._show_document()
        self._not_before = monotonic() + max(2.0, 10 * (monotonic() - started))

    def go(self, index: int) -> None:
        """The document has no steps to open."""

    def _show_document(self) -> None:
        whole = len(self._document)
        words = "The review as its Markdown export writes it."
        if whole > LONGEST:
            words += f" The first {LONGEST:,} of {whole:,} characters are shown; copied or exported you have all."
        self._said.set_content(tag("span", words))
        self._copy.visible = True
        self._place.clear()
        with self._place:
            Markdown(self._document[:LONGEST])

    def _copy_all(self) -> None:
        ui.clipboard.write(self._document)
        ui.notify("Copied.")
