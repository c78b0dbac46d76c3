"""The small buttons under a message; the turn's own listener hears them."""

from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import icon_action
from app.ui.elements.markup import Html, icon, joined, tag


def answer_actions(run_id: str, *, has_text: bool) -> Html:
    """Copy, answer again, and the way to the run's own page."""
    label = "See this run step by step"
    run = tag(
        "a",
        icon("receipt_long"),
        href=run_address(run_id),
        cls="icon-action",
        title=label,
        aria_label=label,
        data_testid="open-run",
    )
    copy = icon_action("copy-answer", "content_copy", "Copy answer", testid="copy-button") if has_text else ""
    return joined(copy, icon_action("regenerate", "refresh", "Answer again", testid="regenerate-button"), run)
