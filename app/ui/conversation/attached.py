"""What was sent along with a message: pictures in small, files by name, in the order they were sent."""

from collections.abc import Iterable, Sequence

from nicegui import ui

from app.domain.media_types import SHOWN_IMAGES
from app.domain.messages import Attachment, FilePart, ImagePart, SentAttachment, sent_key, sent_words
from app.domain.values import size
from app.store.contents.contents import Contents
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.questions import named_dialog


def attached(
    parts: Sequence[Attachment], contents: Contents, sent: Iterable[SentAttachment] = (), *, in_full: bool = False
) -> Html:
    """The attachments as a list, each with how it went along, where that is known.

    That it went as a file of the session, which it is anyhow, is said only `in_full`. Whatever they stand in hears its
    pictures by `hear_attached`.
    """
    if not parts:
        return Html("")
    known = {sent_key(fact): fact for fact in sent}
    items = (
        tag(
            "li",
            (_picture if _is_shown(part) else _file)(part, contents),
            _sent(known.get(sent_key(part)), in_full=in_full),
        )
        for part in parts
    )
    return tag("ul", *items, cls="message-files", aria_label="Attachments", data_testid="message-files")


def _sent(fact: SentAttachment | None, *, in_full: bool) -> Html:
    if fact is None or (fact.how == "reference" and not fact.why and not in_full):
        return Html("")
    look = "attached-warning" if fact.why else "faint"
    return tag("span", sent_words(fact), cls=f"message-file-sent {look}", data_testid="attachment-sent")


def hear_attached(element: ui.element, contents: Contents) -> None:
    """Show a picture within the element in large when it is clicked."""

    def show(digest: str, name: str) -> None:
        with element:
            _show(digest, name, contents)

    on_click_of(element, "picture", show, along=("name",))


def _show(digest: str, name: str, contents: Contents) -> None:
    with named_dialog(name) as dialog, ui.card().classes("dialog-card picture-card").props("data-testid=picture-view"):
        ui.html(tag("h2", name, cls="section-title"), sanitize=False)
        ui.html(tag("img", src=contents.picture(digest), alt=name), sanitize=False).classes("picture")
        with ui.element("div").classes("row-line dialog-buttons"):
            ui.html(tag("a", "Download", href=contents.download(digest, name)), sanitize=False)
            button("Close", dialog.close, look="quiet")
    dialog.on("hide", dialog.delete)
    dialog.open()


def _is_shown(part: Attachment) -> bool:
    return isinstance(part, ImagePart) and part.media_type in SHOWN_IMAGES


def _picture(part: Attachment, contents: Contents) -> Html:
    return tag(
        "button",
        tag("img", src=contents.picture(part.artifact), alt=part.name, loading="lazy"),
        type="button",
        cls="thumbnail",
        title=part.name,
        aria_label=f"Show {part.name} larger",
        data_picture=part.artifact,
        data_name=part.name,
        data_testid="thumbnail",
    )


def _file(part: Attachment, contents: Contents) -> Html:
    octets = tag("span", size(part.size), cls="faint") if isinstance(part, FilePart) else ""
    return tag(
        "a",
        joined(icon("description"), tag("span", part.name, cls="truncate"), octets),
        href=contents.download(part.artifact, part.name),
        cls="message-file",
        title=f"Download {part.name}",
        data_testid="message-file",
    )
