"""The adapter against a server that speaks OpenAI's protocol, with all its quirks and faults."""

import asyncio

import pytest

from app.domain.errors import FailureClass
from app.domain.messages import FinishReason, ImagePart, Message, TextPart, ToolResult, Usage, user_message
from app.domain.streaming import CallDelta, ModelRequest, ReasoningDelta, TextDelta
from app.llm.litellm.litellm_model import ensure_litellm
from tests.fakes.markdown import markdown
from tests.fakes.openai import SECRET, FakeOpenAI
from tests.llm.calling import WEATHER, call, model
from tests.llm.sending import picture
from tests.processor import at_work

pytestmark = pytest.mark.usefixtures("route")


@pytest.mark.parametrize(
    ("name", "text", "reasoning", "finish"),
    [
        ("ok", "Hello world", "", "stop"),
        ("no-role", "Hello", "", "stop"),
        ("no-done", "Hello world", "", "stop"),
        ("finish-with-text", "Hello", "", "stop"),
        ("odd-finish", "Hello", "", "stop"),
        ("length", "I was cut", "", "length"),
        ("filter", "I", "", "content_filter"),
        ("reasoning", "The answer.", "First second.", "stop"),
        ("think-tags", "answer", "inline", "stop"),
        ("repeating", "ha " * 500, "", "stop"),
        ("tools-and-text", "Let me look. ", "", "tool_calls"),
    ],
)
async def test_an_answer_is_read_whatever_its_shape(name: str, text: str, reasoning: str, finish: FinishReason):
    async with FakeOpenAI() as fake:
        outcome = await call(f"openai/{name}", fake.url)

    assert outcome.message.text == text
    assert outcome.message.reasoning == reasoning
    assert outcome.reply is not None
    assert outcome.reply.finish_reason == finish
    assert outcome.message.model == f"openai/{name}"
    assert "".join(delta.text for delta in outcome.deltas if isinstance(delta, TextDelta)) == text
    assert "".join(delta.text for delta in outcome.deltas if isinstance(delta, ReasoningDelta)) == reasoning


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("tools", [("get_weather", {"city": "Paris"}), ("add", {"a": 2, "b": 40})]),
        ("tools-interleaved", [("f", {"y": 2}), ("g", {"x": 1})]),
        ("tools-same-index", [("f", {"x": 1}), ("g", {"y": 2})]),
        ("tools-no-index", [("f", {"x": 1}), ("g", {"y": 2})]),
        ("tools-empty-ids", [("f", {"x": 1}), ("g", {"y": 2})]),
        ("tools-duplicate-ids", [("f", {"x": 1}), ("g", {"y": 2})]),
        ("tools-repeated-name", [("f", {"x": 1})]),
        ("tools-object-arguments", [("f", {"x": 1})]),
        ("tools-no-arguments", [("f", {})]),
    ],
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
async def test_tool_calls_are_read_whatever_their_shape(name: str, calls: list[tuple[str, dict[str, object]]]):
    async with FakeOpenAI() as fake:
        outcome = await call(f"openai/{name}", fake.url, tools=(WEATHER,))

    assert [(made.name, dict(made.arguments)) for made in outcome.message.tool_calls] == calls
    assert len({made.call_id for made in outcome.message.tool_calls}) == len(calls)
    assert outcome.reply is not None
    assert outcome.reply.finish_reason == "tool_calls"
    streamed = {delta.call_id for delta in outcome.deltas if isinstance(delta, CallDelta)}
    assert streamed <= {made.call_id for made in outcome.message.tool_calls}


@pytest.mark.parametrize("name", ["tools-malformed", "tools-no-object"])
async def test_malformed_arguments_are_kept_and_no_failure(name: str):
    async with FakeOpenAI() as fake:
        outcome = await call(f"openai/{name}", fake.url)

    [made] = outcome.message.tool_calls
    assert made.malformed


async def test_calls_of_an_answer_cut_by_its_length_say_so():
    async with FakeOpenAI() as fake:
        outcome = await call("openai/tools-length", fake.url)

    assert outcome.reply is not None
    assert outcome.reply.finish_reason == "length"


FAILURES: list[tuple[str, FailureClass, int | None]] = [
    ("e400", "bad_request", 400),
    ("e400-context", "context_overflow", 400),
    ("e400-context-llama", "context_overflow", 400),
    ("e400-safety", "safety_filter", 400),
    ("e401", "invalid_key", 401),
    ("e402", "quota", 402),
    ("e403", "invalid_key", 403),
    ("e404", "model_unavailable", 404),
    ("e413", "bad_request", 413),
    ("e422", "bad_request", 422),
    ("e429", "rate_limit", 429),
    ("e429-quota", "quota", 429),
    ("e500", "provider_error", 500),
    ("e502-html", "provider_error", 502),
    ("e503", "model_unavailable", 503),
    ("e529", "model_unavailable", 529),
    ("html-200", "bad_response", None),
    ("empty", "bad_response", None),
    ("blank", "bad_response", None),
    ("length-thinking", "bad_response", None),
    ("think-unclosed", "bad_response", None),
    ("filter-empty", "safety_filter", None),
    ("eof", "bad_response", None),
    ("eof-empty", "bad_response", None),
    ("eof-in-call", "bad_response", None),
    ("eof-after-call", "bad_response", None),
    ("bad-json", "bad_response", None),
    ("bad-utf8", "bad_response", None),
    ("error-in-stream", "model_unavailable", 529),
    ("drop", "network", None),
    ("drop-in-line", "network", None),
    ("hang", "timeout", None),
    ("stall", "timeout", None),
    ("pings", "timeout", None),
]


@pytest.mark.parametrize(("name", "failure", "status"), FAILURES)
async def test_every_fault_is_one_failure_in_words_after_one_request(
    name: str, failure: FailureClass, status: int | None, route: str
):
    if name == "error-in-stream" and route == "direct":
        status = 503  # as it was sent, which LiteLLM's call forgets
    async with FakeOpenAI() as fake:
        outcome = await call(f"openai/{name}", fake.url, idle_timeout=1.5 if failure == "timeout" else 60)
        hits = fake.seen.hits[name]

    assert outcome.failure is not None
    assert outcome.failure.failure == failure
    assert outcome.failure.status == status
    assert hits == 1
    text = outcome.failure.text
    assert text[0].isupper()
    assert not any(word in text for word in ("litellm", "Exception", "Traceback", "Error:", SECRET[:6]))


async def test_a_refused_key_is_named_by_the_variable_it_came_from():
    async with FakeOpenAI() as fake:
        outcome = await call("openai/e401", fake.url)

    assert "the key in OPENAI_API_KEY" in outcome.text


async def test_a_rate_limit_says_how_long_to_wait():
    async with FakeOpenAI() as fake:
        outcome = await call("openai/e429", fake.url)

    assert outcome.failure is not None
    assert outcome.failure.retry_after == 2


async def test_nobody_at_the_address_is_a_network_failure():
    async with FakeOpenAI() as fake:
        url = fake.url
    outcome = await call("openai/ok", url)

    assert outcome.failure is not None
    assert outcome.failure.failure == "network"


async def test_usage_is_read_with_its_cached_and_reasoning_tokens():
    async with FakeOpenAI() as fake:
        outcome = await call("openai/ok", fake.url)

    assert outcome.reply is not None
    assert outcome.reply.usage == Usage(input_tokens=11, output_tokens=7, cached_tokens=4, reasoning_tokens=3)


async def test_usage_that_nobody_sent_is_marked_as_estimated():
    async with FakeOpenAI() as fake:
        outcome = await call("openai/no-usage", fake.url)

    assert outcome.reply is not None
    assert outcome.reply.usage.estimated
    assert outcome.reply.usage.output_tokens > 0


async def test_what_is_sent_is_what_was_asked():
    image = ImagePart(artifact="a1", media_type="image/png")
    async with FakeOpenAI() as fake:
        await call("openai/ok", fake.url, user_message("look", image), tools=(WEATHER,), artifacts={"a1": picture()})
        sent, headers = fake.seen.last, fake.seen.headers[-1]

    assert sent["messages"][0]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert sent["tools"][0]["function"]["parameters"] == WEATHER.parameters
    assert sent["max_tokens"] == 4096
    assert headers["Authorization"] == f"Bearer {SECRET}"


async def test_a_turn_with_tools_goes_back_as_it_came():
    async with FakeOpenAI() as fake:
        first = (await call("openai/tools-duplicate-ids", fake.url, tools=(WEATHER,))).message
        results = [
            Message.of_result(ToolResult(call_id=made.call_id, name=made.name, parts=(TextPart(text="42"),)))
            for made in first.tool_calls
        ]
        await call("openai/ok", fake.url, user_message("hi"), first, *results, tools=(WEATHER,))
        sent = fake.seen.last["messages"]

    ids = [made["id"] for made in sent[1]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [message["tool_call_id"] for message in sent[2:]] == ids


async def test_lm_studio_is_reached_through_the_same_protocol_without_a_key():
    async with FakeOpenAI() as fake:
        outcome = await call("lmstudio/ok", fake.url)

    assert outcome.message.text == "Hello world"


@pytest.mark.parametrize("name", ["text-100000-5", "hang"])
async def test_a_cancelled_call_closes_the_connection(name: str):
    async with FakeOpenAI() as fake:
        task = asyncio.create_task(call(f"openai/{name}", fake.url))
        await fake.wait(lambda seen: seen.hits[name] == 1 and seen.streaming == 1)
        task.cancel()
        await fake.wait(lambda seen: seen.disconnects == 1)

        assert task.cancelled() or task.done()


async def test_closing_the_stream_closes_the_connection():
    async with FakeOpenAI() as fake:
        stream = model("openai/text-100000-5", fake.url).stream(
            ModelRequest("openai/text-100000-5", (user_message("hi"),))
        )
        await anext(stream)
        await stream.aclose()

        await fake.wait(lambda seen: seen.disconnects == 1)


async def test_a_full_buffer_does_not_starve_the_loop():
    lags: list[float] = []

    async def watch() -> None:
        while True:
            with at_work() as work:  # a machine that is busy with something else takes none of it
                await asyncio.sleep(0)
            lags.append(work.seconds)

    async with FakeOpenAI() as fake:
        await call("openai/buffered", fake.url)
        watcher = asyncio.create_task(watch())
        outcome = await call("openai/buffered", fake.url)
        watcher.cancel()

    assert outcome.message.text == markdown(20_000)
    assert max(lags) < 0.05


async def test_a_runaway_answer_is_cut():
    async with FakeOpenAI() as fake:
        outcome = await call("openai/one-huge-line", fake.url)

    assert outcome.reply is not None
    assert outcome.reply.finish_reason == "length"


async def test_litellm_still_tells_ended_streams_from_broken_ones():
    """The attribute that `reading.py` reads is internal: this is how we learn that it is gone."""
    litellm = await ensure_litellm()
    ends = {}
    async with FakeOpenAI() as fake:
        for name in ("ok", "eof"):
            stream = await litellm.acompletion(
                model=f"openai/{name}",
                messages=[{"role": "user", "content": "hi"}],
                stream=True,
                api_base=fake.base,
                api_key="none",
            )
            async for _ in stream:
                pass
            ends[name] = stream.received_finish_reason

    assert ends == {"ok": "stop", "eof": None}
