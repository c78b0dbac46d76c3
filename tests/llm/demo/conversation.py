"""Talks with the demo model the way the engine does, with the real built-in calculator and acted-out other tools."""

from collections.abc import Callable

from app.domain.messages import Message, TextPart, ToolCall, ToolResult, user_message
from app.domain.streaming import ModelRequest, Reply
from app.domain.tools import ToolSpec
from app.llm.demo.model import DemoModel
from app.tools.builtin.calculator import calculated

TOOLS = (
    *("calculator", "execute_python", "read_file", "write_file", "edit_file", "list_files"),
    *("spawn_task", "join_task"),
)
Act = Callable[[ToolCall], ToolResult]


def specs(*names: str) -> tuple[ToolSpec, ...]:
    return tuple(ToolSpec(name=name, description="", parameters={}) for name in names)


def returned(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call_id=call.call_id, name=call.name, parts=(TextPart(text=text),))


def act(call: ToolCall) -> ToolResult:
    if call.name != "calculator":
        return returned(call, f"{call.name} did its work")
    operation, x, y = (call.arguments[name] for name in ("operation", "x", "y"))
    return returned(call, calculated(operation, x, y))


async def reply_to(messages: list[Message], tools: tuple[str, ...] = TOOLS) -> Reply:
    request = ModelRequest("demo/agent", tuple(messages), tools=specs(*tools))
    items = [item async for item in DemoModel(pace=0).stream(request)]
    assert isinstance(items[-1], Reply)
    return items[-1]


async def converse(text: str, *, before: list[Message] | None = None, tool: Act = act) -> list[Message]:
    """The whole conversation after the user said `text`, up to the answer."""
    messages = [*(before or []), user_message(text)]
    for _ in range(20):
        reply = await reply_to(messages)
        messages.append(reply.message)
        if not reply.message.tool_calls:
            return messages
        messages += [Message.of_result(tool(call)) for call in reply.message.tool_calls]
    raise AssertionError(f"{text!r} did not come to an end")


def calls_in(messages: list[Message]) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, dict(call.arguments)) for message in messages for call in message.tool_calls]
