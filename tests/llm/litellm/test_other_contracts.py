"""The adapter against servers that speak Anthropic's, Google's and Ollama's own protocols."""

import pytest

from app.domain.errors import FailureClass
from app.domain.messages import FinishReason, Message, TextPart, ToolResult, Usage, user_message
from tests.fakes.anthropic import SIGNATURE as ANTHROPIC_SIGNATURE
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.gemini import SIGNATURE as GEMINI_SIGNATURE
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai import FakeOpenAI
from tests.fakes.server import FakeServer
from tests.llm.calling import WEATHER, Outcome, call

FAKES: dict[str, type[FakeServer]] = {
    "openai": FakeOpenAI,
    "anthropic": FakeAnthropic,
    "gemini": FakeGemini,
    "ollama": FakeOllama,
}


pytestmark = pytest.mark.usefixtures("route")


async def outcome_of(name: str, *messages: Message) -> Outcome:
    async with FAKES[name.partition("/")[0]]() as fake:
        return await call(name, fake.url, *messages, tools=(WEATHER,))


def results(message: Message) -> list[Message]:
    return [
        Message.of_result(ToolResult(call_id=made.call_id, name=made.name, parts=(TextPart(text="42"),)))
        for made in message.tool_calls
    ]


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "ollama"])
async def test_text_streams_and_ends(provider: str):
    outcome = await outcome_of(f"{provider}/ok")

    assert [delta.text for delta in outcome.deltas] == ["Hello ", "world"]
    assert outcome.reply is not None
    assert outcome.reply.finish_reason == "stop"
    assert not outcome.reply.usage.estimated


@pytest.mark.parametrize(
    ("provider", "reasoning", "calls"),
    [
        ("anthropic", "Let me think.", [("get_weather", {"city": "Paris"}), ("noargs", {})]),
        ("gemini", "thinking..", [("get_weather", {"city": "Paris"}), ("add", {"a": 2, "b": 40})]),
        ("ollama", "hmm ", [("get_weather", {"city": "Paris"}), ("add", {"a": 2, "b": 40})]),
    ],
)
async def test_thinking_and_tool_calls_are_read(provider: str, reasoning: str, calls: list[tuple[str, dict]]):
    outcome = await outcome_of(f"{provider}/thinking-tools")

    assert outcome.message.reasoning == reasoning
    assert [(made.name, dict(made.arguments)) for made in outcome.message.tool_calls] == calls
    assert all(len(made.call_id) <= 64 for made in outcome.message.tool_calls)
    assert outcome.reply is not None
    assert outcome.reply.finish_reason == "tool_calls"


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "ollama"])
@pytest.mark.parametrize(("name", "finish"), [("length", "length")])
async def test_an_answer_cut_by_its_length_says_so(provider: str, name: str, finish: FinishReason):
    outcome = await outcome_of(f"{provider}/{name}")

    assert outcome.reply is not None
    assert outcome.reply.finish_reason == finish


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "ollama"])
async def test_a_stream_that_just_ends_is_a_failure(provider: str):
    outcome = await outcome_of(f"{provider}/eof")

    assert outcome.deltas
    assert outcome.failure is not None
    assert outcome.failure.failure == "bad_response"


@pytest.mark.parametrize(
    ("name", "failure", "status"),
    [
        ("anthropic/e400", "bad_request", 400),
        ("anthropic/e400-context", "context_overflow", 400),
        ("anthropic/e400-credit", "quota", 400),
        ("anthropic/e401", "invalid_key", 401),
        ("anthropic/e404", "model_unavailable", 404),
        ("anthropic/e429", "rate_limit", 429),
        ("anthropic/e500", "provider_error", 500),
        ("anthropic/e529", "model_unavailable", 529),
        ("anthropic/overloaded-in-stream", "model_unavailable", 529),
        ("anthropic/refusal", "safety_filter", None),
        ("gemini/e400", "bad_request", 400),
        ("gemini/e400-context", "context_overflow", 400),
        ("gemini/e400-key", "invalid_key", 400),
        ("gemini/e404", "model_unavailable", 404),
        ("gemini/e429", "rate_limit", 429),
        ("gemini/e500", "provider_error", 500),
        ("gemini/e503", "model_unavailable", 503),
        ("gemini/safety", "safety_filter", None),
        ("ollama/missing", "model_unavailable", 404),
    ],
)
async def test_a_refusal_is_one_failure_after_one_request(name: str, failure: FailureClass, status: int | None):
    provider, _, behaviour = name.partition("/")
    async with FAKES[provider]() as fake:
        outcome = await call(name, fake.url)
        hits = fake.seen.hits[behaviour]

    assert outcome.failure is not None
    assert (outcome.failure.failure, outcome.failure.status) == (failure, status)
    assert "{" not in outcome.failure.text
    assert hits == 1


async def test_anthropic_counts_cached_tokens_as_part_of_the_input():
    outcome = await outcome_of("anthropic/ok")

    assert outcome.reply is not None
    assert outcome.reply.usage == Usage(input_tokens=28, output_tokens=33, cached_tokens=5, cache_write_tokens=3)


async def test_signed_thinking_goes_back_to_anthropic():
    async with FakeAnthropic() as fake:
        first = (await call("anthropic/thinking-tools", fake.url, tools=(WEATHER,))).message
        await call("anthropic/ok", fake.url, user_message("hi"), first, *results(first), tools=(WEATHER,))
        blocks = fake.seen.last["messages"][1]["content"]

    assert blocks[0] == {"type": "thinking", "thinking": "Let me think.", "signature": ANTHROPIC_SIGNATURE}
    assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use", "tool_use"]


async def test_thought_signatures_go_back_to_gemini():
    async with FakeGemini() as fake:
        first = (await call("gemini/thinking-tools", fake.url, tools=(WEATHER,))).message
        await call("gemini/ok", fake.url, user_message("hi"), first, *results(first), tools=(WEATHER,))
        contents = fake.seen.last["contents"]

    signed = [part for part in contents[1]["parts"] if "thoughtSignature" in part]
    assert [part["thoughtSignature"] for part in signed] == [GEMINI_SIGNATURE]
    assert signed[0]["function_call"]["name"] == "get_weather"
    assert [part["function_response"]["name"] for part in contents[2]["parts"]] == ["get_weather", "add"]


@pytest.mark.parametrize("maker", ["anthropic", "gemini"])
async def test_no_signature_goes_to_another_provider(maker: str):
    first = (await outcome_of(f"{maker}/thinking-tools")).message
    async with FakeOpenAI() as fake:
        await call("openai/ok", fake.url, user_message("hi"), first, *results(first))
        sent = fake.seen.last["messages"]

    assert set(sent[1]) <= {"role", "content", "tool_calls"}
    assert GEMINI_SIGNATURE not in str(sent)
    assert ANTHROPIC_SIGNATURE not in str(sent)
    assert [made["id"] for made in sent[1]["tool_calls"]] == [message["tool_call_id"] for message in sent[2:]]


async def test_nothing_but_the_chat_is_asked_of_ollama():
    """For a model it does not know LiteLLM asks the server, on the loop, and waits for it."""
    async with FakeOllama() as fake:
        await call("ollama/ok", fake.url)
        await call("ollama/missing", fake.url)
        await call("ollama/eof", fake.url)
        await call("ollama/drop", fake.url)
        await call("ollama/ok", fake.url)

        assert dict(fake.seen.hits) == {"ok": 2, "missing": 1, "eof": 1, "drop": 1}
