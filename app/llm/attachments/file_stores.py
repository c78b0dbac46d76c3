"""The stores of OpenAI, Anthropic and Google for files that their models read, each asked in its own words."""

import asyncio
import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from time import monotonic
from types import ModuleType
from typing import Any, Protocol, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from app.domain.values import now
from app.llm.failures import redacted
from app.llm.providers.certificates import trusted
from app.llm.providers.providers import Keys, base_of, key_of, provider_named

KEPT = timedelta(days=7)
"""How long a file stays with a provider that does not say so itself."""
GOOGLE_KEEPS = timedelta(hours=48)
PREPARING = 60.0
"""Seconds that Google may take to make a video ready."""
_ANTHROPIC = {"anthropic-version": "2023-06-01", "anthropic-beta": "files-api-2025-04-14"}
_LOST = frozenset({403, 404, 410})
Kind = TypeVar("Kind", bound=BaseModel)
_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)"')


def keeping(provider: str, title: str) -> str:
    """What it means to let that provider keep files, for who decides it."""
    longest = "48 hours" if provider == "gemini" else "7 days"
    return (
        f"Such files leave this computer. {title} keeps each until its session is deleted, and {longest} at most, so "
        "that it need not be sent with every call."
    )


class NotKept(Exception):
    """The provider did not take or keep a file; the message says why, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Account:
    """Whose files they are: of who has that key, at that address."""

    provider: str
    title: str
    base: str
    key: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    @property
    def digest(self) -> str:
        return sha256(f"{self.key}\n{self.base}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Stored:
    file_id: str
    expires_at: datetime


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = ""


class _GoogleFile(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    uri: str
    state: str = "ACTIVE"
    expirationTime: AwareDatetime | None = None  # noqa: N815  Google's name


class _GoogleAnswer(BaseModel):
    file: _GoogleFile


class Response(Protocol):
    """What is used of an answer of httpx."""

    status_code: int
    content: bytes
    headers: Mapping[str, str]


def account_of(provider: str, keys: Keys) -> Account | None:
    """Whose files are kept there now; `None` where there is no key."""
    known = provider_named(provider, keys)
    key = key_of(provider, known, keys)
    if not key:
        return None
    base = (base_of(provider, known, keys) or known.home).rstrip("/")
    match provider:
        case "anthropic":
            base, headers = base.removesuffix("/v1"), {"x-api-key": key, **_ANTHROPIC}
        case "gemini":
            base, headers = base.removesuffix("/v1beta"), {"x-goog-api-key": key}
        case _:
            headers = {"Authorization": f"Bearer {key}"}
            if organisation := keys("OPENAI_ORGANIZATION") or keys("openai:organisation"):
                headers["OpenAI-Organization"] = organisation
    return Account(provider, known.title, base, key, headers)


async def upload(account: Account, content: bytes, *, name: str, media_type: str) -> Stored:
    """Keep the content there. Raises `NotKept`."""
    if account.provider == "gemini":
        return await _to_google(account, content, name, media_type)
    is_openai = account.provider == "openai"
    wanted = {"expires_after[anchor]": "created_at", "expires_after[seconds]": f"{KEPT.total_seconds():.0f}"}
    answer = await _asked(
        account,
        "POST",
        f"{account.base}/files" if is_openai else f"{account.base}/v1/files",
        data={"purpose": "user_data", **wanted} if is_openai else {},
        files={"file": (name, content, media_type)},
    )
    file_id = _parsed(account, _Answer, answer).id
    if not file_id:
        raise NotKept(f"{account.title} did not say what it calls the file")
    return Stored(file_id, now() + KEPT)


async def delete(account: Account, file_id: str) -> None:
    """Have it deleted there; one that is gone already counts as deleted. Raises `NotKept`."""
    last = file_id.rpartition("/")[2]
    match account.provider:
        case "gemini":
            address = f"{account.base}/v1beta/files/{last}"
        case "anthropic":
            address = f"{account.base}/v1/files/{last}"
        case _:
            address = f"{account.base}/files/{last}"
    await _asked(account, "DELETE", address, passed=_LOST)


async def _to_google(account: Account, content: bytes, name: str, media_type: str) -> Stored:
    """In two steps, and a look whether it is ready: a video is looked through first."""
    begin = {
        "X-Goog-Upload-Protocol": "resumable",
        "X-Goog-Upload-Command": "start",
        "X-Goog-Upload-Header-Content-Length": str(len(content)),
        "X-Goog-Upload-Header-Content-Type": media_type,
    }
    begun = await _asked(
        account, "POST", f"{account.base}/upload/v1beta/files", headers=begin, json={"file": {"display_name": name}}
    )
    address = begun.headers.get("x-goog-upload-url", "")
    if not address:
        raise NotKept(f"{account.title} did not say where to upload")
    rest = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize"}
    done = await _asked(account, "POST", address, headers=rest, content=content)
    file = _parsed(account, _GoogleAnswer, done).file
    file = await _ready(account, file)
    return Stored(file.uri, file.expirationTime or now() + GOOGLE_KEEPS)


async def _ready(account: Account, file: _GoogleFile) -> _GoogleFile:
    began, wait = monotonic(), 0.25
    while file.state == "PROCESSING":
        if monotonic() - began > PREPARING:
            raise NotKept(f"{account.title} took too long to make it ready")
        await asyncio.sleep(wait)
        wait = min(4.0, wait * 2)
        answer = await _asked(account, "GET", f"{account.base}/v1beta/files/{file.name.rpartition('/')[2]}")
        file = _parsed(account, _GoogleFile, answer)
    if file.state == "FAILED":
        raise NotKept(f"{account.title} cannot read it")
    return file


async def _asked(
    account: Account,
    method: str,
    address: str,
    *,
    headers: Mapping[str, str] | None = None,
    passed: frozenset[int] = frozenset(),
    **body: Any,  # noqa: ANN401  the body as httpx takes it
) -> Response:
    """The answer, which is none of a failure but those in `passed`. Raises `NotKept` in words without the key."""
    httpx: ModuleType = await asyncio.to_thread(importlib.import_module, "httpx")
    believed = await asyncio.to_thread(trusted)
    try:
        async with httpx.AsyncClient(timeout=httpx.Timeout(30, read=300, write=300), verify=believed) as client:
            response: Response = await client.request(
                method, address, headers={**account.headers, **(headers or {})}, **body
            )
    except Exception as error:  # noqa: BLE001  the border to the provider: it may lead anywhere
        raise NotKept(f"{account.title} could not be reached ({type(error).__name__})") from None
    if response.status_code < 300 or response.status_code in passed:
        return response
    said = response.content[:20_000].decode("utf-8", "replace")
    found = _MESSAGE.search(said)
    quote = redacted(found[1] if found else "", (account.key,))[:200]
    raise NotKept(f"{account.title} answered {response.status_code}" + (f": “{quote}”" if quote else ""))


def _parsed(account: Account, kind: type[Kind], answer: Response) -> Kind:
    try:
        return kind.model_validate_json(answer.content)
    except ValidationError:
        raise NotKept(f"{account.title} answered something that tells of no file") from None
