"""A tool that is called by its name, which the demo model knows nothing else of."""

import pytest

from app.domain.messages import Message, user_message
from app.domain.streaming import ModelRequest, Reply
from app.domain.tools import ToolSpec
from app.llm.demo.model import DemoModel
from tests.llm.demo.conversation import returned

COUNT = ToolSpec(
    name="orders__count",
    description="",
    parameters={"properties": {"text": {"type": "string"}, "what": {"type": "string"}}, "required": ["text"]},
)
CLOCK = ToolSpec(name="clock", description="", parameters={"properties": {}})


async def reply(*messages: Message) -> Message:
    request = ModelRequest("demo/agent", messages, tools=(COUNT, CLOCK))
    items = [item async for item in DemoModel(pace=0).stream(request)]
    assert isinstance(items[-1], Reply)
    return items[-1].message


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('Call orders__count with {"text": "a b", "what": "words"}', {"text": "a b", "what": "words"}),
        ('please use the tool `orders-count` with text="a = b" and what=lines', None),
        ("use orders__count with text=\"a = b\", what='lines' more=12", {"text": "a = b", "what": "lines", "more": 12}),
        ("call delete-all with text=ab", {"text": "ab"}),
        ('call delete-all with {"text": "x"}.', {"text": "x"}),
        ("call orders__count {not: JSON}", {}),
        ("use clock to wake me", None),
        ("use words", None),
    ],
)
async def test_a_named_tool_is_called_with_what_was_written(text: str, arguments: dict[str, object] | None) -> None:
    calls = (await reply(user_message(text))).tool_calls

    assert [dict(call.arguments) for call in calls] == ([] if arguments is None else [arguments])


async def test_a_tool_without_arguments_needs_no_words_and_its_result_is_shown() -> None:
    asked = user_message("Call clock.")
    called = await reply(asked)
    [call] = called.tool_calls

    answer = await reply(asked, called, Message.of_result(returned(call, "12:30")))

    assert call.name == "clock"
    assert "12:30" in answer.text
