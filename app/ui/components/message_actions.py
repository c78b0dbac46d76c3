"""The small buttons under a message; the turn's own listener hears them."""

from app.ui.addresses import run_address
from app.ui.markup import Html, icon, joined, tag


def message_action(action: str, symbol: str, label: str, testid: str) -> Html:
    return tag(
        "button",
        icon(symbol),
        type="button",
        cls="icon-action",
        data_action=action,
        data_testid=testid,
        aria_label=label,
        title=label,
    )


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
    copy = message_action("copy-answer", "content_copy", "Copy answer", "copy-button") if has_text else ""
    return joined(copy, message_action("regenerate", "refresh", "Answer again", "regenerate-button"), run)
