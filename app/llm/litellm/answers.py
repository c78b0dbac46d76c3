"""What comes back on the direct route: refusals as LiteLLM raises them, and answers in its chunks."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from types import ModuleType
from urllib.parse import urlsplit

from app.domain.errors import ModelFailure
from app.llm.litellm.direct import Call, Fields
from app.llm.litellm.posting import lines_of, posted, refusal
from app.llm.litellm.reading import Opened

_MOST_LINES = 1_000
"""Of one event."""


@asynccontextmanager
async def opened(litellm: ModuleType, call: Call, *, idle_timeout: float) -> AsyncIterator[Opened]:
    """The answer to the call, in LiteLLM's chunks; what the provider refuses is raised as LiteLLM raises it."""
    is_open = call.url.startswith("http:")  # then nobody has to look for files of certificates
    trust = True if is_open else litellm.llms.custom_httpx.http_handler.get_ssl_configuration()
    try:
        async with posted(call.url, call.headers, call.body, trust=trust, idle_timeout=idle_timeout) as response:
            if response.status >= 300:
                _refuse_redirect(call.title, response.status, response.headers.get("Location", ""))
                raise call.config.get_error_class(
                    error_message=await refusal(response, idle_timeout),
                    status_code=response.status,
                    headers={name.lower(): value for name, value in response.headers.items()},
                )
            async with aclosing(lines_of(response)) as lines, aclosing(_chunks(call, lines)) as chunks:
                yield Opened(chunks, lambda: True)
    except litellm.llms.base_llm.chat.transformation.BaseLLMException as error:
        litellm.exception_type(model=call.model, original_exception=error, custom_llm_provider=call.provider)
        raise


async def _chunks(call: Call, lines: AsyncIterator[str]) -> AsyncGenerator[object, None]:
    async with aclosing(_objects(lines)) as objects:
        async for said in objects:
            try:
                _refuse_error(call, said)
                yield call.read(_tidied(said))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                told = f"The provider sent a piece of an answer that is none: {error}"
                raise ModelFailure("bad_response", told) from error


async def _objects(lines: AsyncIterator[str]) -> AsyncGenerator[Fields, None]:
    """The JSON that is sent. That of one event may stand in several lines; its end is an empty one."""
    begun: list[str] = []
    async for line in lines:
        if line.startswith("[DONE]"):
            return
        if not begun and line:
            try:
                said = json.loads(line)
            except ValueError:
                begun.append(line)
            else:
                yield said
        elif line and len(begun) < _MOST_LINES:
            begun.append(line)
        elif begun:
            yield json.loads("\n".join(begun))
            begun.clear()
    if begun:
        yield json.loads("\n".join(begun))


def _refuse_error(call: Call, said: Fields) -> None:
    """Raises what an object says that is no piece of an answer, but an error behind a status of 200."""
    error = said if said.get("object") == "error" else said.get("error")
    if error:
        told = error if isinstance(error, dict) else {"message": error}
        code = told.get("code")
        raise call.config.get_error_class(
            error_message=str(told.get("message") or json.dumps(told)),
            status_code=code if isinstance(code, int) and 400 <= code < 600 else 500,
            headers={},
        )


def _tidied(chunk: Fields) -> Fields:
    """As LiteLLM reads it: without the nothings that some servers name, an answer in one piece as a stream of one."""
    for choice in chunk.get("choices") or ():
        delta = choice.get("delta") or choice.get("message") or {}
        if not delta.get("reasoning"):
            delta.pop("reasoning", None)
        choice["delta"] = delta
    return chunk


def _refuse_redirect(title: str, status: int, location: str) -> None:
    if status < 400:
        to = urlsplit(location)
        host = to.netloc.rpartition("@")[2]
        place = f"{to.scheme}://{host}{to.path}" if host else to.path or "another place"
        said = f"{title} is not at its address any more, which sends on to {place}: set that as its address."
        raise ModelFailure("bad_request", said, status=status)
