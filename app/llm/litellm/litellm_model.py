"""Any model that LiteLLM reaches, behind the engine's port. The only module that knows LiteLLM.

LiteLLM takes seconds and much memory to import, so it is imported in a thread when it is first needed. Retries,
accumulation and classification of errors are ours: its own lose tool calls, hide attempts and mislabel failures.
"""

import asyncio
import gc
import importlib
import json
import logging
import os
import sys
import threading
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import cache
from types import ModuleType

from app.domain.errors import ModelFailure, StorageError
from app.domain.garbage import set_aside
from app.domain.messages import system_message
from app.domain.streaming import Delta, ModelRequest, Reply
from app.llm.attachments.attachments import Attachments
from app.llm.failures import classify, redacted
from app.llm.litellm.answers import opened
from app.llm.litellm.direct import direct_call
from app.llm.litellm.reading import AnswerReader, Opened, end_of
from app.llm.litellm.wire import Json, Sent, Wire, parameters_of, tools_of
from app.llm.providers.providers import Connection
from app.llm.tokens import read_vocabulary

log = logging.getLogger(__name__)

_OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_MODE": "PRODUCTION",  # or it reads a .env file of the folder the app was started in
    "HF_HUB_OFFLINE": "1",
    "MAX_IMAGE_URL_DOWNLOAD_SIZE_MB": "0",  # or it fetches what an address in a picture's place says, from here
    "REPEATED_STREAMING_CHUNK_LIMIT": "1000000",  # or it breaks off answers that repeat themselves
}
_WITH_TOOLS = frozenset({"openai", "azure"})
"""Providers that take a schema beside tools. Others refuse the call (Gemini, Groq), or the schema keeps the model from
calling any tool (Ollama, and Claude before 4.5, which LiteLLM makes answer by a tool of its own)."""
_LOST = frozenset({400, 403, 404})
"""With which a provider answers that it does not have a file."""
_importing = threading.Lock()


async def ensure_litellm() -> ModuleType:
    """LiteLLM, imported in a thread the first time, while the loop goes on."""
    there = sys.modules.get("litellm")
    return there if there is not None and not _importing.locked() else await asyncio.to_thread(_imported)


def _imported() -> ModuleType:
    with _importing:
        return sys.modules.get("litellm") or _import()


def _import() -> ModuleType:
    import truststore  # noqa: PLC0415  its five milliseconds belong to the two seconds here, not to the start

    read_vocabulary()
    truststore.inject_into_ssl()  # the authority of a company is known to its computers, not to certifi
    before = {name: os.environ.get(name) for name in _OFFLINE}
    os.environ.update(_OFFLINE)
    try:
        with _importing_much():
            litellm = importlib.import_module("litellm")
    finally:
        _restore(before)
    vars(litellm).update(suppress_debug_info=True, disable_hf_tokenizer_download=True)
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm


@contextmanager
def _importing_much() -> Iterator[None]:
    """Collecting garbage through a hundred thousand new functions would cost a third of the time."""
    interval = sys.getswitchinterval()
    gc.disable()
    sys.setswitchinterval(0.001)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        set_aside()
        gc.enable()


_warming = threading.Lock()


def _warmed_up(litellm: ModuleType) -> None:
    """Once, for whoever asks: two at a time would each take the other's haste for what is usual."""
    with _warming:
        _warm_up(litellm)


@cache
def _warm_up(litellm: ModuleType) -> None:
    """What LiteLLM's first call would do on the loop, for a second: more imports, and reading a vocabulary.

    The direct route needs none of it, which is a quarter of the time and a hundred megabytes.
    """
    with _importing_much():
        for module in ("openai.resources", "anyio._backends._asyncio"):
            with suppress(ModuleNotFoundError):
                importlib.import_module(module)
        litellm.token_counter(model="gpt-4o", text="warm up")


def _restore(environment: dict[str, str | None]) -> None:
    for name, value in environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


class _FilesLost(Exception):
    """The provider does not have files any more that were uploaded to it."""

    def __init__(self, failure: ModelFailure, file_ids: tuple[str, ...]) -> None:
        super().__init__(failure.text)
        self.failure = failure
        self.file_ids = file_ids


class LiteLLMModel:
    """The model `name`; `connect` says how it is reached, and is asked again before each call."""

    def __init__(self, name: str, connect: Callable[[], Connection], attachments: Attachments) -> None:
        self._name = name
        self._connect = connect
        self._attachments = attachments

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        if request.sent is None:
            request = await self._attachments.prepared(request)
        for is_last in (False, True):
            try:
                async with aclosing(self._asked(request)) as answer:
                    async for item in answer:
                        yield item
                break
            except _FilesLost as lost:
                if is_last:
                    raise lost.failure from None
                await self._attachments.forget(request, lost.file_ids)  # and the second time they are there again

    async def _asked(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        """Raises `_FilesLost` before the first item where the provider has not what it was to read."""
        connection = self._connect()
        outgoing = await self._attachments.outgoing(request)
        litellm = await ensure_litellm()
        arguments = await self._arguments(request, connection, litellm, outgoing)
        reader = AnswerReader(request, self._name)
        try:
            call = direct_call(litellm, connection, arguments)
            await request.stored()
            async with (
                opened(litellm, call, idle_timeout=request.idle_timeout)
                if call
                else _by_litellm(litellm, connection.provider, arguments, request.idle_timeout) as answer,
                aclosing(reader.deltas(answer)) as deltas,
            ):
                async for delta in deltas:
                    yield delta
            await reader.count()
            reply = reader.reply(connection.title)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - the border to the provider: every error becomes a failure
            ids = {short: one.file_id for one in outgoing.values() if (short := one.file_id.rpartition("/")[2])}
            secrets = (*connection.secrets, *ids.values(), *ids)
            failure = classify(error, provider=connection.title, key=connection.key_variable, secrets=secrets)
            if failure.status in _LOST and (lost := tuple(ids[one] for one in ids if one in str(error))):
                raise _FilesLost(failure, lost) from None
            if failure.failure == "internal":  # a bug, ours or LiteLLM's: the page says so, the log says where
                said = "".join(traceback.format_exception(error))
                said = redacted(said, secrets)
                log.error("A call of %s broke down: %s", connection.model, said)  # noqa: TRY400  with it, unredacted
            raise failure from None
        yield reply

    async def _arguments(
        self, request: ModelRequest, connection: Connection, litellm: ModuleType, sent: Sent
    ) -> dict[str, object]:
        by_schema = _takes_schema(request, connection, litellm)
        request = request if by_schema else with_schema_in_words(request)
        tools: list[Json] = tools_of(request.tools)
        return {
            "model": connection.model,
            "messages": Wire(connection.provider, sent, request.tools).messages(request),
            **({"tools": tools} if tools else {}),
            **parameters_of(request.parameters, with_tools=bool(tools)),
            **(_response_format(request) if by_schema else {}),
            **connection.arguments,
            "stream": True,
            "stream_options": {"include_usage": True},
            "timeout": request.idle_timeout,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
            "_skip_mcp_handler": True,  # or a call with tools imports `mcp`, which need not be installed
        }


@asynccontextmanager
async def _by_litellm(
    litellm: ModuleType, provider: str, arguments: dict[str, object], idle_timeout: float
) -> AsyncIterator[Opened]:
    """The answer of LiteLLM's own call."""
    if not _warm_up.cache_info().currsize:
        await asyncio.to_thread(_warmed_up, litellm)
    async with asyncio.timeout(idle_timeout):
        chunks = await litellm.acompletion(**arguments)
    async with aclosing(chunks):
        async with asyncio.timeout(idle_timeout):
            ended = await end_of(chunks, provider)
        yield Opened(chunks, ended, kept=chunks)


def _takes_schema(request: ModelRequest, connection: Connection, litellm: ModuleType) -> bool:
    """Whether the schema goes into the call itself; a provider that knows no schemas then gets none, by LiteLLM."""
    if request.output_schema is None:
        return False
    if not request.tools or connection.provider in _WITH_TOOLS:
        return True
    return bool(litellm.utils.supports_native_structured_output(model=connection.model))


def _response_format(request: ModelRequest) -> Json:
    """The argument of the call. Not `strict`: OpenAI's strict mode refuses every schema with an optional field."""
    schema = request.output_schema
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}


def with_schema_in_words(request: ModelRequest) -> ModelRequest:
    """The request with its schema, if it has one, at the end of the system prompt."""
    if request.output_schema is None:
        return request
    schema = json.dumps(request.output_schema, ensure_ascii=False)
    told = f"When you give your final answer, answer with JSON only, without a fence, of this JSON Schema:\n{schema}"
    before = f"{request.system.text}\n\n" if request.system else ""
    return replace(request, system=system_message(before + told))
