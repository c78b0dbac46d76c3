"""A real model chooses a tool and its arguments, behind the same port as every other."""

import pytest

from app.domain.messages import Message, TextPart, ToolResult, user_message
from app.domain.streaming import CallDelta, ModelRequest, Reply
from app.domain.tools import ToolSpec
from app.tools.builtin.calculator import calculator
from tests.fakes.needle import NeedleModel, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "it is here")

WEATHER = ToolSpec(
    name="get_weather",
    description="Get the current weather in a city",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


async def test_a_small_real_model_chooses_a_tool_and_fills_in_its_arguments():
    request = ModelRequest(
        "needle/local", (user_message("What is the weather in Paris?"),), tools=(calculator.spec, WEATHER)
    )
    items = [item async for item in NeedleModel().stream(request)]

    reply = items[-1]
    assert isinstance(reply, Reply)
    assert reply.finish_reason == "tool_calls"
    [call] = reply.message.tool_calls
    assert call.name == "get_weather"
    assert "paris" in str(call.arguments["city"]).lower()
    assert [item.call_id for item in items if isinstance(item, CallDelta)] == [call.call_id]

    result = ToolResult(call_id=call.call_id, name=call.name, parts=(TextPart(text="18 °C and sunny"),))
    conversation = (*request.messages, reply.message, Message.of_result(result))
    answers = [item async for item in NeedleModel().stream(ModelRequest("needle/local", conversation))]
    assert isinstance(answers[-1], Reply)
    assert "18 °C" in answers[-1].message.text
