"""The table of R2: what a provider does, and the outcome that a run with it must have.

What a person reads of a failure is the card of its class, `app/domain/failure_words.py`. A model's name is the way its
fake acts, see `tests/fakes`.
"""

from dataclasses import dataclass

from app.domain.errors import FailureClass
from app.domain.trace import RunStatus
from app.llm.litellm.accumulator import LONGEST_ANSWER

SILENCE = 1.0
"""Seconds of silence after which an answer counts as stalled."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    status: RunStatus
    failure: FailureClass | None = None
    text: str = ""
    """The last words of the model, whole or cut off; of very long ones the number of characters."""
    ran: tuple[str, ...] = ()
    """The tools that were run, in the order of their calls, with how each ended."""
    attempts: int = 1
    """Requests until one was answered, or none was left."""
    waits: tuple[int, ...] = ()
    """Whole seconds before each retry that was waited for."""


@dataclass(frozen=True)
class Way:
    does: str
    model: str
    outcome: Outcome
    seconds: float = 0.0
    """What the way itself takes, all its silences included."""
    silence: float = SILENCE
    """The idle timeout, in seconds."""
    brief: bool = False
    """Part of the short form."""


def fails(failure: FailureClass, text: str = "", *, attempts: int = 1, waits: tuple[int, ...] = ()) -> Outcome:
    return Outcome("failed", failure, text, attempts=attempts, waits=waits)


def answers(*ran: str, text: str = "Hello world", attempts: int = 1, waits: tuple[int, ...] = ()) -> Outcome:
    return Outcome("completed", None, text, ran, attempts, waits)


def limited(text: str = "") -> Outcome:
    return Outcome("limited", "limit", text)


OVERLOADED = fails("model_unavailable", attempts=3, waits=(1, 2))
TROUBLED = fails("provider_error", attempts=3, waits=(1, 2))
UNREACHED = fails("network", attempts=3, waits=(1, 2))
HELLO = answers()

WAYS: tuple[Way, ...] = (
    Way("answers", "openai/ok", HELLO, brief=True),
    Way("never sends the last line", "openai/no-done", HELLO),
    Way("ends with a reason nobody knows", "openai/odd-finish", answers(text="Hello")),
    Way("does not say what it used", "openai/no-usage", HELLO, brief=True),
    Way("sends one token after the other, slowly", "openai/tick-4-600", answers(text="0 1 2 3 "), seconds=2.4),
    Way("repeats itself 500 times", "openai/repeating", answers(text="1500 characters"), seconds=3),
    Way("resets the connection in mid-answer", "openai/drop", fails("network", "part"), brief=True),
    Way("resets the connection in a line", "openai/drop-in-line", fails("network", "part")),
    Way("resets the connection before the first word", "openai/reset", UNREACHED, brief=True),
    Way("is not there", "llamacpp/gone", UNREACHED),
    Way("sends a line of bad JSON", "openai/bad-json", fails("bad_response", "part"), brief=True),
    Way("sends bad UTF-8", "openai/bad-utf8", fails("bad_response")),
    Way("sends an error inside a 200", "openai/error-in-stream", fails("model_unavailable", "part")),
    Way("sends only an error inside a 200", "openai/error-first", TROUBLED, brief=True),
    Way(
        "says nothing at all",
        "openai/hang",
        fails("timeout", attempts=3, waits=(1, 2)),
        seconds=3 * SILENCE,
    ),
    Way("goes silent in mid-answer", "openai/stall", fails("timeout", "part"), seconds=SILENCE, brief=True),
    Way(
        "sends signs of life only",
        "openai/pings",
        fails("timeout", attempts=3, waits=(1, 2)),
        seconds=3 * SILENCE,
    ),
    Way("ends without a reason", "openai/eof", fails("bad_response", "part"), brief=True),
    Way("ends before the first word", "openai/eof-empty", fails("bad_response"), brief=True),
    Way("sends a page of HTML with a 200", "openai/html-200", fails("bad_response"), brief=True),
    Way("sends an empty answer", "openai/empty", fails("bad_response")),
    Way("sends blanks only", "openai/blank", fails("bad_response")),
    Way("ends in the arguments of a call", "openai/eof-in-call", fails("bad_response"), brief=True),
    Way("ends behind a whole call", "openai/eof-after-call", fails("bad_response"), brief=True),
    Way("reaches the token limit", "openai/length", limited("I was cut")),
    Way("reaches the token limit in a call", "openai/tools-length", limited(), brief=True),
    Way("reaches the token limit while it thinks", "openai/length-thinking", fails("bad_response")),
    Way("calls with invalid JSON", "openai/tools-malformed", answers("f invalid"), brief=True),
    Way("calls with a list for arguments", "openai/tools-no-object", answers("f invalid")),
    Way("calls a tool that is not there", "openai/tools", answers("get_weather unknown", "add unknown")),
    Way("calls under one id twice", "openai/tools-duplicate-ids", answers("f ok", "g ok"), brief=True),
    Way("calls without ids", "openai/tools-empty-ids", answers("f ok", "g ok")),
    Way("makes parallel calls on one index", "openai/tools-same-index", answers("f ok", "g ok"), brief=True),
    Way("makes parallel calls without an index", "openai/tools-no-index", answers("f ok", "g ok")),
    Way("makes parallel calls in turns", "openai/tools-interleaved", answers("f ok", "g ok")),
    Way("sends arguments as an object", "openai/tools-object-arguments", answers("f ok")),
    Way(
        "says 429 and when to come back",
        "openai/e429",
        fails("rate_limit", attempts=4, waits=(2, 2, 2)),
        brief=True,
    ),
    Way("says 429 and no more", "openai/e429-silent", fails("rate_limit", attempts=4, waits=(30, 60, 120))),
    Way("says 429 once", "openai/flaky-1-e429", answers(attempts=2, waits=(2,))),
    Way("says 429 and to come back in two hours", "openai/e429-hours", fails("rate_limit")),
    Way("says 429 for a used-up quota", "openai/e429-quota", fails("quota"), brief=True),
    Way("says 401", "openai/e401", fails("invalid_key"), brief=True),
    Way("says 402", "openai/e402", fails("quota")),
    Way("says 403", "openai/e403", fails("invalid_key")),
    Way("says 404", "openai/e404", fails("model_unavailable")),
    Way("says 400", "openai/e400", fails("bad_request")),
    Way("says 413", "openai/e413", fails("bad_request")),
    Way("says 422", "openai/e422", fails("bad_request")),
    Way("says 500 twice, then answers", "openai/flaky-2-e500", answers(attempts=3, waits=(1, 2)), brief=True),
    Way("says 500 for ever", "openai/e500", TROUBLED),
    Way("says 502 with a page of HTML", "openai/e502-html", TROUBLED),
    Way("says 503", "openai/e503", OVERLOADED),
    Way("says 529", "openai/e529", OVERLOADED),
    Way("finds the prompt too long, as OpenAI says it", "openai/e400-context", fails("context_overflow"), brief=True),
    Way("finds the prompt too long, as llama.cpp says it", "openai/e400-context-llama", fails("context_overflow")),
    Way("finds the prompt too long, in words only", "openai/e400-context-words", fails("context_overflow")),
    Way("refuses for safety", "openai/e400-safety", fails("safety_filter"), brief=True),
    Way("filters the answer in its middle", "openai/filter", fails("safety_filter", "I")),
    Way("filters the whole answer", "openai/filter-empty", fails("safety_filter")),
    Way(
        "sends a line of 20 MB",
        "openai/one-huge-line",
        limited(f"{LONGEST_ANSWER} characters"),
        seconds=10,
        silence=10,
    ),
    Way("ends without a reason, as Anthropic", "anthropic/eof", fails("bad_response", "Hello")),
    Way("breaks down in mid-answer, as Anthropic", "anthropic/overloaded-in-stream", fails("model_unavailable", "Hel")),
    Way("is overloaded, as Anthropic", "anthropic/e529", OVERLOADED),
    Way("wants to be paid, as Anthropic", "anthropic/e400-credit", fails("quota")),
    Way("finds the prompt too long, as Anthropic", "anthropic/e400-context", fails("context_overflow")),
    Way("refuses for safety, as Anthropic", "anthropic/refusal", fails("safety_filter")),
    Way("ends without a reason, as Gemini", "gemini/eof", fails("bad_response", "Hello")),
    Way("refuses the key, as Gemini", "gemini/e400-key", fails("invalid_key")),
    Way("finds the prompt too long, as Gemini", "gemini/e400-context", fails("context_overflow")),
    Way("ends without a reason, as Ollama", "ollama/eof", fails("bad_response", "Hello")),
    Way("has not got the model, as Ollama", "ollama/missing", fails("model_unavailable")),
)
