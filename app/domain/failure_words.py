"""Each class of failure in a person's words: its title, and what to do next.

What happened in the one case stands in the failure's own text; these words are the same for all cases of a class.
"""

from dataclasses import dataclass
from typing import Literal

from app.domain.errors import FailureClass

FailureAction = Literal["agent", "model", "shorten", "retry", ""]
"""The button beside Retry: edit the agent, pick another model, shorten the message; `retry` and none need no other."""


@dataclass(frozen=True, slots=True)
class FailureWords:
    title: str
    next_step: str
    action: FailureAction


WORDS: dict[FailureClass, FailureWords] = {
    "rate_limit": FailureWords(
        "Too many requests", "Wait a minute, then retry. Another model has limits of its own.", "model"
    ),
    "quota": FailureWords(
        "No credit left", "Add credit or raise the spending limit at the provider, or pick another model.", "model"
    ),
    "context_overflow": FailureWords(
        "The conversation is too long",
        "Shorten the message, start a new session, or pick a model that reads more at once.",
        "shorten",
    ),
    "invalid_key": FailureWords(
        "The key was not accepted",
        "Check the key in Settings, or in the provider's environment variable, or pick another model.",
        "model",
    ),
    "model_unavailable": FailureWords(
        "The model is not available",
        "Check its name, and that its server is running, then retry; or pick another model.",
        "model",
    ),
    "safety_filter": FailureWords("Held back by a safety filter", "Say it in other words.", "shorten"),
    "timeout": FailureWords(
        "No answer in time", "Retry, pick a faster model, or allow a longer silence in the agent's limits.", "model"
    ),
    "network": FailureWords(
        "The provider could not be reached", "Check the network and the provider's address, then retry.", "retry"
    ),
    "provider_error": FailureWords(
        "The provider had a problem", "This usually passes: wait a moment, then retry.", "retry"
    ),
    "bad_response": FailureWords(
        "The answer broke off", "Nothing of it was acted on, what arrived is kept. Retry to have it whole.", "retry"
    ),
    "bad_request": FailureWords(
        "The provider refused the request",
        "Check the agent's settings and tools: this model may not know one of them.",
        "agent",
    ),
    "cancelled": FailureWords("Stopped", "Retry when you want the answer after all.", "retry"),
    "limit": FailureWords("A limit was reached", "What was done until then is kept.", "agent"),
    "node": FailureWords(
        "A step of the workflow failed",
        "Look at what the step was given. Change it in Build, or let its failure lead on, then run it again.",
        "retry",
    ),
    "internal": FailureWords(
        "Something went wrong inside the app", "Retry. If it happens again, report the details.", "retry"
    ),
}


NO_KEY = "needs a key, and none is set."
"""What says so in the text of a failure that is an `invalid_key` for want of any."""
_WITHOUT_KEY = FailureWords("This model needs a key", "Add the key in Settings, or pick another model.", "model")


def failure_words(failure: FailureClass, text: str = "") -> FailureWords:
    """The words for a failure of that class; `text` is its own."""
    return _WITHOUT_KEY if failure == "invalid_key" and NO_KEY in text else WORDS[failure]
