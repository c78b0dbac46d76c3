"""Failures acted out on request, so that their cards and retries can be tried without waiting for a bad day."""

import re
from typing import get_args

from app.domain.errors import FailureClass, ModelFailure
from app.llm.demo.answer import Answer, Wish
from app.llm.demo.ask import Ask

_ACTED = "(The demo model acted this out because you asked for it.)"

_TEXTS: dict[FailureClass, str] = {
    "rate_limit": "Too many requests in a short time.",
    "quota": "The account has used up its quota.",
    "context_overflow": "The conversation is longer than the model can read.",
    "invalid_key": "The API key was refused.",
    "model_unavailable": "The model is not there or has too much to do.",
    "safety_filter": "The provider's safety filter stopped the answer.",
    "timeout": "The provider said nothing for too long.",
    "network": "The provider cannot be reached.",
    "provider_error": "The provider had an error of its own.",
    "bad_response": "The provider's answer made no sense.",
    "bad_request": "The provider refused the request as wrong.",
    "cancelled": "The call was cancelled.",
    "limit": "A limit was reached.",
    "internal": "Something inside went wrong.",
}
_STATUS: dict[FailureClass, int] = {
    "rate_limit": 429, "quota": 429, "context_overflow": 400, "invalid_key": 401, "model_unavailable": 503,
    "safety_filter": 400, "provider_error": 500, "bad_request": 400,
}  # fmt: skip
_OTHER_WORDS: dict[str, FailureClass] = {
    "rate": "rate_limit", "context": "context_overflow", "key": "invalid_key", "api key": "invalid_key",
    "unavailable": "model_unavailable", "overloaded": "model_unavailable", "safety": "safety_filter",
    "filter": "safety_filter", "time out": "timeout", "connection": "network", "provider": "provider_error",
    "server error": "provider_error", "server": "provider_error", "money": "quota", "credit": "quota",
    "billing": "quota", "too many requests": "rate_limit", "429": "rate_limit", "401": "invalid_key",
    "403": "invalid_key", "unauthorized": "invalid_key", "402": "quota", "404": "model_unavailable",
    "400": "bad_request", "500": "provider_error", "502": "provider_error", "503": "model_unavailable",
    "529": "model_unavailable", "too long": "context_overflow", "overflow": "context_overflow",
    "offline": "network", "no internet": "network", "timed out": "timeout", "refusal": "safety_filter",
    "bad answer": "bad_response", "bug": "internal",
}  # fmt: skip
_WORDS: dict[str, FailureClass] = {
    failure.replace("_", " "): failure for failure in get_args(FailureClass)
} | _OTHER_WORDS
_RETRY_AFTER = 5.0
"""Seconds that an acted-out rate limit asks to wait."""

_FAIL = re.compile(
    r"\b(?:fail|break|crash|simulate|act out|act like|pretend|raise|throw|trigger|cause|give me|show me|run into|hit)\b"
    r"(.*)",
    re.IGNORECASE | re.DOTALL,
)
_ERROR = re.compile(
    r"\b(?:fail\w*|errors?|failure|limit|time\W?out|quota|crash|break|invalid key)\b"
    r"|\b(?:an?|with|simulate|error) (?:HTTP )?[45]\d\d\b|\bis (?:down|offline|overloaded|too long|wrong|gone)\b",
    re.IGNORECASE,
)
_ANY_ERROR = re.compile(r"\W*+(?:an? )?(?:error|failure)?\W*+(?:please|now)?\W*+")
_CUT_OFF = re.compile(
    r"\b(?:get|be|gets|getting)\s+cut\s+off\b|\bbreak off\b|\bcut (?:yourself|the answer) off\b", re.IGNORECASE
)
_IN_CALL = re.compile(r"\b(?:in|during|inside)\b.{0,20}\bcall\b", re.IGNORECASE)
_EMPTY = re.compile(r"\b(?:empty|blank)\s+(?:answer|reply|response|message)\b|\banswer nothing\b", re.IGNORECASE)
_TOO_LONG = re.compile(r"\brun out of (?:tokens|room|space)\b|\bhit the token limit\b", re.IGNORECASE)
_SILENCE = re.compile(r"\b(?:go silent|say nothing|hang|stall)\b", re.IGNORECASE)


def act_out(ask: Ask) -> Answer | None:
    if _CUT_OFF.search(ask.text):
        return _cut_off_in_call() if _IN_CALL.search(ask.text) else _cut_off()
    if _EMPTY.search(ask.text):
        return Answer(failure=ModelFailure("bad_response", f"The demo model sent an empty answer. {_ACTED}"))
    if _TOO_LONG.search(ask.text):
        return Answer(
            text="This is the demo model, and here its answer reaches the token limit in the middle of a",
            finish="length",
        )
    if _SILENCE.search(ask.text):
        return Answer(text="I say this much and then nothing more. ", silence=True)
    failure = failure_in(ask.text)
    return Answer(failure=_failure(failure)) if failure else None


def failure_in(text: str) -> FailureClass | None:
    """The failure that the text asks for; `None` when it asks for none."""
    asked = _FAIL.search(text)
    if asked is None or not _ERROR.search(text):
        return None
    words = re.sub(r"[_\-\s]+", " ", asked.group(1).lower())
    named = (failure for name, failure in sorted(_WORDS.items(), key=lambda item: -len(item[0])) if name in words)
    found = next(named, None)
    return found or ("provider_error" if _ANY_ERROR.fullmatch(words) else None)


def _failure(failure: FailureClass) -> ModelFailure:
    return ModelFailure(
        failure,
        f"{_TEXTS[failure]} {_ACTED}",
        retry_after=_RETRY_AFTER if failure == "rate_limit" else None,
        status=_STATUS.get(failure),
    )


def _cut_off() -> Answer:
    return Answer(
        text="This answer starts well. It has a first sentence, then a second one, and in the middle of the third it",
        failure=_broken_off(),
    )


def _cut_off_in_call() -> Answer:
    """The call is never made: nobody knows whether it was whole."""
    call = Wish("calculator", {"operation": "add", "x": 2, "y": 2})
    return Answer(text="I am about to call a tool. ", wishes=(call,), failure=_broken_off())


def _broken_off() -> ModelFailure:
    return ModelFailure("bad_response", f"The answer broke off before its end. {_ACTED}")
