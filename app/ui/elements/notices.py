"""Words in place of what is not there, or went wrong."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from nicegui import ui

from app.domain.errors import WorkbenchError
from app.ui.elements.addresses import OVERVIEW
from app.ui.elements.markup import Html, icon, joined, tag

_COPY = """async (text, done) => {
  try {
    await navigator.clipboard.writeText(text);
    Quasar.Notify.create(done);
  } catch {
    Quasar.Notify.create({ message: %s, type: "negative", icon: "error", timeout: 6000, multiLine: true });
  }
}"""
NOTHING_COPIED = "Nothing was copied: the browser does not let this page. Allow it the clipboard, and try again."


def empty_state(symbol: str, title: str, words: str, *extra: Html, heading: str = "strong") -> ui.html:
    """A box that says why there is nothing, and what to do; `heading`: the element of its title."""
    content = joined(icon(symbol), tag(heading, title), tag("span", words), *extra)
    return ui.html(content, sanitize=False).classes("empty")


def trouble_page(title: str, words: str) -> None:
    """A whole page that says what is wrong, with a way back."""
    back = tag("a", "Go to the Overview", href=OVERVIEW)
    with ui.column().classes("page"):
        empty_state("explore_off", title, words, back, heading="h1").props("data-testid=trouble role=alert")


def notify(words: str) -> None:
    """A short message at the bottom of the page about what could not be done."""
    ui.notify(words, type="negative", icon="error", timeout=6000, multi_line=True, group=False)


def copy_text(text: str, said: str = "Copied", *, seconds: float = 1.5) -> None:
    """Put the text on the clipboard, and say so once it is there; or that the browser does not let it."""
    done = {"message": said, "timeout": seconds * 1000, "position": "bottom"}
    ui.run_javascript(f"({_COPY % json.dumps(NOTHING_COPIED)})({json.dumps(text)}, {json.dumps(done)})")


@contextmanager
def problems_shown() -> Iterator[None]:
    """Say a `WorkbenchError` of what is done within as a short message; it ends there, and so does what is done."""
    try:
        yield
    except WorkbenchError as problem:
        notify(str(problem))


def notify_with_link(words: str, link: str, address: str, *, testid: str, symbol: str, bad: bool = False) -> None:
    """A short message about what happened elsewhere, with a link there."""
    ui.notify(
        tag("span", words, " ", tag("a", link, href=address, cls="notice-link")),
        html=True,  # it is made by `tag`, which lets no text become markup
        position="top-right",
        type="negative" if bad else None,
        icon=symbol,
        timeout=8000 if bad else 6000,
        attrs={"data-testid": testid},
    )
