"""Which models a provider offers, as each of them tells it."""

import json

import pytest
from aiohttp import web

from app.domain.errors import ModelFailure
from app.llm.providers.offered import list_question, offered_models
from tests.app_process import free_port
from tests.fakes.server import FakeServer

ANSWERS: dict[str, tuple[str, object]] = {
    "anthropic": ("/v1/models", {"data": [{"id": "claude-x", "type": "model"}], "has_more": False}),
    "gemini": (
        "/v1beta/models",
        {
            "models": [
                {"name": "models/gemini-x", "supportedGenerationMethods": ["generateContent"]},
                {"name": "models/aqa", "supportedGenerationMethods": ["generateAnswer"]},
            ]
        },
    ),
    "ollama": ("/api/tags", {"models": [{"name": "llama:1b", "model": "llama:1b"}]}),
    "lmstudio": ("/v1/models", {"object": "list", "data": [{"id": "qwen"}, {"id": "text-embedding-nomic"}]}),
    "together_ai": ("/models", [{"id": "meta/llama", "type": "chat"}]),
}
OFFERED = {
    "anthropic": ("claude-x",),
    "gemini": ("gemini-x",),
    "ollama": ("llama:1b",),
    "lmstudio": ("qwen",),
    "together_ai": ("meta/llama",),
}
KEY = "secret-0123456789"


class Lists(FakeServer):
    """Answers each path with what it was given."""

    def __init__(self, path: str, body: str, status: int = 200) -> None:
        super().__init__()
        self._path, self._body, self._status = path, body, status

    def routes(self) -> list[web.RouteDef]:
        return [web.get(self._path, self._list)]

    async def _list(self, request: web.Request) -> web.Response:
        await self.note(request, "list", {})
        return web.Response(text=self._body, status=self._status, content_type="application/json")


def keys_at(name: str, url: str):
    saved = {f"{name}:address": url, f"{name}:key": KEY}
    return lambda variable: saved.get(variable, "")


@pytest.mark.parametrize("name", ANSWERS)
async def test_each_provider_is_asked_in_its_own_way(name: str):
    path, answer = ANSWERS[name]
    async with Lists(path, json.dumps(answer)) as fake:
        assert await offered_models(name, keys_at(name, fake.url)) == OFFERED[name]
        sent = fake.seen.headers[-1]
    assert (KEY in str(sent)) is (name != "ollama")


@pytest.mark.parametrize(
    ("status", "body", "failure", "words"),
    [
        (401, f'{{"error": {{"message": "Wrong key {KEY}"}}}}', "invalid_key", "[key]"),
        (403, "", "invalid_key", "403"),
        (404, "<html>nothing here</html>", "model_unavailable", "nothing here"),
        (429, "{}", "rate_limit", "429"),
        (500, "{}", "provider_error", "500"),
        (200, "<html>Log in</html>", "bad_response", "no list of models"),
        (200, '{"data": 5}', "bad_response", "no list of models"),
    ],
)
async def test_every_refusal_has_words_without_the_key(status: int, body: str, failure: str, words: str):
    async with Lists("/models", body, status) as fake:
        with pytest.raises(ModelFailure) as caught:
            await offered_models("openai", keys_at("openai", fake.url))
    assert caught.value.failure == failure
    assert words in caught.value.text
    assert KEY not in caught.value.text


async def test_a_server_that_does_not_run_is_told():
    with pytest.raises(ModelFailure) as caught:
        await offered_models("openai", keys_at("openai", f"http://127.0.0.1:{free_port()}"))
    assert caught.value.failure == "network"


async def test_nobody_is_asked_without_a_key_or_without_a_list():
    with pytest.raises(ModelFailure, match="MISTRAL_API_KEY"):
        await offered_models("mistral", lambda _: "")
    with pytest.raises(ModelFailure, match="keeps no list"):
        await offered_models("bedrock", lambda _: "x")


def test_a_key_is_in_no_words_of_a_question():
    question = list_question("openai", keys_at("openai", "http://127.0.0.1:9"))
    assert KEY not in repr(question)
