"""Buttons in the app's few looks."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from nicegui import ui

from app.ui.elements.markup import Html, tag
from app.ui.elements.markup import icon as drawn_icon

Look = Literal["plain", "primary", "quiet", "danger"]
Handler = Callable[[], object] | Callable[[], Awaitable[object]]


def button(
    text: str, on_click: Handler | None = None, *, look: Look = "plain", icon: str | None = None, testid: str = ""
) -> ui.button:
    """A button with words on it."""
    made = ui.button(text, on_click=on_click, icon=icon, color=None).props("flat no-caps").classes(f"btn-{look}")
    return made.props(f'data-testid="{testid}"') if testid else made


def icon_button(
    icon: str, label: str, on_click: Handler | None = None, *, look: Look = "quiet", testid: str = ""
) -> ui.button:
    """A button with an icon only; `label` is its name for screen readers and its tooltip."""
    made = ui.button(on_click=on_click, icon=icon, color=None).props("flat").classes(f"btn-{look} btn-icon")
    made.props["aria-label"] = made.props["title"] = label
    return made.props(f'data-testid="{testid}"') if testid else made


@contextmanager
def loading(pressed: ui.button) -> Iterator[None]:
    """Let the button show that what it began goes on, until that is done."""
    pressed.props("loading")
    try:
        yield
    finally:
        if not pressed.is_deleted:
            pressed.props(remove="loading")


def icon_action(
    action: str,
    symbol: str,
    label: str,
    *,
    title: str = "",
    testid: str | None = None,
    on: bool = False,
    of: str = "",
    once: bool = False,
) -> Html:
    """A small button in a row that is drawn as HTML; the listener of the list hears its `data-action`.

    `label` is its name for screen readers, and its tooltip where `title` is none; `on` shows it as switched on; `of` is
    the id of what the row shows, by which the button of a list that is drawn anew keeps the focus; `once`: a double
    click is one click.
    """
    return tag(
        "button",
        drawn_icon(symbol),
        cls="icon-action is-on" if on else "icon-action",
        data_action=action,
        data_key=f"{action} {of}" if of else None,
        data_once=once,
        data_testid=testid,
        aria_label=label,
        title=title or label,
    )
