"""What can be searched for in a run: everything said, called, given back and gone wrong, each with its place."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.domain.events import (
    ChildStarted,
    Entry,
    Event,
    MessageAdded,
    ModelFailed,
    NodeEnded,
    NodeStarted,
    PauseRequested,
    PauseResolved,
    RunFinished,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import (
    AppPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from app.domain.trace.nodes import text_of
from app.domain.trace.usage import own_entries


@dataclass(frozen=True, slots=True)
class Passage:
    """A text of a run."""

    seq: int
    """The entry that holds it."""
    place: str
    """Where that is, in a word or two: `Answer`, `Result of calculator`."""
    text: str


def said(entries: Sequence[Entry]) -> Iterator[Passage]:
    """The passages of a run in their order, each text once; of a fork, what came after its copied prefix."""
    seen: set[str] = set()
    for entry in own_entries(entries):
        for place, text in _texts(entry.event):
            if text.strip() and text not in seen:
                seen.add(text)
                yield Passage(entry.seq, place, text)


def _texts(event: Event) -> Iterator[tuple[str, str]]:
    match event:
        case MessageAdded(message=message):
            yield from _of_message(message)
        case ToolCalled(name=name, arguments=arguments):
            yield f"Call of {name}", _call_text(name, arguments)
        case ToolReturned(result=result, printed=printed, traceback=traceback):
            yield from _of_result(result)
            yield f"Printed by {result.name}", printed
            yield f"Error in {result.name}", traceback
        case ModelFailed(text=text):
            yield "Error", text
        case PauseRequested(question=question):
            yield "Question", question
        case PauseResolved(note=note):
            yield "Decision", note
        case ChildStarted(child_run_id=child):
            yield "Task", child
        case NodeStarted(node=node, inputs=inputs):
            for name, value in inputs.items():
                yield f"{name} for {node}", _plain(value)
        case NodeEnded(node=node, output=output, error=error):
            yield f"Output of {node}", text_of(output)
            yield f"Error in {node}", error.text if error else ""
        case RunFinished(error=error) if error is not None:
            yield "Error", error.text
            yield "Error", error.traceback
        case _:
            pass


def _of_message(message: Message) -> Iterator[tuple[str, str]]:
    place = "Request" if message.role == "user" else "Answer"
    for part in message.parts:
        yield from _of_part(place, part)


def _of_part(place: str, part: Part) -> Iterator[tuple[str, str]]:
    match part:
        case TextPart(text=text):
            yield place, text
        case ReasoningPart(text=text):
            yield "Reasoning", text
        case ToolCall(name=name, arguments=arguments, malformed=malformed):
            yield f"Call of {name}", _call_text(name, arguments)
            yield f"Call of {name}", malformed or ""
        case ToolResult():
            yield from _of_result(part)
        case ImagePart() | FilePart():
            yield "File", part.name
        case AppPart(uri=uri):
            yield "View", uri


def _of_result(result: ToolResult) -> Iterator[tuple[str, str]]:
    for part in result.parts:
        yield from _of_part(f"Result of {result.name}", part)


def _call_text(name: str, arguments: Mapping[str, JsonValue]) -> str:
    """The call as a person would write it; texts among the arguments stand as they are."""
    return f"{name}({', '.join(f'{key}={_plain(value)}' for key, value in arguments.items())})"


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
