"""What is to be known of a run before one reads it: that it failed, waits, was cut off, or cannot be read in full."""

from collections.abc import Sequence

from app.domain.events import Entry
from app.domain.streaming import Draft
from app.domain.trace import RunStatus, error_of
from app.domain.trace.attempts import FailedAttempt
from app.ui.conversation.failures import attempts_list, error_card
from app.ui.elements.addresses import session_address
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, icon, joined, tag

DAMAGED = 5
"""Sentences about damaged records that are shown; more are counted."""
TAIL = 4000
"""Characters of the live text that are shown while it is written."""


def run_notices(
    entries: Sequence[Entry],
    status: RunStatus,
    *,
    attempts: Sequence[FailedAttempt],
    session_id: str,
    agent_slug: str,
    damaged: Sequence[str],
    unsaved: str | None,
) -> Html:
    """The cards above a run; `unsaved`: why its newest part is not on disk yet."""
    return joined(
        _damaged(damaged),
        _notice("warn", "warning", "Not saved yet", unsaved, "It is tried again until it works.") if unsaved else "",
        _outcome(entries, status, session_id, agent_slug),
        attempts_list(attempts),
    )


def live_text(draft: Draft) -> Html:
    """The message that is being written; of a long one the end."""
    calls = [f"Writing a call of {call.name}: {call.arguments[-TAIL:]}" for call in draft.calls.values()]
    texts = [draft.reasoning[-TAIL:], draft.text[-TAIL:], *calls]
    hidden = max(0, len(draft.reasoning) - TAIL) + max(0, len(draft.text) - TAIL)
    return joined(
        tag("strong", tag("span", cls="spinner", aria_hidden="true"), "Being written", cls="live-head"),
        tag("p", f"The first {hidden:,} characters are not shown until it is finished.", cls="faint") if hidden else "",
        *(tag("pre", text, cls="live-text") for text in texts if text),
    )


def cut_off_head(draft: Draft) -> Html:
    """Above the text that an interrupted run had written."""
    calls = ", ".join(call.name for call in draft.calls.values())
    return joined(
        tag("strong", icon("power_settings_new"), "What it was writing when it was cut off"),
        tag("p", f"It was about to call {calls}.", cls="muted") if calls else "",
    )


def _outcome(entries: Sequence[Entry], status: RunStatus, session_id: str, agent_slug: str) -> Html:
    session = tag("a", "Open its session", href=session_address(session_id)) if session_id else Html("")
    match status:
        case "failed" | "limited":
            error = error_of(entries)
            return error_card(error, agent_slug=agent_slug, elsewhere=Html(session)) if error else Html("")
        case "interrupted":
            what = "The app ended while this run went on. What it had done and written until then is kept here."
            return _notice("warn", "power_settings_new", "Interrupted", what, session)
        case "paused":
            what = "This run waits for a decision of yours."
            return _notice("warn", "pause_circle", "Paused", what, session)
        case "cancelled":
            return _notice("plain", "stop_circle", "Stopped", "Somebody stopped this run before its end.", session)
        case "running" | "completed":
            return Html("")


def _damaged(damaged: Sequence[str]) -> Html:
    if not damaged:
        return Html("")
    sentences = [tag("li", sentence) for sentence in damaged[:DAMAGED]]
    if len(damaged) > DAMAGED:
        sentences.append(tag("li", f"And {len(damaged) - DAMAGED:,} more."))
    title = f"{plural(len(damaged), 'record')} of this run cannot be read"
    return _notice("warn", "healing", title, tag("ul", *sentences), "Everything else of the run is shown below.")


def _notice(tone: str, symbol: str, title: str, words: str, what_to_do: str) -> Html:
    return tag(
        "div",
        tag("strong", icon(symbol), title),
        tag("div", words),
        tag("div", what_to_do, cls="what-to-do") if what_to_do else "",
        cls=f"notice notice-{tone}",
        data_testid="run-notice",
    )
