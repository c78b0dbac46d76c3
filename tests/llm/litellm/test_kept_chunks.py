"""What LiteLLM keeps of a long answer, and what it counts by that."""

from types import SimpleNamespace

import pytest

from app.domain.messages import user_message
from app.domain.streaming import ModelRequest, Reply
from app.llm.litellm.reading import LAST, LONGEST, join_kept
from app.llm.tokens import text_tokens
from tests.hostile_servers import echo
from tests.living import living
from tests.llm.calling import model


async def test_of_a_long_answer_few_chunks_are_kept_and_all_tokens_counted() -> None:
    said = "some words " * 2_000
    with echo() as address:
        request = ModelRequest("openai/echo", (user_message(said),))
        async for item in model("openai/echo", address.removesuffix("/v1")).stream(request):
            reply = item
    from litellm.types.utils import ModelResponseStream  # the app says how it behaves before it is loaded

    assert living(ModelResponseStream) < 100
    assert isinstance(reply, Reply) and reply.message.text == said
    assert reply.usage.output_tokens == pytest.approx((await text_tokens(said, "openai/x")).tokens, rel=0.01)


def chunk(**delta: object) -> SimpleNamespace:
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(**delta), finish_reason=None)])


def call(arguments: str, index: int, name: str | None = None) -> SimpleNamespace:
    function = SimpleNamespace(name=name, arguments=arguments)
    return chunk(content=None, tool_calls=[SimpleNamespace(id=name, index=index, function=function)])


def kept_of(chunks: list[SimpleNamespace]) -> list[SimpleNamespace]:
    stream = SimpleNamespace(chunks=[])
    for one in [*chunks, *[chunk()] * LAST]:
        stream.chunks.append(one)
        join_kept(stream)
    return stream.chunks[:-LAST]


def test_text_that_goes_on_becomes_one_and_thoughts_another() -> None:
    thoughts, text = ([chunk(**{name: "a"}) for _ in range(10)] for name in ("reasoning_content", "content"))
    thought, said = kept_of([*thoughts, *text])
    assert thought.choices[0].delta.reasoning_content == said.choices[0].delta.content == "a" * 10


def test_the_arguments_of_each_call_become_one() -> None:
    first, rest, other = kept_of([call("{", 0, "f"), *(call("1", 0) for _ in range(5)), call("2", 1)])
    assert first.choices[0].delta.tool_calls[0].function.arguments == "{"
    assert rest.choices[0].delta.tool_calls[0].function.arguments == "1" * 5
    assert other.choices[0].delta.tool_calls[0].index == 1


@pytest.mark.parametrize("other", [{"audio": "a"}, {"content": ["a"]}, {"content": "a", "images": ["a"]}])
def test_what_adds_more_than_text_stays_as_it_is(other: dict[str, object]) -> None:
    assert len(kept_of([chunk(**other) for _ in range(5)])) == 5


def test_no_chunk_grows_without_end() -> None:
    joined = kept_of([chunk(content="a" * 100) for _ in range(1_000)])
    assert max(len(one.choices[0].delta.content) for one in joined) <= LONGEST + 100
