"""The direct route: LiteLLM's configuration of a provider translates, and the HTTP is ours.

What LiteLLM does around a call takes several times as long as all else of it. A request is the same to the byte as that
of LiteLLM's own call, to which a test holds it; whatever a configuration cannot say alone goes by that call.
"""

import json
import os
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

from app import __version__
from app.llm.litellm.plain_chunks import plain_chunk
from app.llm.providers.providers import Connection

SWITCH = "AGENT_PLAYGROUND_MODEL_ROUTE"
"""The environment variable that sends each call by LiteLLM's own again, where it says `litellm`."""

_BY_SDK = frozenset({"openai"})
"""By LiteLLM's names: those that it calls through OpenAI's package, which writes a body in its own way."""
_DIRECT = frozenset(
    {*_BY_SDK, "mistral", "groq", "deepseek", "xai", "together_ai", "fireworks_ai", "openrouter"}
    | {"anthropic", "ollama_chat"}
)
_NOT_ALONE = frozenset({"json_mode", "fake_stream", "functions_unsupported_model"})
"""What a configuration leaves to LiteLLM's call: to make an answer of a tool's, or a stream of an answer."""
_OF_THE_MODEL = frozenset(
    {"tools", "temperature", "top_p", "max_tokens", "stop", "seed", "reasoning_effort", "parallel_tool_calls"}
    | {"response_format", "stream", "stream_options"}
)
"""The arguments of a call that are the model's."""
_ALWAYS: Mapping[str, str] = {
    "Connection": "keep-alive",
    "User-Agent": f"agent-playground/{__version__}",
    "Accept-Encoding": "gzip, deflate",
}
"""What else aiohttp can unpack depends on what happens to be installed."""
_REMEMBERED = 64
"""Forms of calls: all steps of an agent have the same."""

Fields = dict[str, Any]  # as LiteLLM's configurations take and give them


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a provider, and who reads the answer."""

    model: str
    provider: str
    """LiteLLM's name for it."""
    title: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    config: Any
    """LiteLLM's configuration of the provider."""
    read: Callable[[Fields], object]
    """Makes chunks of LiteLLM's of what comes, in the order in which it comes."""


def direct_call(litellm: ModuleType, connection: Connection, arguments: Mapping[str, Any]) -> Call | None:
    """The call as it goes on this route; `None` where it goes by `acompletion` with these arguments."""
    if connection.model.partition("/")[0] not in _DIRECT or os.environ.get(SWITCH, "").strip().lower() == "litellm":
        return None
    key = arguments["api_key"]
    model, provider, its_key, base = litellm.get_llm_provider(
        connection.model, api_base=arguments.get("api_base"), api_key=key
    )
    effort, with_tools = arguments.get("reasoning_effort"), "tools" in arguments
    if provider not in _DIRECT or _by_responses(litellm, model, provider, base, effort, with_tools=with_tools):
        return None
    asked = json.dumps({name: value for name, value in arguments.items() if name in _OF_THE_MODEL})
    if (form := _form(litellm, model, provider, asked)) is None:
        return None
    config = form.config
    messages = litellm.utils.validate_and_fix_openai_messages(messages=arguments["messages"])
    messages = config.translate_developer_role_to_system_role(messages=messages)
    place: Fields = {"api_key": its_key or key, "api_base": _base(litellm, provider, base)}
    known = {**place, "custom_llm_provider": provider, "drop_params": True}
    options: Fields = {} if provider in _BY_SDK else deepcopy(form.options)
    shared: Fields = {"model": model, "optional_params": options, "litellm_params": known}
    headers = config.validate_environment(**shared, **place, messages=messages, headers=_more(provider, arguments))
    url = config.get_complete_url(**shared, **place, stream=True)
    more = options.pop("extra_body", None) or {}
    body = config.transform_request(**shared, messages=messages, headers=headers)
    if provider == "anthropic":
        filtered = litellm.anthropic_beta_headers_manager.update_request_with_filtered_beta
        headers, body = filtered(headers=headers, request_data=body, provider=provider)
        body.pop("stream", None)  # it goes last
    whole = {**body, "stream": True, **more}
    return Call(
        model=model,
        provider=provider,
        title=connection.title,
        url=url,
        headers={**_ALWAYS, **headers},
        body=_body_by_sdk(body, form, model, place) if provider in _BY_SDK else json.dumps(whole).encode(),
        config=config,
        read=_reader(litellm, provider, form, known),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """What calls of a model have in common that ask it for the same in all but their messages."""

    config: Any
    """LiteLLM's configuration of the provider."""
    options: Fields
    """The provider's own; not to be changed."""
    by_tool: bool
    """Whether an answer by a schema comes as a call of a tool."""


@lru_cache(maxsize=_REMEMBERED)
def _form(litellm: ModuleType, model: str, provider: str, asked: str) -> _Form | None:
    """`None` where LiteLLM's call does more than its configuration says."""
    config = litellm.utils.ProviderConfigManager.get_provider_chat_config(
        model=model, provider=litellm.LlmProviders(provider)
    )
    options = litellm.get_optional_params(
        model=model, custom_llm_provider=provider, drop_params=True, **json.loads(asked)
    )
    by_tool = bool(provider == "anthropic" and options.pop("json_mode", False))
    if _NOT_ALONE & options.keys() or config.should_fake_stream(model=model, custom_llm_provider=provider, stream=True):
        return None
    return _Form(config, options, by_tool)


def _body_by_sdk(body: Fields, form: _Form, model: str, place: Fields) -> bytes:
    """What is asked for besides the messages is written once."""
    return b'{"messages":%b,%b' % (_by_sdk(body["messages"]), _end(form, model, place["api_base"]))


@lru_cache(maxsize=_REMEMBERED)
def _end(form: _Form, model: str, base: str) -> bytes:
    """Of a body as OpenAI's package writes it: what comes behind the messages."""
    options = deepcopy(form.options)
    more = options.pop("extra_body", None) or {}
    known = {"api_base": base, "custom_llm_provider": "openai", "drop_params": True}
    shared: Fields = {"model": model, "optional_params": options, "litellm_params": known}
    body = form.config.transform_request(**shared, messages=[], headers={})
    del body["messages"]
    first = {"model": body.pop("model")}
    return _by_sdk({**first, **dict(sorted({**body, "stream": True}.items())), **more})[1:]


@lru_cache
def _by_responses(
    litellm: ModuleType, model: str, provider: str, base: str | None, effort: str | None, *, with_tools: bool
) -> bool:
    """Whether the model is asked in OpenAI's other protocol, for which LiteLLM has no configuration of this kind."""
    known, _ = litellm.main.responses_api_bridge_check(
        model=model,
        custom_llm_provider=provider,
        tools=[{"type": "function", "function": {}}] if with_tools else None,
        reasoning_effort=effort,
        api_base=base,
    )
    return bool(known.get("mode") == "responses")


def _base(litellm: ModuleType, provider: str, base: str | None) -> str | None:
    """With what LiteLLM's call knows of addresses, and not its configurations."""
    match provider:
        case "openai":
            return base or str(litellm.main._resolve_openai_api_base(None))
        case "openrouter":
            return base or "https://openrouter.ai/api/v1"
        case "anthropic":
            base = base or "https://api.anthropic.com"
            return base if base.endswith("/v1/messages") else f"{base}/v1/messages"
    return base


def _reader(litellm: ModuleType, provider: str, form: _Form, known: Fields) -> Callable[[Fields], object]:
    """LiteLLM's, of the provider, and ours for what it would only carry over."""
    if provider == "anthropic":
        names = known.get(litellm.llms.anthropic.chat.transformation.ANTHROPIC_TOOL_NAME_REVERSE_MAP_KEY)
        iterator = litellm.llms.anthropic.chat.handler.ModelResponseIterator(
            streaming_response=None, sync_stream=False, json_mode=form.by_tool, tool_name_reverse_map=names
        )
        return iterator.chunk_parser  # type: ignore[no-any-return]
    iterator = form.config.get_model_response_iterator(streaming_response=None, sync_stream=False)
    usual = litellm.llms.openai.chat.gpt_transformation.OpenAIChatCompletionStreamingHandler.chunk_parser
    if type(iterator).chunk_parser is usual:
        return lambda said: plain_chunk(said) or iterator.chunk_parser(said)
    return iterator.chunk_parser  # type: ignore[no-any-return]


def _more(provider: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Headers that LiteLLM's call adds to those of the configuration."""
    if provider == "openrouter":
        return {"HTTP-Referer": "https://litellm.ai", "X-Title": "liteLLM"}
    if provider not in _BY_SDK:
        return {}
    organisation = arguments.get("organization")
    return {"Accept": "application/json"} | ({"OpenAI-Organization": organisation} if organisation else {})


def _by_sdk(value: object) -> bytes:
    """To the byte as OpenAI's package writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
