"""Messages and their parts: what is said between user, agent, model and tools.

Pure values. Where and when a message was said is the trace's concern (`events`); a part that a provider wants back
unchanged keeps it in `provider_fields`, which only the model adapter reads.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue

from app.domain.apps import Domains
from app.domain.values import Text, Value, size

ProviderFields = dict[str, JsonValue]

ToolStatus = Literal["ok", "error", "timeout", "denied", "cancelled", "invalid", "unknown"]


class TextPart(Value):
    type: Literal["text"] = "text"
    text: Text


class ReasoningPart(Value):
    """What the model thought before it spoke, as far as its provider shows it."""

    type: Literal["reasoning"] = "reasoning"
    text: Text
    provider_fields: ProviderFields = {}
    """Signed or encrypted thinking that its provider must get back, in the provider's own shape."""


TOOL = "tool:"
Disposition = Annotated[str, Field(pattern=r"^(auto|inline|reference|native|tool:[A-Za-z0-9_.-]{1,128})$")]
"""How an attachment goes to a model: as the agent and the model have it (`auto`), within the message (`inline`), as a
file of the session that tools open (`reference`), as a file uploaded to the model's provider (`native`), or as a file
of the session that is meant for one tool (`tool:<name>`)."""
MediaPattern = Annotated[str, Field(pattern=r"^(\*|[a-z]+/[a-z0-9.+*-]{1,100})$")]
"""A media type, `image/*` for all of a family, or `*`."""
Dispositions = Mapping[MediaPattern, Disposition]
"""What an agent does with attachments that are `auto`, by their media type."""


class ImagePart(Value):
    type: Literal["image"] = "image"
    artifact: str
    """The sha256 of the image's bytes, its name in the artifact store."""
    media_type: str
    alt: str = ""
    path: str = ""
    """Where it is among the session's files; empty for one that is not."""
    disposition: Disposition = "auto"
    detail: bool = False
    """Whether it is sent larger than most, for what is small in it."""

    @property
    def name(self) -> str:
        return self.alt or "image"


class FilePart(Value):
    type: Literal["file"] = "file"
    artifact: str
    media_type: str
    filename: str
    size: int
    """Bytes."""
    path: str = ""
    """Where it is among the session's files; empty for one that is not."""
    disposition: Disposition = "auto"

    @property
    def name(self) -> str:
        return self.filename or "file"


Attachment = Annotated[ImagePart | FilePart, Field(discriminator="type")]
"""What a person may send along with a message."""


class SentAttachment(Value):
    """How one attachment went to the model in a call; what a provider calls its upload is nowhere in here."""

    artifact: str
    name: str
    disposition: Disposition = "auto"
    """As it was attached."""
    detail: bool = False
    how: Literal["inline", "native", "reference"]
    why: str = ""
    """Why it did not go as it was meant to, in a sentence; empty where it did."""
    media_type: str = ""
    """Of what was sent, which may be another one than what was attached; empty where only its name was."""
    size: int = 0
    """Bytes of what was sent."""
    width: int = 0
    height: int = 0
    """Pixels of the picture that was sent."""


def fallen_words(sent: SentAttachment) -> str:
    """That an attachment did not go as it was meant to, and why."""
    return f"“{sent.name}” went as a file of the session: {sent.why}."


def sent_words(sent: SentAttachment) -> str:
    """How it goes along, or went: pixels and bytes of what is sent, or why nothing is."""
    if sent.how == "reference":
        tool = sent.disposition.partition(":")[2]
        meant = f", for the tool {tool}" if tool else ""
        return f"A file of the session{meant}: {sent.why}" if sent.why else f"A file of the session{meant}"
    pixels = f"{sent.width:,} × {sent.height:,} px, " if sent.width else ""
    where = "Uploaded to the provider" if sent.how == "native" else "Sent inline"
    if sent.how == "inline" and sent.media_type == "text/plain":
        where = "Copied into the message"
    return f"{where}: {pixels}{size(sent.size)}"


SentKey = tuple[str, str, bool]
"""By which the attachments of a request are told apart: content, disposition and detail."""


def sent_key(part: ImagePart | FilePart | SentAttachment) -> SentKey:
    return part.artifact, part.disposition, not isinstance(part, FilePart) and part.detail


def disposition_of(part: ImagePart | FilePart, dispositions: Dispositions) -> str:
    """What was chosen for it, else what the agent does with its media type: the narrowest that fits."""
    if part.disposition != "auto":
        return part.disposition
    fitting = [pattern for pattern in dispositions if fnmatchcase(part.media_type, pattern)]
    return dispositions[max(fitting, key=len)] if fitting else "auto"


class ToolCall(Value):
    """A request of the model to call a tool."""

    type: Literal["tool_call"] = "tool_call"
    call_id: str
    name: Text
    arguments: dict[str, JsonValue] = {}
    malformed: Text | None = None
    """What the model wrote as arguments when it is no JSON object; the call is then never run."""
    provider_fields: ProviderFields = {}


class AppPart(Value):
    """An interactive view that a tool brought along (MCP Apps)."""

    type: Literal["app"] = "app"
    uri: str
    server: str
    artifact: str
    """The sha256 of its document; empty where `problem` says why there is none."""
    given: str = ""
    """The sha256 of what it is given: `{"tool": its definition, "result": all that the call returned}` as JSON; empty
    where the call was ended before it returned."""
    domains: Domains = Domains()
    """What it asks to reach, of which it gets what its server's owner allows."""
    refused_domains: int = 0
    """How many more it asks for that nobody can allow."""
    clipboard: bool = False
    """Whether it asks to write to the clipboard."""
    bordered: bool = True
    """Whether it wants to be told apart from what stands around it."""
    problem: Text = ""
    """Why its document could not be taken, in words."""


ResultPart = Annotated[TextPart | ImagePart | FilePart | AppPart, Field(discriminator="type")]


class ToolResult(Value):
    """What a tool call gave back to the model."""

    type: Literal["tool_result"] = "tool_result"
    call_id: str
    name: str
    status: ToolStatus = "ok"
    parts: tuple[ResultPart, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def failed(self) -> bool:
        return self.status != "ok"


Part = Annotated[
    TextPart | ReasoningPart | ImagePart | FilePart | ToolCall | ToolResult | AppPart,
    Field(discriminator="type"),
]

Role = Literal["system", "user", "assistant", "tool"]


class Message(Value):
    role: Role
    parts: tuple[Part, ...]
    model: str = ""
    """The `provider/model` that wrote it; its provider fields go back to that provider only."""
    partial: bool = False
    """True when it was cut off: stopped, steered away from, or broken off by the provider."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def reasoning(self) -> str:
        return "\n\n".join(part.text for part in self.parts if isinstance(part, ReasoningPart) and part.text)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def attachments(self) -> tuple[ImagePart | FilePart, ...]:
        """What was sent along with the words, in order."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart | FilePart))

    @property
    def headline(self) -> str:
        """Its text, or where there is none what is attached, by name."""
        return self.text if self.text.strip() else ", ".join(part.name for part in self.attachments)

    @classmethod
    def of_result(cls, result: ToolResult) -> Self:
        return cls(role="tool", parts=(result,))


def has_attachments(message: Message) -> bool:
    """Whether somebody sent files or pictures with it, or a tool returned such."""
    parts = (inner for part in message.parts for inner in (part.parts if isinstance(part, ToolResult) else (part,)))
    return any(isinstance(part, ImagePart | FilePart) for part in parts)


def user_message(text: str, *attachments: ImagePart | FilePart) -> Message:
    """What a person says; attachments may go without words."""
    words = () if attachments and not text.strip() else (TextPart(text=text),)
    return Message(role="user", parts=(*words, *attachments))


def system_message(text: str) -> Message:
    return Message(role="system", parts=(TextPart(text=text),))


class Usage(Value):
    """Tokens of one model call, or a sum of several."""

    input_tokens: int = 0
    """All of the prompt, cached parts included."""
    output_tokens: int = 0
    """All of the answer, reasoning included."""
    cached_tokens: int = 0
    """Of the input: read from the provider's cache."""
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    """Of the output: spent on thinking."""
    estimated: bool = False
    """True when the provider named no usage and it was counted here."""

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            estimated=self.estimated or other.estimated,
        )


FinishReason = Literal["stop", "tool_calls", "length", "content_filter"]
