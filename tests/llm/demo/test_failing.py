"""What a newcomer types to see something go wrong."""

import pytest

from app.domain.errors import FailureClass, ModelFailure
from app.domain.messages import Message, TextPart, ToolCall, ToolResult, user_message
from app.domain.streaming import CallDelta, ModelRequest
from app.llm.demo.model import DemoModel
from tests.llm.demo.conversation import calls_in, converse, reply_to, returned, specs


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("fail with rate limit", "rate_limit"),
        ("fail with an invalid key error", "invalid_key"),
        ("Simulate a server error", "provider_error"),
        ("Fail with model_unavailable!", "model_unavailable"),
        ("fail with quota", "quota"),
        ("fail with a safety filter", "safety_filter"),
        ("fail with bad request", "bad_request"),
    ],
)
async def test_a_failure_is_understood_as_it_is_asked_for(text: str, failure: FailureClass):
    with pytest.raises(ModelFailure) as caught:
        await converse(text)

    assert caught.value.failure == failure
    assert "acted this out" in caught.value.text


@pytest.mark.parametrize("text", ["give me 500 words", "pretend to be a network engineer", "show me 404 + 3"])
async def test_other_wishes_do_not_fail(text: str):
    assert (await converse(text))[-1].text


async def test_a_call_that_is_cut_off_is_never_made():
    items = []
    with pytest.raises(ModelFailure) as caught:
        async for item in DemoModel(0).stream(
            ModelRequest("demo/agent", (user_message("get cut off in a tool call"),), tools=specs("calculator"))
        ):
            items.append(item)

    assert caught.value.failure == "bad_response"
    assert any(isinstance(item, CallDelta) for item in items)


def unknown(call: ToolCall) -> ToolResult:
    text = f"There is no tool named {call.name!r}."
    return ToolResult(call_id=call.call_id, name=call.name, status="unknown", parts=(TextPart(text=text),))


@pytest.mark.parametrize(
    "text", ["call delete_everything", "Please call the tool delete_everything", "Use `delete_everything`."]
)
async def test_a_tool_is_called_by_its_name_even_when_there_is_none(text: str):
    messages = await converse(text, tool=unknown)

    assert calls_in(messages) == [("delete_everything", {})]
    assert "no tool `delete_everything`" in messages[-1].text


async def test_arguments_go_along_with_a_named_call():
    messages = await converse('call calculator with {"operation": "add", "x": 20, "y": 22}')

    assert calls_in(messages) == [("calculator", {"operation": "add", "x": 20, "y": 22})]
    assert "42" in messages[-1].text


async def test_a_denied_call_is_not_asked_for_again():
    def denied(call: ToolCall) -> ToolResult:
        return unknown(call).model_copy(update={"status": "denied"})

    messages = await converse("call delete_everything", tool=denied)

    assert len(calls_in(messages)) == 1
    assert "did not allow" in messages[-1].text


@pytest.mark.parametrize("text", ["loop", "Loop for ever", "get stuck in a loop"])
async def test_a_loop_never_ends_by_itself(text: str):
    messages = [user_message(text)]
    for _ in range(12):
        reply = await reply_to(messages)
        [call] = reply.message.tool_calls
        messages += [reply.message, Message.of_result(returned(call, "2"))]

    assert len({str(call) for call in calls_in(messages)}) == 1
