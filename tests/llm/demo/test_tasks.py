"""The demo model hands tasks over where it is asked to, and tells what came of them."""

import json

import pytest

from app.domain.messages import ToolCall, ToolResult, user_message
from tests.llm.demo.conversation import calls_in, converse, reply_to, returned


def hand(call: ToolCall) -> ToolResult:
    if call.name == "spawn_task":
        return returned(call, f"id of {call.arguments['task']}")
    end = {"status": "completed", "answer": f"answer to {call.arguments['task_id']}", "files": ["/a.txt"]}
    return returned(call, json.dumps(end))


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("Spawn a task that calculates 12 * 7", ["calculate 12 * 7"]),
        ("please hand over a task: write a poem and read it", ["write a poem and read it"]),
        ("start a sub-task to list my files", ["list my files"]),
        (
            "Calculate 2+2 and write hello to /a.txt in parallel with sub-tasks",
            ["Calculate 2+2", "write hello to /a.txt"],
        ),
        ("spawn two tasks: add 1 + 2; say hello", ["add 1 + 2", "say hello"]),
        ("Spawn a task that does the same", ["Spawn a task that does the same"]),
        ("Spawn a task that fails with rate limit", ["fail with rate limit"]),
    ],
)
async def test_each_task_is_handed_over_and_joined(text: str, tasks: list[str]):
    messages = await converse(text, tool=hand)

    calls = calls_in(messages)
    assert [arguments for name, arguments in calls if name == "spawn_task"] == [{"task": task} for task in tasks]
    assert [arguments for name, arguments in calls if name == "join_task"] == [
        {"task_id": f"id of {task}"} for task in tasks
    ]
    for task in tasks:
        assert f"answer to id of {task}" in messages[-1].text
    assert "It changed /a.txt." in messages[-1].text
    assert len([message for message in messages if message.role == "assistant"]) == 3


async def test_nobody_waits_for_a_task_that_is_to_go_on_by_itself():
    messages = await converse("Spawn a task that tells me a long story, without waiting for it", tool=hand)

    assert [name for name, _ in calls_in(messages)] == ["spawn_task"]
    assert "id of tell me a long story" in messages[-1].text and "Jobs" in messages[-1].text


async def test_another_agent_may_get_the_task():
    messages = await converse("Spawn a task that calculates 3 * 4 by agent math-tutor", tool=hand)

    assert calls_in(messages)[0] == ("spawn_task", {"task": "calculate 3 * 4", "agent": "math-tutor"})


async def test_an_agent_without_the_tool_says_so():
    reply = await reply_to([user_message("Spawn a task that adds 1 and 2")], tools=("calculator",))

    assert "`spawn_task`" in reply.message.text and not reply.message.tool_calls


async def test_a_task_that_may_not_be_started_is_told():
    def refuse(call: ToolCall) -> ToolResult:
        return returned(call, "too deep").model_copy(update={"status": "error"})

    assert "too deep" in (await converse("spawn a task to rest", tool=refuse))[-1].text


@pytest.mark.parametrize("text", ["Calculate 2+2 and 3+3 in parallel", "My task is to rest", "What is a task?"])
async def test_other_words_hand_nothing_over(text: str):
    reply = await reply_to([user_message(text)])

    assert not any(call.name == "spawn_task" for call in reply.message.tool_calls)
