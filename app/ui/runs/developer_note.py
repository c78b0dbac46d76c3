"""What is said in User mode on a page that belongs to Developer mode and was opened by its address."""

from nicegui import ui

from app.ui.elements.addresses import SETTINGS
from app.ui.elements.markup import icon, tag

APPEARANCE = f"{SETTINGS}?section=appearance"


def developer_note() -> None:
    """A line that only User mode shows; what it stands above is shown all the same."""
    change = tag("a", "Change the mode in Settings", href=APPEARANCE)
    words = tag("span", "This is for developers, and User mode leaves it out of the navigation. ", change)
    ui.html(tag("p", icon("visibility_off"), words, cls="set-said"), sanitize=False).classes("user-only").props(
        "data-testid=developer-note"
    )
