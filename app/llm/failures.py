"""What went wrong in a model call, as exactly one class of failure and a sentence for a person.

LiteLLM's own classes mislead: a refused connection is its `InternalServerError`, a broken stream its
`ServiceUnavailableError`, a used-up quota its `RateLimitError`. So the whole chain of causes is read, root causes
first. Classes are compared by name, so that nothing heavy is imported to find out.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property

from app.domain.errors import FailureClass, ModelFailure
from app.domain.secrets.shapes import replaced

_BROKEN_STREAM = "litellm.MidStreamFallbackError"
_MADE_UP_STATUS = frozenset({_BROKEN_STREAM, "litellm.APIConnectionError"})
"""Errors to which LiteLLM gives a status that no provider sent."""
_LONGEST_QUOTE = 300


@dataclass(frozen=True)
class Trouble:
    """An error with its causes, as the rules ask about it."""

    errors: tuple[BaseException, ...]

    @cached_property
    def names(self) -> tuple[frozenset[str], ...]:
        """For each error the names of its classes, such as `httpx.ReadError`."""
        return tuple(_class_names(error) for error in self.errors)

    @cached_property
    def text(self) -> str:
        return " ".join(str(error) for error in self.errors[:3]).lower()

    @cached_property
    def status(self) -> int | None:
        """The HTTP status that the provider sent."""
        named = zip(self.errors, self.names, strict=True)
        statuses = (getattr(error, "status_code", None) for error, names in named if not names & _MADE_UP_STATUS)
        return next((status for status in statuses if isinstance(status, int)), None)

    def is_a(self, *classes: str, unless: str = "") -> bool:
        return any(names.intersection(classes) and unless not in names for names in self.names)

    def says(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None


Rule = tuple[FailureClass, Callable[[Trouble], bool]]

# The order matters: a timeout is also a connection error, an exhausted quota also a rate limit. A timeout of ours is
# caused by a cancellation, so only an error that itself is one counts as cancelled.
_RULES: tuple[Rule, ...] = (
    ("cancelled", lambda it: isinstance(it.errors[0], asyncio.CancelledError)),
    (
        "timeout",
        lambda it: it.is_a(
            "litellm.Timeout", "openai.APITimeoutError", "httpx.TimeoutException", "builtins.TimeoutError"
        ),
    ),
    ("network", lambda it: it.is_a("httpx.TransportError", "builtins.ConnectionError", "socket.gaierror")),
    ("network", lambda it: it.is_a("openai.APIConnectionError", unless="litellm.APIConnectionError")),
    (
        "network",
        lambda it: it.is_a(
            *("aiohttp.ClientConnectionError", "aiohttp.ClientPayloadError", "aiohttp.ClientHttpProxyError"),
            *("aiohttp.InvalidURL", "botocore.EndpointConnectionError"),  # the first, of a proxy
        ),
    ),
    (
        "context_overflow",
        lambda it: (
            it.is_a("litellm.ContextWindowExceededError")
            or (
                it.status != 429  # "too many tokens" a minute is a rate limit
                and it.says(
                    r"context (length|window|size)|maximum context|prompt is too long|exceed_context_size"
                    r"|too many tokens|input is too long|input token count|reduce the length of"
                )
            )
        ),
    ),
    (
        "safety_filter",
        lambda it: (
            it.is_a("litellm.ContentPolicyViolationError")
            or it.says(r"content_policy|content filter|safety system|responsible ai")
        ),
    ),
    (
        "invalid_key",
        lambda it: (
            it.is_a("litellm.AuthenticationError", "litellm.PermissionDeniedError")
            or it.is_a("botocore.NoCredentialsError", "botocore.PartialCredentialsError", "botocore.ProfileNotFound")
            or it.status in (401, 403)
            or it.says(
                r"missing (credentials|\w+ api key)|api[_ ]key (not|is missing)|api key not valid"
                r"|unable to locate credentials"
            )
        ),
    ),
    (
        "quota",
        lambda it: (
            it.status == 402
            or it.says(r"insufficient[_ ]quota|exceeded your current quota|insufficient credits|billing|credit balance")
        ),
    ),
    ("rate_limit", lambda it: it.is_a("litellm.RateLimitError") or it.status == 429),
    (
        "model_unavailable",
        lambda it: (
            it.is_a("litellm.NotFoundError")
            or it.status == 404
            or it.says(r"llm provider not provided|model_not_found|model '?\S+'? not found")
        ),
    ),
    (
        "model_unavailable",
        lambda it: (
            it.is_a("litellm.ServiceUnavailableError", unless=_BROKEN_STREAM)
            or it.status in (503, 529)
            or it.says("overloaded")
        ),
    ),
    ("bad_response", lambda it: it.is_a("litellm.JSONSchemaValidationError", "json.JSONDecodeError")),
    ("bad_response", lambda it: it.is_a("builtins.UnicodeDecodeError", "litellm.APIResponseValidationError")),
    ("bad_response", lambda it: it.is_a("aiohttp.ClientResponseError")),  # its status says of what is no HTTP
    ("provider_error", lambda it: it.is_a("litellm.InternalServerError", "litellm.BadGatewayError", _BROKEN_STREAM)),
    ("provider_error", lambda it: (it.status or 0) >= 500 or it.is_a("litellm.APIConnectionError")),
    ("bad_request", lambda it: it.is_a("litellm.BadRequestError") or it.status in (400, 405, 409, 413, 415, 422)),
    ("provider_error", lambda it: it.is_a("litellm.APIError", "openai.OpenAIError")),
)

_SENTENCES: dict[FailureClass, str] = {
    "rate_limit": "{provider} limits how often it may be asked, and it was too often.",
    "quota": "The account with {provider} has used up its quota or its money.",
    "context_overflow": "The conversation is longer than this model can read.",
    "invalid_key": "{provider} refused {key}, or it may not use this model.",
    "model_unavailable": "{provider} cannot offer this model now.",
    "safety_filter": "{provider} stopped the answer for reasons of safety.",
    "timeout": "{provider} said nothing for too long.",
    "network": "{provider} could not be reached, or the connection broke.",
    "provider_error": "{provider} had an error of its own.",
    "bad_response": "{provider} sent something that is no proper answer.",
    "bad_request": "{provider} refused the request as it was sent.",
    "cancelled": "The call was cancelled.",
    "limit": "A limit was reached.",
    "node": "A step of the workflow failed.",
    "internal": "Something went wrong inside the app.",
}
_NO_QUOTE: frozenset[FailureClass] = frozenset({"cancelled", "timeout", "internal"})


def classify(
    error: BaseException, *, provider: str = "The provider", key: str = "", secrets: Collection[str] = ()
) -> ModelFailure:
    """The failure that the error stands for; `internal` when it is none of the known ones, and likely a bug.

    The text quotes what the provider said, without keys: `secrets` are the values that must not turn up in it. `key`
    names the environment variable that the key came from.
    """
    if isinstance(error, ModelFailure):
        return error
    trouble = Trouble(tuple(_chain(error)))
    found: list[FailureClass] = [failure for failure, applies in _RULES if applies(trouble)]
    failure: FailureClass = found[0] if found else "internal"
    sentence = _SENTENCES[failure].format(provider=provider, key=f"the key in {key}" if key else "the key")
    quote = "" if failure in _NO_QUOTE else redacted(_quote(trouble), secrets)
    status = _status(failure, trouble)
    said = "It said" if status else "What happened"
    return ModelFailure(
        failure,
        f"{sentence} {said}: “{quote}”" if quote else sentence,
        retry_after=_retry_after(trouble),
        status=status,
    )


def redacted(text: str, secrets: Collection[str] = ()) -> str:
    """The text with the named secrets, and all that looks like a key, replaced by `[key]`."""
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return replaced(text, lambda _shape, _secret: "[key]")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, also where LiteLLM keeps the cause in an attribute of its own."""
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        original = getattr(current, "original_exception", None)
        implicit = None if current.__suppress_context__ else current.__context__
        current = original if isinstance(original, BaseException) else current.__cause__ or implicit


def _class_names(error: BaseException) -> frozenset[str]:
    classes = (kind for kind in type(error).__mro__ if kind is not object)
    return frozenset(f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in classes)


def _status(failure: FailureClass, trouble: Trouble) -> int | None:
    """The status as it was sent; an overloaded provider whose status LiteLLM lost or changed gets the usual one."""
    if failure == "model_unavailable" and trouble.status not in (503, 529) and trouble.says("overloaded"):
        return 529
    return trouble.status


def _retry_after(trouble: Trouble) -> float | None:
    for error in trouble.errors:
        response = getattr(error, "response", None)
        for headers in (getattr(error, "litellm_response_headers", None), getattr(response, "headers", None)):
            if headers and (seconds := asked_wait(headers.get("retry-after"))) is not None:
                return seconds
    return None


def asked_wait(written: str | None) -> float | None:
    """The seconds that a Retry-After header asks for, by a number or by a moment (RFC 9110, 10.2.3)."""
    if not written:
        return None
    if re.fullmatch(r"\d+(\.\d+)?", written):
        return float(written)
    try:
        moment = parsedate_to_datetime(written)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


# What begins and never ends is passed over once, not looked for again behind each of its beginnings.
_JSON_MESSAGE = re.compile(
    r"\\?[\"'](?:message|error)\\?[\"']\s*:\s*\\?([\"'])(?:(.+?)(?<!\\)\\?\1\s*+[,}]|.*)", re.DOTALL
)
_PREFIX = re.compile(r"^(?:[\w.]*(?:Error|Exception|Timeout)\b\s*[:-]?\s*)+")
_BEHIND = re.compile(
    r"(?:\n|Original exception:|Received Model Group|Available Model Group|LiteLLM Retried|Traceback).*", re.DOTALL
)


def _quote(trouble: Trouble) -> str:
    """What the provider said, without the wrapping that the libraries put around it."""
    said = str(trouble.errors[0])
    message = _JSON_MESSAGE.search(said)
    words = message[2] if message and message[2] else _PREFIX.sub("", said.strip())
    words = " ".join(re.sub(r"<[^<>]*>", " ", _BEHIND.sub("", words)).split()).strip(" '\"{}")
    return words if len(words) <= _LONGEST_QUOTE else f"{words[:_LONGEST_QUOTE]}…"
