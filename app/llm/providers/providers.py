"""The providers by our names, and how each is reached: keys and addresses are read anew for each call."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from app.domain.errors import ModelFailure
from app.domain.failure_words import NO_KEY

Keys = Callable[[str], str]
"""The value of a variable such as `OPENAI_API_KEY`, or of what was saved, such as `openai:key`; empty for none.

What the environment says comes first: it is asked before what was saved.
"""
Extras = tuple[tuple[str, tuple[str, ...]], ...]
"""More arguments of a call, and the variables they come from."""
SECRET_FIELDS = frozenset({"key", "access_key", "secret_key", "session_token"})
"""What is saved for a provider and may be seen nowhere."""


def saved_name(provider: str, field: str) -> str:
    """The name of something saved for a provider: `openai:key`."""
    return f"{provider}:{field}"


def environment(variable: str) -> str:
    return os.environ.get(variable, "").strip()


def lookup(key: Keys, setting: Callable[[str, str], str], *, variables: Keys = environment) -> Keys:
    """`OPENAI_API_KEY` is a variable, `openai:key` a saved key and `openai:address` a provider's setting."""

    def value(name: str) -> str:
        provider, saved, field = name.partition(":")
        if not saved:
            return variables(name)
        return key(name) if field in SECRET_FIELDS else setting(provider, field)

    return value


@dataclass(frozen=True, slots=True)
class Provider:
    """How a provider is reached through LiteLLM."""

    title: str
    prefix: str
    """LiteLLM's name for it, or for the protocol it speaks."""
    keys: tuple[str, ...] = ()
    """The variables that may hold its key; the first that is set counts."""
    bases: tuple[str, ...] = ()
    """The variables that may hold its address."""
    base: str = ""
    """Where it is when no variable says so; empty: where LiteLLM knows it."""
    home: str = ""
    """Where LiteLLM knows it: what is asked for its models, and looked at when it cannot be reached."""
    needs_key: bool = True
    base_path: str = ""
    """What the address has to end with."""
    extras: Extras = ()
    is_local: bool = False


_AWS = (
    ("aws_access_key_id", ("AWS_ACCESS_KEY_ID", "bedrock:access_key")),
    ("aws_secret_access_key", ("AWS_SECRET_ACCESS_KEY", "bedrock:secret_key")),
    ("aws_session_token", ("AWS_SESSION_TOKEN", "bedrock:session_token")),
    ("aws_region_name", ("AWS_REGION", "AWS_REGION_NAME", "AWS_DEFAULT_REGION", "bedrock:region")),
    ("aws_profile_name", ("AWS_PROFILE", "AWS_PROFILE_NAME")),
)
_ORGANISATION = (("organization", ("OPENAI_ORGANIZATION", "OPENAI_ORG_ID", "openai:organisation")),)
_AZURE_VERSIONS = ("AZURE_API_VERSION", "AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION", "azure:api_version")
_AWS_IDENTITIES = (
    *("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_PROFILE_NAME", "AWS_BEARER_TOKEN_BEDROCK"),
    *("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
)


def _hosted(title: str, prefix: str, home: str, *more_keys: str, extras: Extras = ()) -> Provider:
    """One on the internet, whose key and address may stand in variables of its name, as `MISTRAL_API_KEY`."""
    name = prefix.upper()
    bases = (f"{name}_BASE_URL", f"{name}_API_BASE")
    return Provider(title, prefix, (f"{name}_API_KEY", *more_keys), bases, home=home, extras=extras)


def _server(title: str, key: str, *bases: str, base: str = "", base_path: str = "") -> Provider:
    """A server of one's own that speaks OpenAI's protocol."""
    return Provider(title, "openai", (key,), bases, base, needs_key=False, base_path=base_path, is_local=True)


PROVIDERS: Mapping[str, Provider] = {
    "openai": _hosted("OpenAI", "openai", "https://api.openai.com/v1", extras=_ORGANISATION),
    "anthropic": _hosted("Anthropic", "anthropic", "https://api.anthropic.com"),
    "gemini": _hosted("Google Gemini", "gemini", "https://generativelanguage.googleapis.com", "GOOGLE_API_KEY"),
    "bedrock": Provider("Amazon Bedrock", "bedrock", _AWS_IDENTITIES, extras=_AWS),
    "azure": Provider(
        "Azure OpenAI",
        "azure",
        ("AZURE_API_KEY", "AZURE_OPENAI_API_KEY"),
        ("AZURE_API_BASE", "AZURE_OPENAI_ENDPOINT"),
        extras=(("api_version", _AZURE_VERSIONS),),
    ),
    "openrouter": _hosted("OpenRouter", "openrouter", "https://openrouter.ai/api/v1"),
    "mistral": _hosted("Mistral", "mistral", "https://api.mistral.ai/v1"),
    "groq": _hosted("Groq", "groq", "https://api.groq.com/openai/v1"),
    "deepseek": _hosted("DeepSeek", "deepseek", "https://api.deepseek.com"),
    "xai": _hosted("xAI", "xai", "https://api.x.ai/v1"),
    "together_ai": Provider(
        "Together AI", "together_ai", ("TOGETHER_API_KEY", "TOGETHERAI_API_KEY"), home="https://api.together.xyz/v1"
    ),
    "fireworks_ai": Provider(
        "Fireworks AI",
        "fireworks_ai",
        ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"),
        home="https://api.fireworks.ai/inference/v1",
    ),
    "ollama": Provider(
        "Ollama",
        "ollama_chat",
        bases=("OLLAMA_HOST", "OLLAMA_URL"),
        base="http://127.0.0.1:11434",
        needs_key=False,
        is_local=True,
    ),
    "lmstudio": _server(
        *("LM Studio", "LM_STUDIO_API_KEY", "LM_STUDIO_API_BASE", "LMSTUDIO_URL"),
        base="http://127.0.0.1:1234",
        base_path="/v1",
    ),
    "llamacpp": _server(
        *("llama.cpp", "LLAMACPP_API_KEY", "LLAMACPP_URL", "LLAMA_CPP_URL"),
        base="http://127.0.0.1:8080",
        base_path="/v1",
    ),
    "compatible": _server("OpenAI-compatible server", "COMPATIBLE_API_KEY", "COMPATIBLE_BASE_URL"),
}
KEY_PAGES: Mapping[str, str] = {
    "openai": "https://platform.openai.com/api-keys",
    "anthropic": "https://console.anthropic.com/settings/keys",
    "gemini": "https://aistudio.google.com/apikey",
    "bedrock": "https://console.aws.amazon.com/bedrock/home#/api-keys",
    "azure": "https://ai.azure.com",
    "openrouter": "https://openrouter.ai/settings/keys",
    "mistral": "https://console.mistral.ai/api-keys",
    "groq": "https://console.groq.com/keys",
    "deepseek": "https://platform.deepseek.com/api_keys",
    "xai": "https://console.x.ai",
    "together_ai": "https://api.together.ai/settings/api-keys",
    "fireworks_ai": "https://app.fireworks.ai/settings/users/api-keys",
}
"""Where each provider hands out its keys."""


@dataclass(frozen=True, slots=True)
class Connection:
    """How one model is called through LiteLLM."""

    provider: str
    title: str
    model: str
    """As LiteLLM names it."""
    arguments: Mapping[str, str]
    """Key, address and the like; never shown, never written."""
    secrets: tuple[str, ...]
    """The values among these that must not turn up in any text."""
    key_variable: str = ""
    """The environment variable that the key came from; empty where it was saved, or there is none."""


def provider_named(name: str, keys: Keys = environment) -> Provider:
    """One of the known ones, or a server of one's own that was added under that name.

    Raises `ModelFailure` where there is none of that name.
    """
    if name in PROVIDERS:
        return PROVIDERS[name]
    if keys(saved_name(name, "address")):
        title = keys(saved_name(name, "title")) or name
        return Provider(title, "openai", needs_key=False, is_local=is_nearby(f"{name}/model", keys))
    known = ", ".join(("demo", *PROVIDERS))
    raise ModelFailure(
        "model_unavailable", f"There is no provider {name!r}. A model is named provider/model; {known} are known."
    )


def connection(name: str, keys: Keys = environment) -> Connection:
    """How the model of that `provider/model` is reached.

    Raises `ModelFailure`: `model_unavailable` for a provider that is not known, `invalid_key` where a key is needed
    and none is set. Nothing is sent anywhere.
    """
    provider_name, _, model = name.partition("/")
    provider = provider_named(provider_name, keys)
    key = key_of(provider_name, provider, keys)
    if provider.needs_key and not key and not has_key(provider_name, provider, keys):
        raise ModelFailure("invalid_key", missing_key(provider))
    arguments = {argument: _first(keys, variables) for argument, variables in provider.extras}
    arguments["api_key"] = key or ("" if provider_name == "bedrock" else "not-needed")
    arguments["api_base"] = base_of(provider_name, provider, keys)
    if provider_name in ("azure", "compatible") and not arguments["api_base"]:
        raise ModelFailure(
            "bad_request", f"{provider.title} has no address yet: set it in Settings or as {provider.bases[0]}."
        )
    if arguments["api_base"] and not _is_address(arguments["api_base"]):
        raise ModelFailure(
            "bad_request", f"{provider.title} has an address that is none. Write one like http://localhost:8000/v1."
        )
    secrets = (key, *(arguments[name] for name, _ in _AWS if name in arguments and "region" not in name))
    return Connection(
        provider=provider_name,
        title=provider.title,
        model=f"{provider.prefix}/{model}",
        arguments={argument: value for argument, value in arguments.items() if value},
        secrets=tuple(secret for secret in secrets if len(secret) >= 6),
        key_variable=next((variable for variable in provider.keys if keys(variable)), ""),
    )


def missing_key(provider: Provider) -> str:
    """What to do about a key that is not there, in words."""
    variables = " or ".join(provider.keys[:2])
    return (
        f"{provider.title} {NO_KEY} Add it in Settings, or set the environment variable "
        f"{variables} and start the app again."
    )


def has_key(name: str, provider: Provider, keys: Keys = environment) -> bool:
    """Whether there is what the provider knows its users by."""
    if name == "bedrock" and (_has_aws_profile() or keys(saved_name(name, "access_key"))):
        return True
    return bool(_first(keys, (*provider.keys, saved_name(name, "key"))))


def key_of(name: str, provider: Provider, keys: Keys = environment) -> str:
    """The key to call it with, empty where there is none; for Amazon the one of Bedrock alone, if there is one."""
    if name == "bedrock":
        return _first(keys, ("AWS_BEARER_TOKEN_BEDROCK", saved_name(name, "key")))
    return _first(keys, (*provider.keys, saved_name(name, "key")))


def base_of(name: str, provider: Provider, keys: Keys = environment) -> str:
    """Its address, as LiteLLM wants it; empty where LiteLLM knows it."""
    base = _first(keys, (*provider.bases, saved_name(name, "address"))) or provider.base
    if not base:
        return ""
    if "://" not in base:
        base = f"http://{base}"
    base = base.rstrip("/").replace("://0.0.0.0", "://127.0.0.1")
    return base if base.endswith(provider.base_path) else base + provider.base_path


def is_nearby(name: str, keys: Keys = environment) -> bool:
    """Whether the model of that `provider/model` runs on this machine or in its own network, by its address."""
    provider_name = name.partition("/")[0]
    provider = PROVIDERS.get(provider_name, Provider("", "openai", needs_key=False))
    try:
        host = urlsplit(base_of(provider_name, provider, keys)).hostname
    except ValueError:  # an address in the environment was checked by nobody
        return False
    if not host:
        return False
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost" or "." not in host or host.endswith((".localhost", ".local"))


def _is_address(base: str) -> bool:
    """One of the environment was checked by nobody before."""
    try:
        parts = urlsplit(base)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _first(keys: Keys, variables: tuple[str, ...]) -> str:
    for variable in variables:  # written out: each step of a run asks for some dozens
        if value := keys(variable):
            return value
    return ""


def _has_aws_profile() -> bool:
    return (Path.home() / ".aws").is_dir()
