import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from app.domain.errors import FailureClass, ModelFailure
from app.llm.failures import classify, redacted


class ProviderError(Exception):
    """An error with a status, as HTTP clients raise them."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status_code = status


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (asyncio.CancelledError(), "cancelled"),
        (TimeoutError(), "timeout"),
        (caused(TimeoutError(), asyncio.CancelledError()), "timeout"),
        (ConnectionResetError("reset"), "network"),
        (caused(ProviderError("InternalServerError", 500), ConnectionRefusedError("refused")), "network"),
        (caused(ProviderError("wrapped", 500), TimeoutError()), "timeout"),
        (ProviderError("This model's maximum context length is 10", 400), "context_overflow"),
        (ProviderError("prompt is too long: 210000 tokens", 400), "context_overflow"),
        (ProviderError("Input is too long for requested model.", 400), "context_overflow"),
        (ProviderError("Too many tokens, please wait before trying again.", 429), "rate_limit"),
        (ProviderError("insufficient_quota", 429), "quota"),
        (ProviderError("Too many requests", 429), "rate_limit"),
        (ProviderError("Payment required", 402), "quota"),
        (ProviderError("no", 401), "invalid_key"),
        (ProviderError("no", 403), "invalid_key"),
        (ProviderError("no", 404), "model_unavailable"),
        (ProviderError("busy", 503), "model_unavailable"),
        (ProviderError("busy", 529), "model_unavailable"),
        (ProviderError("oops", 500), "provider_error"),
        (ProviderError("oops", 400), "bad_request"),
        (KeyError("a bug"), "internal"),
    ],
)
def test_an_error_is_in_one_class(error: BaseException, failure: FailureClass):
    assert classify(error).failure == failure


def test_a_failure_stays_what_it_is():
    failure = ModelFailure("quota", "No money.")

    assert classify(failure) is failure


def test_the_text_names_the_provider_and_quotes_it_without_wrapping():
    error = ProviderError(
        'litellm.BadRequestError: OpenAIException - {"error": {"message": "No such field: foo"}}', 400
    )

    text = classify(error, provider="OpenAI").text

    assert text.startswith("OpenAI refused the request")
    assert text.endswith("It said: “No such field: foo”")


def test_a_refused_key_is_named_by_its_variable():
    text = classify(ProviderError("no", 401), provider="OpenAI", key="OPENAI_API_KEY").text

    assert text.startswith("OpenAI refused the key in OPENAI_API_KEY")


class RateLimited(ProviderError):
    def __init__(self, retry_after: str) -> None:
        super().__init__("Too many requests", 429)
        self.litellm_response_headers = {"retry-after": retry_after}


@pytest.mark.parametrize(("asked", "seconds"), [("7", 7.0), ("0.5", 0.5), ("soon", None), ("", None)])
def test_how_long_to_wait_is_read_from_the_header(asked: str, seconds: float | None):
    assert classify(RateLimited(asked)).retry_after == seconds


def test_a_moment_to_come_back_is_seconds_from_now():
    asked = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    seconds = classify(RateLimited(asked)).retry_after
    assert seconds is not None
    assert 35 < seconds <= 40

    past = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
    assert classify(RateLimited(past)).retry_after == 0


def test_a_long_quote_is_cut():
    assert len(classify(ProviderError("x" * 100_000, 400)).text) < 500


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcDEF123456.",
        "Incorrect API key provided: sk-abcd****************wxyz.",
        "https://host/v1/models/x:generate?key=AIzaSyA0123456789abcdefghij&alt=sse",
        "AIzaSyA0123456789abcdefghij",
        "header Authorization: Bearer abcdef0123456789",
        "AKIAIOSFODNN7EXAMPLE",
        "the value hush-hush",
    ],
)
def test_keys_are_taken_out_of_texts(text: str):
    safe = redacted(text, secrets=("hush-hush",))

    assert "[key]" in safe
    for secret in ("abcDEF", "wxyz", "SyA0123", "abcdef0123", "IOSFODNN7", "hush-hush"):
        assert secret not in safe


@pytest.mark.parametrize("text", ["a risk-free task-force", "keyboard", "Use the key-value store", "org-wide"])
def test_plain_words_are_no_keys(text: str):
    assert redacted(text) == text
