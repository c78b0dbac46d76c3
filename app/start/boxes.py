"""A text box is given a value in one message, so that what somebody types right after it stays.

NiceGUI says the value twice: with the box as it is now, and in a message of its own, for a page that knows of the same
value already. Whatever was typed between the two was replaced by it, without a word.
"""

from typing import Any

from nicegui import ui

_FILL = "updateValue"


def fill_at_once() -> None:
    """From now on text boxes are filled that way."""
    ui.input._handle_value_change = _changed  # type: ignore[method-assign, assignment]
    ui.input._to_dict = _told  # type: ignore[method-assign, assignment]


def _changed(box: ui.input, value: str | None) -> None:
    super(ui.input, box)._handle_value_change(value)
    if box._send_update_on_value_change:
        box._update_method = _FILL


def _told(box: ui.input) -> dict[str, Any]:
    """What the page is told of the box; that it be filled is said once, and not where it was typed in since."""
    told = super(ui.input, box)._to_dict()
    if "preserved_props" in told:
        told.pop("update_method", None)
    box._update_method = None
    return told
