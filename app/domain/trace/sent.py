"""The conversation as it was sent to the model: without what was left out of it for being too long."""

from collections.abc import Iterable, Mapping, Sequence

from app.domain.events import ContextTrimmed, Entry, LeftOut, ModelCalled
from app.domain.messages import (
    FilePart,
    ImagePart,
    Message,
    ResultPart,
    SentKey,
    TextPart,
    ToolResult,
    sent_key,
    sent_words,
)
from app.domain.trace.conversation import conversation


def sent_conversation(entries: Sequence[Entry]) -> list[Message]:
    """History and messages in order, as the model is sent them next: the last `ContextTrimmed` still holds."""
    messages = conversation(entries)
    how = {one.message: one.how for one in left_out_of(entries)}
    if not how:
        return messages
    return list(shortened(messages, how))


def how_sent(entries: Iterable[Entry]) -> dict[SentKey, str]:
    """In words, how each file and picture went along when it was first sent."""
    found: dict[SentKey, str] = {}
    for entry in entries:
        for fact in entry.event.attachments if isinstance(entry.event, ModelCalled) else ():
            found.setdefault(sent_key(fact), sent_words(fact))
    return found


def left_out_of(entries: Sequence[Entry]) -> tuple[LeftOut, ...]:
    """What of the conversation is not sent any more, by place in the whole of it."""
    return next((entry.event.left_out for entry in reversed(entries) if isinstance(entry.event, ContextTrimmed)), ())


def shortened(messages: Iterable[Message], how: Mapping[int, str]) -> Iterable[Message]:
    """The messages that stay, results that were left out as stubs."""
    for place, message in enumerate(messages):
        match how.get(place):
            case "dropped":
                pass
            case "stub":
                yield stub(message)
            case _:
                yield message


def stub(message: Message) -> Message:
    """The tool message with what came out replaced by how much it was; a text kept as a file can still be read."""
    parts = tuple(_stub(part) if isinstance(part, ToolResult) else part for part in message.parts)
    return message.model_copy(update={"parts": parts})


def _stub(result: ToolResult) -> ToolResult:
    files: list[ResultPart] = [part for part in result.parts if isinstance(part, FilePart)]
    images = sum(isinstance(part, ImagePart) for part in result.parts)
    size = f"{len(result.text):,} characters" + (f" and {images} image{'s' * (images > 1)}" if images else "")
    said = TextPart(text=f"[result left out: {size}]")
    return result.model_copy(update={"parts": (said, *files)})
