"""The messages of a run, as the model is sent them."""

from collections.abc import Iterable, Iterator

from app.domain.events import Entry, MessageAdded, RunResumed, RunStarted, ToolReturned
from app.domain.messages import Message, TextPart, ToolCall, ToolResult


def conversation(entries: Iterable[Entry]) -> list[Message]:
    """History and messages in order, without the system prompt.

    The results of an assistant message follow it in the order of its calls, whenever they came in; a call without a
    result (the run was cut off there) is answered as cancelled, since providers refuse an unanswered one. Words that
    the end of the app cut off are left out where the run went on: their call is made again, and some providers refuse
    to write on at words of their own.
    """
    messages: list[Message] = []
    results: dict[str, ToolResult] = {}
    asked: tuple[ToolCall, ...] = ()
    for entry in entries:
        match entry.event:
            case RunStarted(history=history):
                messages.extend(history)
            case ToolReturned(result=result):
                results[result.call_id] = result
            case MessageAdded(message=message):
                messages.extend(_answers(asked, results))
                asked = message.tool_calls
                messages.append(message)
            case RunResumed() if messages and messages[-1].partial:
                messages.pop()
            case _:
                pass
    messages.extend(_answers(asked, results))
    return messages


def _answers(asked: Iterable[ToolCall], results: dict[str, ToolResult]) -> Iterator[Message]:
    for call in asked:
        result = results.pop(call.call_id) if call.call_id in results else never_answered(call)
        yield Message.of_result(result)


def never_answered(call: ToolCall) -> ToolResult:
    """The result of a call that was asked for and never ran to its end."""
    text = TextPart(text="This call was cancelled before it finished.")
    return ToolResult(call_id=call.call_id, name=call.name, status="cancelled", parts=(text,))
