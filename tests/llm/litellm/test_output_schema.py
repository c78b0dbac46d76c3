"""How the providers are told which JSON an answer has to be."""

import json

import pytest

from app.domain.messages import system_message
from app.domain.streaming import ModelRequest
from app.llm.litellm.litellm_model import with_schema_in_words
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai import FakeOpenAI
from tests.fakes.server import FakeServer
from tests.llm.calling import WEATHER, call

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


pytestmark = pytest.mark.usefixtures("route")


async def asked(fake_kind: type[FakeServer], name: str, *, with_tools: bool = False, schema: object = SCHEMA) -> dict:
    """What the provider was sent."""
    async with fake_kind() as fake:
        outcome = await call(name, fake.url, tools=(WEATHER,) if with_tools else (), output_schema=schema)
        assert outcome.failure is None, outcome.failure
        return fake.seen.last


@pytest.mark.parametrize("with_tools", [True, False])
async def test_openai_gets_the_schema_as_it_is(with_tools: bool):
    sent = await asked(FakeOpenAI, "openai/gpt-4o", with_tools=with_tools)
    assert sent["response_format"] == {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    assert [message["role"] for message in sent["messages"]] == ["user"]


@pytest.mark.parametrize("with_tools", [True, False])
async def test_a_claude_that_knows_schemas_gets_it_and_keeps_its_tools(with_tools: bool):
    sent = await asked(FakeAnthropic, "anthropic/claude-sonnet-4-5", with_tools=with_tools)
    assert sent["output_format"]["schema"]["required"] == ["city"]
    assert "tool_choice" not in sent
    assert [tool["name"] for tool in sent.get("tools", [])] == (["get_weather"] if with_tools else [])


async def test_an_older_claude_is_free_to_call_its_tools_and_told_in_words():
    sent = await asked(FakeAnthropic, "anthropic/claude-3-haiku-20240307", with_tools=True)
    assert "tool_choice" not in sent
    assert [tool["name"] for tool in sent["tools"]] == ["get_weather"]
    assert json.dumps(SCHEMA) in json.dumps(sent["system"]).replace('\\"', '"')


async def test_an_older_claude_without_tools_answers_in_json_as_text():
    async with FakeAnthropic() as fake:
        outcome = await call("anthropic/json-tool", fake.url, output_schema=SCHEMA)
    assert outcome.message.text == '{"city": "Paris"}'
    assert outcome.message.tool_calls == ()
    assert outcome.reply is not None and outcome.reply.finish_reason == "stop"


async def test_gemini_gets_the_schema_without_tools_and_words_with_them():
    alone = await asked(FakeGemini, "gemini/gemini-2.5-flash")
    assert alone["generationConfig"]["response_json_schema"] == SCHEMA
    beside = await asked(FakeGemini, "gemini/gemini-2.5-flash", with_tools=True)
    assert "response_mime_type" not in beside["generationConfig"]
    assert "JSON Schema" in json.dumps(beside["system_instruction"])


async def test_ollama_gets_the_schema_without_tools_and_words_with_them():
    assert (await asked(FakeOllama, "ollama/ok"))["format"] == SCHEMA
    beside = await asked(FakeOllama, "ollama/ok", with_tools=True)
    assert "format" not in beside
    assert "JSON Schema" in beside["messages"][0]["content"]


@pytest.mark.parametrize("name", ["openai/gpt-4o", "openai/ok"])
async def test_plain_text_asks_for_nothing(name: str):
    sent = await asked(FakeOpenAI, name, schema=None, with_tools=True)
    assert "response_format" not in sent
    assert [message["role"] for message in sent["messages"]] == ["user"]


def test_the_words_stand_behind_the_system_prompt():
    request = ModelRequest("m", (), system=system_message("Be brief."), output_schema=SCHEMA)
    told = with_schema_in_words(request).system
    assert told is not None and told.text.startswith("Be brief.\n\nWhen you give your final answer")
    assert told.text.endswith(json.dumps(SCHEMA))
