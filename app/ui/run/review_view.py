"""A run as the document that its Markdown export writes, with its pictures and links that lead somewhere."""

import asyncio
import re
from collections.abc import Mapping
from html import unescape
from time import monotonic
from typing import NamedTuple

from nicegui import ui

from app.domain.values import new_id
from app.export.markdown import Review, review
from app.store.contents.contents import Contents
from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import button
from app.ui.elements.markup import Html, tag
from app.ui.elements.notices import copy_text
from app.ui.markdown.live_markdown import render
from app.ui.markdown.markdown import Markdown
from app.ui.run.trace_growth import RunSoFar

LONGEST = 150_000
"""Characters of the document that are shown; the export has all of it."""
_RUNS = "runs/"


class Address(NamedTuple):
    href: str
    title: str
    picture: str = ""
    """Where it is shown, if it is a picture."""


class ReviewView:
    def __init__(self, run: RunSoFar, contents: Contents) -> None:
        self._run = run
        self._contents = contents
        self._entries = -1
        self._not_before = 0.0
        self._written = Review("", ())
        self._place_of_links = f"https://{new_id()}.invalid/"
        """Where the document says that its files lie: nothing that was said in the run can know it."""
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
        edits, place = self._run.edits, self._place_of_links
        self._written = await asyncio.to_thread(
            review, entries, alive=alive, edits=edits, folder=place, runs=f"{place}{_RUNS}"
        )
        await self._show_document()
        self._not_before = monotonic() + max(2.0, 10 * (monotonic() - started))

    def go(self, index: int) -> None:
        """The document has no steps to open."""

    async def _show_document(self) -> None:
        document = self._written.document
        words = "The review as its Markdown export writes it."
        if (whole := len(document)) > LONGEST:
            words += f" The first {LONGEST:,} of {whole:,} characters are shown; copied or exported you have all."
        html = led_somewhere(await render(document[:LONGEST]), self._place_of_links, self._addresses())
        self._said.set_content(tag("span", words))
        self._copy.visible = True
        self._place.clear()
        with self._place:
            Markdown(html=html)

    def _addresses(self) -> dict[str, Address]:
        """By path: where the files beside the document are, those of calls at the steps that tell them."""
        calls = [step.seq for step in self._run.steps if step.type == "tool-call"]
        found: dict[str, Address] = {}
        for file in self._written.files:
            path = file.path.removeprefix(self._place_of_links)
            name = path.rpartition("/")[2]
            if file.artifact:
                picture = self._contents.picture(file.artifact) if path.startswith("images/") else ""
                href = self._contents.download(file.artifact, name)
                found[path] = Address(href, f"Save {name}", picture)
            elif (number := int(name.partition("_")[0])) <= len(calls):
                found[path] = Address(f"{run_address(self._run.run_id)}?step={calls[number - 1]}", "Show this call")
        return found

    def _copy_all(self) -> None:
        place = self._place_of_links
        document = re.sub(rf"\[(run [^\]]*)\]\({re.escape(place)}{_RUNS}[^)]*\)", r"\1", self._written.document)
        copy_text(document.replace(place, ""))


def led_somewhere(html: Html, place: str, addresses: Mapping[str, Address]) -> Html:
    """The rendered document with pictures, downloads and pages where it links to what lies in `place`."""
    link = re.compile(rf'<a href="{re.escape(place)}([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)

    def leading(found: re.Match[str]) -> str:
        path, words = found[1], Html(found[2])
        if path.startswith(_RUNS):
            return tag("a", words, href=run_address(path.removeprefix(_RUNS)))
        if (address := addresses.get(path)) is None:
            return words
        shown = words
        if address.picture:
            shown = tag("img", src=address.picture, alt=unescape(words.partition(" (")[0]), loading="lazy")
        return tag("a", shown, href=address.href, title=address.title)

    return Html(link.sub(leading, html))
