"""Which models a provider offers, asked at its own endpoint; nobody is asked unless a person wants to know."""

import asyncio
import importlib
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from app.domain.errors import FailureClass, ModelFailure
from app.llm.failures import classify, redacted
from app.llm.providers.certificates import trusted
from app.llm.providers.providers import Keys, Provider, base_of, key_of, missing_key, provider_named

SECONDS = 15.0
_LARGEST_LIST = 8_000_000
"""Bytes; OpenRouter's has a third of one million."""
_NO_CHAT = re.compile(
    r"embed|whisper|\btts\b|dall-e|moderation|-image\b|imagen|\bveo\b|\bsora\b|realtime|transcribe|-audio\b|rerank"
    r"|stable-diffusion|flux|\bocr\b",
    re.IGNORECASE,
)
"""In the name of a model: that it is none to talk with."""
_BY_STATUS: Mapping[int, FailureClass] = {
    **dict.fromkeys((401, 403), "invalid_key"),
    402: "quota",
    404: "model_unavailable",
    429: "rate_limit",
}

_MEANS: Mapping[FailureClass, str] = {
    "invalid_key": "{provider} does not accept the key.",
    "quota": "{provider} takes the key, but the account has no credit left.",
    "model_unavailable": "{provider} has no list of models at this address: check it, it often ends in /v1.",
    "rate_limit": "{provider} was asked too often; wait a minute.",
    "provider_error": "{provider} has a problem of its own; try again later.",
}
"""What such an answer to a question for models means to a person."""


@dataclass(frozen=True, slots=True)
class Question:
    """A GET request."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class _Named(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    id: str = ""
    name: str = ""
    supportedGenerationMethods: tuple[str, ...] = ("generateContent",)  # noqa: N815  Google's name


class _Listed(BaseModel):
    """`data` where OpenAI's protocol is spoken, `models` by Google and Ollama."""

    model_config = ConfigDict(extra="ignore")

    data: tuple[_Named, ...] = ()
    models: tuple[_Named, ...] = ()


_LISTS: TypeAdapter[_Listed | list[_Named]] = TypeAdapter(_Listed | list[_Named])


async def offered_models(name: str, keys: Keys) -> tuple[str, ...]:
    """The models that the provider of that name lists, by name and without its own in front.

    Raises `ModelFailure` in words where it keeps no list, cannot be asked or refuses.
    """
    provider = provider_named(name, keys)
    question = list_question(name, keys)
    if question is None:
        raise ModelFailure("bad_request", f"{provider.title} keeps no list of models. Write down those you use.")
    if provider.needs_key and not key_of(name, provider, keys):
        raise ModelFailure("invalid_key", missing_key(provider))
    return models_in(await answer_to(question, name, keys), provider)


def list_question(name: str, keys: Keys) -> Question | None:
    """What the provider is asked for its models; `None` where it keeps no list that a key opens."""
    provider = provider_named(name, keys)
    base = (base_of(name, provider, keys) or provider.home).rstrip("/")
    key = key_of(name, provider, keys)
    match provider.prefix:
        case "azure" | "bedrock":
            return None
        case "anthropic":
            headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
            return Question(f"{base.removesuffix('/v1')}/v1/models?limit=1000", headers)
        case "gemini":
            return Question(f"{base.removesuffix('/v1beta')}/v1beta/models?pageSize=1000", {"x-goog-api-key": key})
        case "ollama_chat":
            return Question(f"{base}/api/tags")
        case _:
            return Question(f"{base}/models", _bearer(name, key, keys))


def key_question(name: str, keys: Keys) -> Question | None:
    """What tells whether the key is accepted; `None` where only a call does."""
    question = list_question(name, keys)
    if name == "openrouter" and question is not None:  # it shows its list to everybody
        return Question(question.url.removesuffix("models") + "key", question.headers)
    return question


def _bearer(name: str, key: str, keys: Keys) -> dict[str, str]:
    organisation = keys("OPENAI_ORGANIZATION") or keys("openai:organisation") if name == "openai" else ""
    return ({"Authorization": f"Bearer {key}"} if key else {}) | (
        {"OpenAI-Organization": organisation} if organisation else {}
    )


async def answer_to(question: Question, name: str, keys: Keys) -> bytes:
    """What came back. Raises `ModelFailure` in words without the key, also for what is no answer to it."""
    provider = provider_named(name, keys)
    secrets = tuple(secret for secret in (key_of(name, provider, keys),) if secret)
    try:
        status, body = await _got(question)
    except Exception as error:  # noqa: BLE001  the border to the provider: every error becomes a failure
        failure = classify(error, provider=provider.title, secrets=secrets)
        if failure.failure == "network" and (why := _unreached(error, question.url)):
            raise ModelFailure("network", f"{provider.title} could not be reached. {why}") from None
        raise failure from None
    if status == 200:
        return body
    raise _refusal(status, redacted(_said(body), secrets), provider)


def _unreached(error: BaseException, url: str) -> str:
    """What kept the request from that address; empty where the error tells of nothing known."""
    place = urlsplit(url).netloc.rpartition("@")[2]
    for cause in _causes(error):
        match cause:
            case socket.gaierror():
                host = urlsplit(url).hostname or place
                return f"No address is known for {host}. Is this computer connected to the network?"
            case ssl.SSLCertVerificationError():
                return f"The certificate of {place} is not trusted by this computer: {cause.verify_message}."
            case ConnectionRefusedError():
                return f"Nothing answers at {place}. Is the server started, and the address right?"
            case _:
                pass
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from, also where several were tried at once."""
    pending: list[BaseException] = [error]
    seen: set[int] = set()
    while pending:
        current = pending.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            pending += current.exceptions
        pending += [cause for cause in (current.__cause__, current.__context__) if cause is not None]


def _refusal(status: int, said: str, provider: Provider) -> ModelFailure:
    failure = _BY_STATUS.get(status, "provider_error" if status >= 500 else "bad_request")
    means = _MEANS.get(failure, "{provider} did not tell its models.").format(provider=provider.title)
    quote = f": “{said}”" if said else "."
    return ModelFailure(failure, f"{means} It answered {status}{quote}", status=status)


async def _got(question: Question) -> tuple[int, bytes]:
    httpx = await asyncio.to_thread(importlib.import_module, "httpx")
    believed = await asyncio.to_thread(trusted)
    async with (
        httpx.AsyncClient(timeout=SECONDS, verify=believed) as client,
        client.stream("GET", question.url, headers=dict(question.headers)) as response,
    ):
        body = b""
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > _LARGEST_LIST:
                break
        return response.status_code, body


_MESSAGE = re.compile(r'"(?:message|detail|error)"\s*:\s*"((?:[^"\\]|\\.)*)"')


def _said(body: bytes) -> str:
    text = body[:20_000].decode("utf-8", "replace")
    found = _MESSAGE.search(text)
    words = " ".join(re.sub(r"<[^<>]*>", " ", found[1] if found else text).split())
    return words if len(words) <= 200 else words[:199] + "…"


def models_in(body: bytes, provider: Provider) -> tuple[str, ...]:
    """The models in an answer. Raises `ModelFailure` for one that is no list."""
    try:
        listed = _LISTS.validate_json(body)
    except ValidationError:
        raise ModelFailure(
            "bad_response",
            f"What {provider.title} answered is no list of models. Check the address: it often ends in /v1.",
        ) from None
    entries = listed if isinstance(listed, list) else (*listed.data, *listed.models)
    names = {_name(one) for one in entries if "generateContent" in one.supportedGenerationMethods}
    return tuple(sorted(name for name in names if name and not _NO_CHAT.search(name)))


def _name(entry: _Named) -> str:
    return (entry.id or entry.name).removeprefix("models/")
