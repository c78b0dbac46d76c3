"""What went wrong, in plain words: a title, what happened, what to do about it, and buttons to do it.

Calls of a model that failed and are made again: a card while one waits, a line of each afterwards.
"""

from collections.abc import Sequence
from datetime import datetime

from nicegui import ui

from app.domain.errors import ErrorInfo, FailureClass
from app.domain.events import Entry, ModelFailed
from app.domain.failure_words import FailureAction, failure_words
from app.domain.trace.attempts import FailedAttempt, follow_attempt
from app.domain.values import now
from app.ui.elements.addresses import SETTINGS, agent_address
from app.ui.elements.format import duration, plural
from app.ui.elements.markup import Html, icon, joined, tag

_KEY_LINK = tag("a", "Open Settings", href=SETTINGS, cls="text-button", data_testid="open-settings-link")
_REPORT_LINK = tag("a", "Report a problem", href=f"{SETTINGS}?section=data", cls="text-button")
_LINKS: dict[FailureClass, Html] = {"invalid_key": _KEY_LINK, "internal": _REPORT_LINK}


def error_card(error: ErrorInfo, *, agent_slug: str = "", elsewhere: Html | None = None) -> Html:
    """The card of a run that did not come to its end.

    `agent_slug` is the agent to edit where that helps; on a page that is not the session's, `elsewhere` leads there.
    """
    in_session = elsewhere is None
    words = failure_words(error.failure, error.text)
    tone, symbol = ("warn", "speed") if error.failure == "limit" else ("bad", "error_outline")
    return tag(
        "div",
        tag("strong", icon(symbol), words.title),
        tag("div", error.text),
        tag("div", words.next_step, cls="what-to-do"),
        _details(error.traceback),
        tag(
            "div",
            _buttons(words.action, agent_slug, in_session=in_session),
            _LINKS.get(error.failure, ""),
            elsewhere or "",
            cls="notice-buttons",
        ),
        cls=f"notice notice-{tone}",
        role="alert",
        data_testid="message-error",
        data_failure=error.failure,
    )


def _buttons(action: FailureAction, agent_slug: str, *, in_session: bool) -> Html:
    edit = tag("a", "Edit the agent", href=agent_address(agent_slug), cls="text-button", data_testid="edit-agent-link")
    return joined(
        action_button("retry", "Retry", testid="retry-button") if in_session else "",
        action_button("pick-model", "Pick another model", testid="pick-model-button")
        if in_session and action == "model"
        else "",
        action_button("edit", "Change the message", testid="shorten-button")
        if in_session and action == "shorten"
        else "",
        edit if action == "agent" and agent_slug else "",
    )


def attempts_list(attempts: Sequence[FailedAttempt]) -> Html:
    """The model calls of a run that failed and were to be tried again, behind one line; nothing where none was."""
    if all(attempt.retry_at is None for attempt in attempts):
        return Html("")
    lines = (tag("li", attempt_line(attempt), title=attempt.text, data_testid="failed-attempt") for attempt in attempts)
    return tag(
        "details",
        tag("summary", icon("refresh"), f"{plural(len(attempts), 'model call')} failed"),
        tag("ol", *lines),
        cls="notice notice-plain attempts",
        data_testid="failed-attempts",
    )


def attempt_line(attempt: FailedAttempt) -> str:
    """`Attempt 1 at 12:01:10: Too many requests. Tried again after 30 s.`"""
    title = failure_words(attempt.failure).title
    return f"Attempt {attempt.attempt} at {attempt.at.astimezone():%H:%M:%S}: {title}. {_then(attempt)}"


def _then(attempt: FailedAttempt) -> str:
    waited = duration((attempt.waited or 0.0) * 1000)
    match attempt.outcome:
        case "waits":
            return f"To be tried again at {attempt.retry_at.astimezone():%H:%M:%S}." if attempt.retry_at else ""
        case "tried again":
            return f"Tried again after {waited}."
        case "given up":
            return f"Given up after {waited}."
        case "last":
            return "Not tried again."


def interrupted_card() -> Html:
    """For a run whose process ended under it."""
    words = (
        "The app was closed while this was being answered. What was done until then is kept: resume it to go on from "
        "there, or have it answered again from the beginning."
    )
    return tag(
        "div",
        tag("strong", icon("power_settings_new"), "Interrupted"),
        tag("div", words),
        tag(
            "div",
            action_button("resume", "Resume", testid="resume-button"),
            action_button("retry", "Answer again", testid="retry-button"),
            cls="notice-buttons",
        ),
        cls="notice notice-warn",
        data_testid="message-interrupted",
    )


def action_button(action: str, words: str, *, testid: str, value: str = "", look: str = "plain") -> Html:
    """A button whose click the message's own listener hears."""
    return tag(
        "button",
        words,
        type="button",
        cls=f"text-button text-button-{look}",
        data_action=action,
        data_value=value,
        data_testid=testid,
    )


def _details(traceback: str) -> Html:
    if not traceback:
        return Html("")
    return tag("details", tag("summary", "Details"), tag("pre", traceback, cls="code-box"), cls="traceback")


def mark(symbol: str, words: str, *, warn: bool = False) -> Html:
    """A small line between messages about what happened there."""
    return joined(tag("div", icon(symbol), words, cls="mark mark-warn" if warn else "mark"))


class FailedAttempts:
    """`take` the entries of a run in order; what is shown goes into `place`."""

    def __init__(self, place: ui.element) -> None:
        self._place = place
        self._attempts: list[FailedAttempt] = []
        self._waiting: tuple[RetryCard, ui.html] | None = None
        """The card of a call that waits to be made again, and the line that stays of it."""

    def take(self, entry: Entry, *, alive: bool) -> None:
        """Follow one more entry: what waited is a line once anything else happens."""
        follow_attempt(self._attempts, entry)
        self._end_waiting()
        if isinstance(entry.event, ModelFailed) and self._attempts[-1].retry_at is not None:
            self._show(self._attempts[-1], alive=alive)

    def _show(self, attempt: FailedAttempt, *, alive: bool) -> None:
        with self._place:
            line = ui.html("" if alive else _line(attempt), sanitize=False)
            if alive and attempt.retry_at is not None:
                card = RetryCard(attempt.failure, attempt.text, attempt=attempt.attempt, retry_at=attempt.retry_at)
                self._waiting = card, line

    def _end_waiting(self) -> None:
        if self._waiting is None:
            return
        card, line = self._waiting
        self._waiting = None
        card.delete()
        line.set_content(_line(self._attempts[-1]))


class RetryCard(ui.element, component="retry_card.js"):
    """Its buttons do `retry-now` and `give-up`; the seconds that are left are counted down in the browser."""

    def __init__(self, failure: FailureClass, text: str, *, attempt: int, retry_at: datetime) -> None:
        super().__init__()
        self._props["title"] = failure_words(failure).title
        self._props["text"] = text
        self._props["attempt"] = attempt
        self._props["ms"] = max(0.0, (retry_at - now()).total_seconds() * 1000)


def _line(attempt: FailedAttempt) -> Html:
    return tag("div", mark("refresh", attempt_line(attempt), warn=True), data_testid="failed-attempt")
