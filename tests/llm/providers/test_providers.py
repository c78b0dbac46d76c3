import pytest

from app.domain.errors import ModelFailure
from app.llm.providers.providers import PROVIDERS, Keys, connection, is_nearby


def keys(**variables: str) -> Keys:
    return lambda name: variables.get(name, "")


@pytest.mark.parametrize(
    ("name", "variables", "model", "arguments"),
    [
        ("openai/gpt-4o", {"OPENAI_API_KEY": "k1"}, "openai/gpt-4o", {"api_key": "k1"}),
        (
            "openai/gpt-4o",
            {"OPENAI_API_KEY": "k1", "OPENAI_BASE_URL": "http://x/v1/"},
            "openai/gpt-4o",
            {"api_key": "k1", "api_base": "http://x/v1"},
        ),
        ("gemini/flash", {"GOOGLE_API_KEY": "k2"}, "gemini/flash", {"api_key": "k2"}),
        ("gemini/flash", {"GEMINI_API_KEY": "k1", "GOOGLE_API_KEY": "k2"}, "gemini/flash", {"api_key": "k1"}),
        ("ollama/a:1b", {}, "ollama_chat/a:1b", {"api_base": "http://127.0.0.1:11434", "api_key": "not-needed"}),
        (
            "ollama/a",
            {"OLLAMA_HOST": "0.0.0.0:1234"},
            "ollama_chat/a",
            {"api_base": "http://127.0.0.1:1234", "api_key": "not-needed"},
        ),
        (
            "lmstudio/org/model",
            {"LMSTUDIO_URL": "http://box:1234"},
            "openai/org/model",
            {"api_base": "http://box:1234/v1", "api_key": "not-needed"},
        ),
        (
            "lmstudio/m",
            {"LM_STUDIO_API_BASE": "http://box:1234/v1"},
            "openai/m",
            {"api_base": "http://box:1234/v1", "api_key": "not-needed"},
        ),
        (
            "bedrock/anthropic.claude",
            {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-central-1"},
            "bedrock/anthropic.claude",
            {"aws_access_key_id": "id", "aws_secret_access_key": "secret", "aws_region_name": "eu-central-1"},
        ),
        (
            "azure/deployment",
            {"AZURE_API_KEY": "k", "AZURE_API_BASE": "https://x.example", "AZURE_API_VERSION": "2025-01-01"},
            "azure/deployment",
            {"api_key": "k", "api_base": "https://x.example", "api_version": "2025-01-01"},
        ),
    ],
)
def test_a_model_is_reached_by_its_providers_variables(
    name: str, variables: dict[str, str], model: str, arguments: dict[str, str]
):
    reached = connection(name, keys(**variables))

    assert reached.model == model
    assert dict(reached.arguments) == arguments


@pytest.mark.parametrize(
    "name", [name for name, provider in PROVIDERS.items() if provider.needs_key and name != "bedrock"]
)
def test_a_missing_key_names_the_variable(name: str):
    with pytest.raises(ModelFailure) as caught:
        connection(f"{name}/model", keys())

    assert caught.value.failure == "invalid_key"
    assert PROVIDERS[name].keys[0] in caught.value.text


def test_an_unknown_provider_is_told_with_those_there_are():
    with pytest.raises(ModelFailure) as caught:
        connection("nobody/model", keys())

    assert caught.value.failure == "model_unavailable"
    assert "'nobody'" in caught.value.text
    assert "openai" in caught.value.text


def test_an_address_that_is_needed_and_missing_is_named():
    with pytest.raises(ModelFailure, match="COMPATIBLE_BASE_URL"):
        connection("compatible/model", keys())


@pytest.mark.parametrize("address", ["http://[bad", "htp://x", "http://", "http://x:99999"])
def test_an_address_that_is_none_is_said_to_be_wrong(address: str):
    with pytest.raises(ModelFailure, match="has an address that is none"):
        connection("lmstudio/m", keys(LMSTUDIO_URL=address))


def test_secrets_are_named_so_that_they_can_be_kept_out_of_texts():
    variables = {"AWS_ACCESS_KEY_ID": "AKIA0123", "AWS_SECRET_ACCESS_KEY": "hush-hush", "AWS_REGION": "eu-central-1"}

    assert set(connection("bedrock/m", keys(**variables)).secrets) == {"AKIA0123", "hush-hush"}


@pytest.mark.parametrize(
    ("base", "nearby"),
    [
        ("", False),
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost:8000", True),
        ("192.168.1.20:1234", True),
        ("http://box:8000", True),
        ("http://box.local", True),
        ("http://[::1]:8000", True),
        ("https://api.example.com/v1", False),
        ("http://8.8.8.8/v1", False),
    ],
)
def test_a_server_is_nearby_by_its_address(base: str, nearby: bool):
    assert is_nearby("openai/gpt-x", lambda name: base if name == "OPENAI_BASE_URL" else "") is nearby
    assert not is_nearby("nobody/gpt-x", lambda name: "" if ":" in name else base)
