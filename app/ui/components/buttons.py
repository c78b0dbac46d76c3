"""Buttons in the app's few looks."""

from collections.abc import Awaitable, Callable
from typing import Literal

from nicegui import ui

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
