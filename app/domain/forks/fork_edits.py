"""A trace with the edits of a fork in it: the same entries, some of them with other words, arguments or results."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from pydantic import JsonValue

from app.domain.edits import Edit, EditedArguments, EditedMessage, EditedResult
from app.domain.errors import NotFound, WorkbenchError
from app.domain.events import Entry, Event, MessageAdded, ToolReturned
from app.domain.messages import Message, Part, TextPart, ToolCall, ToolResult

NAMES = {
    "run_started": "the beginning of the run",
    "tool_called": "a tool call: give its `call_id` and other `arguments`",
    "tool_returned": "a tool result: give its `call_id` and another `text`",
}


def edited(entries: Sequence[Entry], edits: Iterable[Edit]) -> list[Entry]:
    """The trace as it would be with these edits. Raises `WorkbenchError` for an edit that fits nothing in it."""
    changed = list(entries)
    done: set[tuple[str, int | str]] = set()
    for edit in edits:
        target = (edit.type, edit.seq if isinstance(edit, EditedMessage) else edit.call_id)
        if target in done:
            raise WorkbenchError(f"The {edit.type} of {target[1]!r} is edited twice. Leave one of the edits out.")
        done.add(target)
        _apply(changed, edit)
    return changed


def places(entries: Sequence[Entry], edited_entries: Sequence[Entry]) -> tuple[int, ...]:
    """Where the two differ."""
    return tuple(one.seq for one, other in zip(entries, edited_entries, strict=True) if one.event is not other.event)


def place(entries: Sequence[Entry], edit: Edit) -> int:
    """Where what is edited was said or asked for. Raises `NotFound` for a call that was not."""
    return edit.seq if isinstance(edit, EditedMessage) else asking(entries, edit.call_id)


def asking(entries: Sequence[Entry], call_id: str) -> int:
    """The place of the message that asks for that call; raises `NotFound`."""
    for entry in entries:
        match entry.event:
            case MessageAdded(message=message) if any(call.call_id == call_id for call in message.tool_calls):
                return entry.seq
            case _:
                pass
    raise NotFound(f"This run asked for no call {call_id!r}, so it cannot be edited.")


def _apply(entries: list[Entry], edit: Edit) -> None:
    match edit:
        case EditedMessage(seq=seq, text=text):
            added = _message_at(entries, seq)
            _replace(entries, seq, added.model_copy(update={"message": _with_text(added.message, text)}))
        case EditedArguments(call_id=call_id, arguments=arguments):
            place = asking(entries, call_id)
            added = _message_at(entries, place)
            _replace(entries, place, added.model_copy(update={"message": _calling(added.message, call_id, arguments)}))
        case EditedResult(call_id=call_id):
            asking(entries, call_id)
            for entry in entries:
                if isinstance(entry.event, ToolReturned) and entry.event.call_id == call_id:
                    _replace(entries, entry.seq, with_result(entry.event, edit))
        case _:
            assert_never(edit)


def with_result(returned: ToolReturned, edit: EditedResult) -> ToolReturned:
    """The end of a call with what a person wrote in place of what it gave."""
    parts = (TextPart(text=edit.text),)
    result = ToolResult(call_id=edit.call_id, name=returned.result.name, status=edit.status, parts=parts)
    return returned.model_copy(update={"result": result, "traceback": "", "printed": ""})


def _message_at(entries: Sequence[Entry], seq: int) -> MessageAdded:
    if not 0 <= seq < len(entries):
        raise WorkbenchError(f"There is no entry {seq} to edit: this run has the entries 0 to {len(entries) - 1}.")
    event = entries[seq].event
    if isinstance(event, MessageAdded):
        return event
    words = NAMES.get(event.type, "no message but " + event.type.replace("_", " "))
    raise WorkbenchError(f"Entry {seq} cannot be edited as a message, it is {words}.")


def _replace(entries: list[Entry], seq: int, event: Event) -> None:
    entries[seq] = entries[seq].model_copy(update={"event": event})


def _with_text(message: Message, text: str) -> Message:
    """The message with one text; attachments, reasoning and calls stay where they are."""
    first = next((place for place, part in enumerate(message.parts) if isinstance(part, TextPart)), None)
    if first is None:
        first = next((place for place, part in enumerate(message.parts) if isinstance(part, ToolCall)), 0)
    before = [part for part in message.parts[:first] if not isinstance(part, TextPart)]
    after = [part for part in message.parts[first:] if not isinstance(part, TextPart)]
    return message.model_copy(update={"parts": (*before, TextPart(text=text), *after)})


def _calling(message: Message, call_id: str, arguments: dict[str, JsonValue]) -> Message:
    def other(part: Part) -> Part:
        if not isinstance(part, ToolCall) or part.call_id != call_id:
            return part
        return part.model_copy(update={"arguments": arguments, "malformed": None})

    return message.model_copy(update={"parts": tuple(other(part) for part in message.parts)})
