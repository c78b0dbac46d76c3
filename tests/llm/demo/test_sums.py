import pytest

from app.domain.messages import Message, ToolCall, ToolResult, user_message
from tests.llm.demo.conversation import calls_in, converse, reply_to, returned


def operations(messages: list[Message]) -> list[tuple[object, object, object]]:
    return [(arguments["operation"], arguments["x"], arguments["y"]) for _, arguments in calls_in(messages)]


async def test_a_chain_takes_a_thought_and_a_call_for_each_step_and_then_the_answer():
    messages = await converse("What is 5 + 10, then multiply by 3?")

    assert operations(messages) == [("add", 5, 10), ("multiply", 15, 3)]
    shapes = [(bool(message.reasoning), len(message.tool_calls), bool(message.text)) for message in messages[1::2]]
    assert shapes == [(True, 1, False), (True, 1, False), (False, 0, True)]
    assert "45" in messages[-1].text


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("12*7", "84"),
        ("(2+3)*4", "20"),
        ("5 + 10 = ?", "15"),
        ("What is 5 + 10? For room7 and ticket0042.", "15"),
        ("what's 10 / 4", "2.5"),
        ("What is 7 times 8 minus 6?", "50"),
        ("compute 2 + 3 * 4 - 1", "13"),
        ("-5 + 3", "-2"),
        ("3 x 4", "12"),
        ("6 × 7", "42"),
        ("10 ÷ 4", "2.5"),
        ("0.1 + 0.2", "0.3"),
        ("1,000 + 2.5", "1002.5"),
        ("2^8", "256"),
        ("2**8", "256"),
        ("what is 15% of 80", "12"),
        ("Start with 8, add 4, multiply by 2, then subtract 6", "18"),
        ("Take 100, divide it by 4 and then subtract 5", "20"),
        ("5+10, multiplied by 3", "45"),
        ("Hi! Could you please calculate (1.5 + 2.5) * -3 for me?", "-12"),
        ("think about 5 + 10", "15"),
        ("123456789 * 987654321", "121932631112635269"),
    ],
)
async def test_sums_are_understood_as_people_word_them(text: str, answer: str):
    messages = await converse(text)

    assert calls_in(messages)
    assert f"**{answer}**" in messages[-1].text


async def test_sums_in_parallel_are_two_calls_of_one_message():
    messages = await converse("calculate 2+2 and 3+3 in parallel")

    assert [len(message.tool_calls) for message in messages if message.role == "assistant"] == [2, 0]
    assert "**4**" in messages[-1].text
    assert "**6**" in messages[-1].text


async def test_chains_in_parallel_go_forward_side_by_side():
    messages = await converse("(1+2)*3 and (4+5)*6 at the same time")

    assert operations(messages) == [("add", 1, 2), ("add", 4, 5), ("multiply", 3, 3), ("multiply", 9, 6)]
    assert "**54**" in messages[-1].text


async def test_that_means_the_last_outcome_of_the_conversation():
    messages = await converse("What is 5 + 10?")

    messages = await converse("now multiply that by 2", before=messages)
    assert operations(messages)[-1] == ("multiply", 15, 2)
    messages = await converse("and minus 4?", before=messages)
    assert operations(messages)[-1] == ("subtract", 30, 4)


async def test_dividing_by_zero_is_explained_and_ends_the_chain():
    messages = await converse("what's 10 divided by 0, then add 5")

    assert operations(messages) == [("divide", 10, 0)]
    assert "divided by zero" in messages[-1].text


async def test_a_denied_call_ends_the_sum_in_words():
    def deny(call: ToolCall) -> ToolResult:
        return ToolResult(call_id=call.call_id, name=call.name, status="denied")

    messages = await converse("12*7", tool=deny)

    assert "did not allow" in messages[-1].text


async def test_calls_of_another_model_are_passed_over_in_a_forked_run():
    two = [ToolCall(call_id=name, name="web_search", arguments={}) for name in "ab"]
    before = [user_message("12*7"), Message(role="assistant", parts=tuple(two))]

    reply = await reply_to([*before, *(Message.of_result(returned(call, "found")) for call in two)])

    assert [call.name for call in reply.message.tool_calls] == ["calculator"]


async def test_a_missing_calculator_is_named():
    reply = await reply_to([user_message("12*7")], tools=("read_file",))

    assert not reply.message.tool_calls
    assert "`calculator`" in reply.message.text


@pytest.mark.parametrize(
    "text",
    ["I have 3 apples and 4 pears", "What happened on 2024-11-05?", "My number is 42", "(2 + ", "2 + + * 3", "$ + 1"],
)
async def test_what_is_no_sum_is_not_calculated(text: str):
    assert calls_in(await converse(text)) == []
