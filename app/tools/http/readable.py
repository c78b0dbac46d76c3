"""A web page as text to read: headings, lists, tables and links in Markdown's signs, without scripts and styles."""

import re
import time
from html.parser import HTMLParser

PIECE = 16_384
"""Characters between two looks at the clock."""
SKIPPED = frozenset(("script", "style", "template", "noscript", "svg", "iframe", "object", "select", "canvas"))
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
SECTIONS = ("article", "aside", "details", "dialog", "div", "fieldset", "footer", "form", "header", "main", "nav")
PARAGRAPHS = ("address", "blockquote", "dd", "dl", "dt", "figcaption", "figure", "hr", "p", "pre", "section", "summary")
BLOCKS = frozenset((*SECTIONS, *PARAGRAPHS, *HEADINGS, "ol", "table", "title", "ul"))
LINES = frozenset(("br", "li", "tr", "option"))
SPACE = re.compile(r"[ \t\r\f\v\n\u00a0]+")


def readable(html: str, *, seconds: float = 2) -> tuple[str, bool]:
    """The text of the page, and whether something at its end was left out because reading it took too long."""
    page = _Page()
    until = time.monotonic() + seconds
    for start in range(0, len(html), PIECE):
        if time.monotonic() > until:
            return page.text(), True
        page.feed(html[start : start + PIECE])
    page.feed("<br>")
    return page.text(), False


class _Page(HTMLParser):
    """Is never closed: what `close` does with a page that ends in a broken tag takes time squared."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._skipped = ""
        """The outermost tag whose content is left out now."""
        self._depth = 0
        """How many of these are open."""
        self._verbatim = 0
        self._links: list[str] = []
        self._in_title = False
        self._title = ""

    def text(self) -> str:
        lines = (
            line.strip() if "\0" not in line else line.replace("\0", "") for line in "".join(self._pieces).split("\n")
        )
        body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
        title = SPACE.sub(" ", self._title).strip()
        return f"{title}\n\n{body}" if title and not body.startswith(f"# {title}") else body

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title"
        if tag == "body":
            self._skipped = ""
        if tag in SKIPPED and self._skipped in ("", tag):
            self._depth = self._depth + 1 if self._skipped else 1
            self._skipped = tag
        elif not self._skipped:
            self._open(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if not self._skipped:
            self._close(tag)
        elif tag == self._skipped:
            self._depth -= 1
            self._skipped = tag if self._depth else ""

    def handle_data(self, data: str) -> None:
        if self._skipped:
            return
        if self._in_title:
            self._title += data
        elif self._verbatim:
            self._pieces.append(data.replace("\0", "").replace("\n", "\n\0"))
        else:
            self._pieces.append(SPACE.sub(" ", data.replace("\0", "")))

    def _open(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag in BLOCKS:
            self._pieces.append("\n\n")
        elif tag in LINES:
            self._pieces.append("\n")
        match tag:
            case "pre":
                self._verbatim += 1
                self._pieces.append("\0")
            case "li":
                self._pieces.append("- ")
            case "td" | "th":
                self._pieces.append(" | ")
            case "a":
                self._links.append(attributes.get("href") or "")
                self._pieces.append("[" if self._links[-1] else "")
            case "img" if attributes.get("alt"):
                self._pieces.append(f"![{attributes['alt']}]")
            case _:
                self._pieces.append(HEADINGS.get(tag, ""))

    def _close(self, tag: str) -> None:
        if tag == "pre":
            self._verbatim = max(0, self._verbatim - 1)
        if tag == "a" and self._links:
            link = self._links.pop()
            self._pieces.append(f"]({link})" if link else "")
        if tag in BLOCKS:
            self._pieces.append("\n\n")
