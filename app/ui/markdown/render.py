"""Markdown of models and tools as HTML that can do no harm.

Raw HTML in the text is shown as text, not read. What markdown-it writes is cleaned once more by nh3, with an
allow-list: links lead to http, https and mailto only, images are shown only when they are in the text itself (`data:`),
an image from elsewhere becomes a visible link, and no class can imitate the app's own elements.
"""

import re
from collections.abc import Sequence
from functools import cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from app.domain.markdown_blocks import pieces
from app.ui.elements.markup import Html, joined, tag

_TAGS = "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr img li ol p pre s span strong table tbody td th thead tr ul"
_ATTRIBUTES = {
    "a": {"href", "title", "class"},
    "img": {"src", "alt", "title"},
    "code": {"class"},
    "td": {"style"},
    "th": {"style"},
    "ol": {"start"},
}
_LINK = re.compile(r"^(https?://|mailto:)", re.IGNORECASE)
_IMAGE = re.compile(r"^data:image/(png|jpeg|gif|webp);base64,", re.IGNORECASE)
_CLASSES = {
    "a": re.compile(r"^remote-image$"),
    "code": re.compile(r"^language-[\w+#.-]{1,30}$"),
}
_NOTHING = re.compile(r"(?!)")


def rendered(text: str) -> Html:
    """The Markdown text as safe HTML; a block of more than 20,000 characters as it is."""
    parser = _markdown()
    return joined(*(clean(parser.render(piece)) if readable else plain(piece) for piece, readable in pieces(text)))


def plain(text: str) -> Html:
    """The text as it is."""
    return tag("pre", text, cls="plain-text")


def code_block(text: str, language: str) -> Html:
    """A code block, which gets its colours once a page shows it."""
    return clean(tag("pre", tag("code", text, cls=f"language-{language}")))


def clean(html: str) -> Html:
    """The HTML without anything that is not on the allow-list."""
    return Html(
        nh3.clean(
            html,
            tags=set(_TAGS.split()),
            clean_content_tags={"script", "style"},
            attributes=_ATTRIBUTES,
            attribute_filter=_kept_attribute,
            filter_style_properties={"text-align"},
            url_schemes={"http", "https", "mailto", "data"},
            url_relative="deny",
            link_rel="noopener noreferrer nofollow",
            set_tag_attribute_values={"a": {"target": "_blank"}},
        )
    )


def _kept_attribute(tag_name: str, name: str, value: str) -> str | None:
    match name:
        case "class":
            allowed = _CLASSES.get(tag_name, _NOTHING)
            return " ".join(word for word in value.split() if allowed.match(word)) or None
        case "src":
            return value if _IMAGE.match(value) else None
        case "href":
            return value if _LINK.match(value) else None
        case _:
            return value


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    return parser


def _image(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    source = str(token.attrGet("src") or "")
    alt = renderer.renderInlineAsText(token.children or [], options, env)
    if _IMAGE.match(source):
        return tag("img", src=source, alt=alt or "Image").removesuffix("</img>")
    if _LINK.match(source):
        return tag("a", f"{alt or 'Image'} ({source})", href=source, cls="remote-image")
    return tag("span", alt or "Image")
