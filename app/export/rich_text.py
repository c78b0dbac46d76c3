"""Markup for files that leave the app: everything is escaped, and Markdown is cleaned by an allow-list."""

from functools import cache
from html import escape

import nh3
from markdown_it import MarkdownIt

from app.domain.markdown_blocks import pieces

_TAG_NAMES = "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul"


class Markup(str):
    """HTML that is safe to put into a file."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str | None) -> Markup:
    """An element; children that are no `Markup` are escaped, and so are values. `cls` is the class, `_` is `-`."""
    written = "".join(
        f' {"class" if key == "cls" else key.replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    return Markup("".join(child if isinstance(child, Markup) else escaped(child) for child in children))


def escaped(text: str) -> Markup:
    """The text as text; signs that no page may hold are shown as `�`."""
    return Markup(escape(text.translate(_CONTROLS)))


def prose(text: str) -> Markup:
    """Markdown as HTML: pictures from elsewhere become words, links lead to http, https and mailto only."""
    return joined(*(_clean(piece) if readable else element("pre", escaped(piece)) for piece, readable in pieces(text)))


def _clean(text: str) -> Markup:
    return Markup(
        nh3.clean(
            _markdown().render(text.translate(_CONTROLS)),
            tags=set(_TAG_NAMES.split()),
            clean_content_tags={"script", "style"},
            attributes={"a": {"href", "title"}, "ol": {"start"}},
            url_schemes={"http", "https", "mailto"},
            url_relative="deny",
            link_rel="noopener noreferrer nofollow",
        )
    )


_CONTROLS = {code: "\ufffd" for code in range(32) if chr(code) not in "\t\n\r"}


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    return parser.enable(["table", "strikethrough"])
