"""Files that go with a run: beside a Markdown review each tool call as JSON, code that was run, images and files."""

import mimetypes
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.domain.events import Entry, Event, FileChanged, MessageAdded, NodeEnded, NodeStarted, RunStarted, ToolReturned
from app.domain.messages import AppPart, FilePart, ImagePart, Message, Part, ToolResult
from app.domain.trace import CallView, call_views
from app.export.words import file_stem, json_bytes

CODE_TOOLS = {"execute_python": ("code", "py")}
"""Tools one of whose arguments is a program: which one, and the ending of its files."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class BesideFile:
    """A file that goes with a document."""

    path: str
    """Relative, of safe characters, with `/`."""
    content: bytes = b""
    """Empty where the content is an artifact."""
    artifact: str = ""
    """The sha256 of its content in the artifact store."""


def files_of_calls(calls: Sequence[CallView]) -> Iterator[BesideFile]:
    """`tool_calls/NN_name.json` for each call, and the program beside it where the call ran one."""
    for number, call in enumerate(calls, start=1):
        stem = call_stem(number, call)
        yield BesideFile(f"{stem}.json", json_bytes(_call_record(call), indent=2))
        if (path := code_path(number, call)) is not None:
            yield BesideFile(path, str(call.arguments[CODE_TOOLS[call.name][0]]).encode())


def code_path(number: int, call: CallView) -> str | None:
    """Where the program that the call ran is; `None` where it ran none."""
    argument, ending = CODE_TOOLS.get(call.name, ("", ""))
    program = call.arguments.get(argument)
    return f"{call_stem(number, call)}.{ending}" if isinstance(program, str) and program else None


def call_stem(number: int, call: CallView) -> str:
    """Where the files of the run's call of that number are, without their ending."""
    return f"tool_calls/{number:02d}_{file_stem(call.name, 'tool').replace('-', '_')}"


def _call_record(call: CallView) -> dict[str, object]:
    result = call.result
    return {
        "call_id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
        "malformed_arguments": call.malformed,
        "status": result.status if result else call.state,
        "result": [part.model_dump(mode="json") for part in result.parts] if result else None,
        "printed": call.printed,
        "traceback": call.traceback,
        "started_at": call.started_at.isoformat() if call.started_at else None,
        "ms": call.ms,
        "attempts": call.attempts,
        "edited": {edited.what: edited.was for edited in (call.edited_arguments, call.edited_result) if edited},
        "files_changed": [
            {"path": change.path, "before": change.before, "after": change.after} for change in call.changes
        ],
    }


def attachment_files(entries: Sequence[Entry]) -> dict[str, BesideFile]:
    """By artifact: `images/NN_name.ext` and `files/NN_name.ext` of what was said and returned in the run."""
    found: dict[str, BesideFile] = {}
    for part in attached_parts(entries):
        if part.artifact not in found:
            folder = "images" if isinstance(part, ImagePart) else "files"
            stem = file_stem(part.name.rsplit(".", 1)[0], folder[:-1])
            name = f"{folder}/{len(found) + 1:02d}_{stem}{_ending(part)}"
            found[part.artifact] = BesideFile(name, artifact=part.artifact)
    return found


def attached_parts(entries: Iterable[Entry]) -> Iterator[ImagePart | FilePart]:
    """The images and files of the run's messages and results, in order."""
    for entry in entries:
        if isinstance(entry.event, RunStarted):
            for message in entry.event.history:
                yield from _attached(message)
        if isinstance(entry.event, MessageAdded):
            yield from _attached(entry.event.message)
    for call in call_views(entries).values():
        yield from attachments_of(call.result.parts if call.result else ())


def _attached(message: Message) -> Iterator[ImagePart | FilePart]:
    for part in message.parts:
        yield from attachments_of(part.parts if part.type == "tool_result" else (part,))


def attachments_of(parts: Iterable[Part]) -> Iterator[ImagePart | FilePart]:
    return (part for part in parts if isinstance(part, ImagePart | FilePart))


def _ending(part: ImagePart | FilePart) -> str:
    """The ending of its media type; of a type that nobody knows `.bin`."""
    return mimetypes.guess_extension(part.media_type.partition(";")[0].strip()) or ".bin"


def artifacts_of(entries: Sequence[Entry]) -> list[str]:
    """The sha256 of what the run refers to, each once, as the run names them; what is no digest is no artifact."""
    named = (digest for entry in entries for digest in _of_event(entry.event))
    return list(dict.fromkeys(digest for digest in named if _DIGEST.fullmatch(digest)))


def _of_event(event: Event) -> Iterator[str]:
    match event:
        case RunStarted(history=history, files=files):
            yield from files.values()
            for message in history:
                yield from artifacts_of_parts(message.parts)
        case MessageAdded(message=message):
            yield from artifacts_of_parts(message.parts)
        case ToolReturned(result=result):
            yield from artifacts_of_parts(result.parts)
        case NodeStarted(whole=whole) | NodeEnded(whole=whole) if whole is not None:
            yield whole.artifact
        case FileChanged(before=before, after=after):
            yield from (digest for digest in (before, after) if digest)
        case _:
            return


def artifacts_of_parts(parts: Iterable[Part]) -> Iterator[str]:
    """The sha256 of what these parts refer to."""
    for part in parts:
        if isinstance(part, ImagePart | FilePart | AppPart):
            yield from (part.artifact, part.given) if isinstance(part, AppPart) else (part.artifact,)
        elif isinstance(part, ToolResult):
            yield from artifacts_of_parts(part.parts)
