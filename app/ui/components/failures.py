"""What went wrong, in plain words: a title, what happened, what to do about it."""

from dataclasses import dataclass

from app.domain.errors import ErrorInfo, FailureClass
from app.ui.markup import Html, icon, joined, tag


@dataclass(frozen=True, slots=True)
class FailureWords:
    title: str
    what_to_do: str


WORDS: dict[FailureClass, FailureWords] = {
    "rate_limit": FailureWords("Too many requests", "The provider asks for a break. Wait a minute, then retry."),
    "quota": FailureWords("No credit left", "Add credit at the provider or raise its spending limit, then retry."),
    "context_overflow": FailureWords(
        "The conversation is too long", "Start a new session, or use a model that reads more text at once."
    ),
    "invalid_key": FailureWords(
        "The key was not accepted", "Check the API key in the provider's environment variable, then restart the app."
    ),
    "model_unavailable": FailureWords(
        "The model is not available", "Check the model's name, and that its server is running, then retry."
    ),
    "safety_filter": FailureWords("Held back by a safety filter", "Say it in other words, then send it again."),
    "timeout": FailureWords("No answer in time", "The provider took too long. Retry, or choose a faster model."),
    "network": FailureWords("The provider could not be reached", "Check the network connection, then retry."),
    "provider_error": FailureWords("The provider had a problem", "This usually passes. Wait a moment, then retry."),
    "bad_response": FailureWords("The answer broke off", "The provider sent something incomplete. Retry."),
    "bad_request": FailureWords(
        "The provider refused the request", "Check the agent's settings: the model may not know one of them."
    ),
    "cancelled": FailureWords("Stopped", "Retry when you want the answer after all."),
    "limit": FailureWords("A limit was reached", "Raise the limit in the agent's settings, or ask for less at once."),
    "internal": FailureWords("Something went wrong inside the app", "Retry. If it happens again, report the details."),
}


def error_card(error: ErrorInfo, *, can_retry: bool = True) -> Html:
    """The card of a run that did not come to its end."""
    words = WORDS[error.failure]
    tone, symbol = ("warn", "speed") if error.failure == "limit" else ("bad", "error_outline")
    return tag(
        "div",
        tag("strong", icon(symbol), words.title),
        tag("div", error.text),
        tag("div", words.what_to_do, cls="what-to-do"),
        _details(error.traceback),
        action_button("retry", "Retry", testid="retry-button") if can_retry else "",
        cls=f"notice notice-{tone}",
        role="alert",
        data_testid="message-error",
        data_failure=error.failure,
    )


def interrupted_card(*, paused: bool) -> Html:
    """For a run whose process ended under it."""
    words = (
        "The app was closed while this waited for your decision."
        if paused
        else "The app was closed while this was being answered. What was written until then is kept."
    )
    return tag(
        "div",
        tag("strong", icon("power_settings_new"), "Interrupted"),
        tag("div", words),
        action_button("retry", "Answer again", testid="retry-button"),
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
