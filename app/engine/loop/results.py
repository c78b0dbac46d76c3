"""Results too big for a model: kept whole beside the conversation, which gets their beginning and a way to the rest."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Sequence

from app.domain.errors import ToolError
from app.domain.events import Event, FileChanged, MessageAdded, NodeEnded, RunStarted, ToolReturned
from app.domain.messages import FilePart, ImagePart, Message, Part, ResultPart, TextPart, ToolResult
from app.engine.ports import Artifacts, Clean

BIG = 20_000
"""Bytes of text in one result above which the model gets the beginning only."""
HEAD = 4_000
"""Characters of the beginning."""
READER = "read_result"
"""The tool that reads the rest."""
SHORT_RESULTS = frozenset({READER, "calculator", "write_file", "edit_file"})
"""Tools whose results are never big, so that an agent with no others needs no reader."""
SHORTEST_REF, SHOWN_REF = 12, 16
"""Digits of a sha256 that name an artifact, and that are told to the model."""
MOST_REFS = 20


def wants_reader(names: Collection[str]) -> bool:
    """Whether an agent with these tools can get a result that is too big."""
    return not SHORT_RESULTS.issuperset(names)


def whole_name(tool: str) -> str:
    """What the file is called that has all of what the tool returned."""
    return f"{tool}-result.txt"


async def offload_large_result(
    parts: tuple[ResultPart, ...], artifacts: Artifacts, *, filename: str, clean: Clean | None = None
) -> tuple[ResultPart, ...]:
    """The parts as they are, or with all text as an artifact of that name, of which only the beginning is said."""
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    if not _is_big(texts):
        return parts
    text = "\n".join(texts)
    content = await asyncio.to_thread(text.encode)
    digest = await artifacts.put(content, clean=clean)
    whole = FilePart(artifact=digest, media_type="text/plain", filename=filename, size=len(content))
    others = (part for part in parts if not isinstance(part, TextPart))
    return (TextPart(text=_beginning(text, whole)), whole, *others)


def resolve_ref(ref: str, named: Iterable[str]) -> str:
    """The digest that `ref`, its first 12 or more digits, means among those named. Raises `ToolError`."""
    known = set(named)
    found = [digest for digest in known if digest.startswith(ref)] if len(ref) >= SHORTEST_REF else []
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted(digest[:SHOWN_REF] for digest in known)[:MOST_REFS]) or "none yet"
    raise ToolError(f"No result or file of this session is called {ref!r}. There are: {names}.")


def named_in(events: Iterable[Event]) -> Iterator[str]:
    """The digests of all artifacts that messages, results and files name."""
    for event in events:
        match event:
            case RunStarted(history=history, files=files):
                yield from files.values()
                for message in history:
                    yield from _named(message.parts)
            case MessageAdded(message=Message(parts=parts)):
                yield from _named(parts)
            case ToolReturned(result=result):
                yield from _named((result,))
            case FileChanged(after=str() as digest):
                yield digest
            case NodeEnded(whole=FilePart(artifact=digest)):
                yield digest
            case _:
                pass


def _named(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        match part:
            case FilePart(artifact=digest) | ImagePart(artifact=digest):
                yield digest
            case ToolResult(parts=inner):
                yield from _named(inner)
            case _:
                pass


def _is_big(texts: Sequence[str]) -> bool:
    characters = sum(len(text) for text in texts)
    if characters > BIG:
        return True
    return characters * 4 > BIG and sum(len(text.encode()) for text in texts) > BIG


def _beginning(text: str, whole: FilePart) -> str:
    ref = whole.artifact[:SHOWN_REF]
    return (
        f"{text[:HEAD]}\n[… the first {HEAD:,} of {len(text):,} characters ({whole.size:,} bytes). "
        f'All of it is kept: {READER}("{ref}", offset={HEAD}) reads on from here.]'
    )
