"""The artifacts that a run refers to."""

import re
from collections.abc import Iterable, Iterator, Sequence

from app.domain.events import Entry, Event, FileChanged, MessageAdded, RunStarted, ToolReturned
from app.domain.messages import AppPart, FilePart, ImagePart, Part, ToolResult

_DIGEST = re.compile(r"[0-9a-f]{64}")


def artifacts_of(entries: Sequence[Entry]) -> list[str]:
    """Their sha256, each once, in the order in which the run names them; what is no digest is no artifact."""
    named = (digest for entry in entries for digest in _of_event(entry.event))
    return list(dict.fromkeys(digest for digest in named if _DIGEST.fullmatch(digest)))


def _of_event(event: Event) -> Iterator[str]:
    match event:
        case RunStarted(history=history, files=files):
            yield from files.values()
            for message in history:
                yield from _of_parts(message.parts)
        case MessageAdded(message=message):
            yield from _of_parts(message.parts)
        case ToolReturned(result=result):
            yield from _of_parts(result.parts)
        case FileChanged(before=before, after=after):
            yield from (digest for digest in (before, after) if digest)
        case _:
            return


def _of_parts(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, ImagePart | FilePart | AppPart):
            yield part.artifact
        elif isinstance(part, ToolResult):
            yield from _of_parts(part.parts)
