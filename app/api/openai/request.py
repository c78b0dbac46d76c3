"""What a client of OpenAI asks: https://platform.openai.com/docs/api-reference/chat/create

An agent is more than a model, so not all of it means something here. Told clearly: what would make the answer another
one than the client counts on is refused. Passed over: what only tunes a model (`temperature`, `top_p`, `seed`,
`max_tokens`, penalties, `reasoning_effort`, `user`, `metadata`, …), since the agent's variant decides on that.
"""

from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from app.api.openai.errors import OpenAiError, unsupported
from app.domain.values import Text

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]
SYSTEM: tuple[Role, ...] = ("system", "developer")
"""Who sets how the agent is to answer."""
PartType = Literal["text", "refusal", "image_url", "input_audio", "file"]


class ImageUrl(BaseModel):
    url: Text


class FileData(BaseModel):
    file_data: Text | None = None
    file_id: Text | None = None
    filename: Text = ""


class ContentPart(BaseModel):
    type: PartType
    text: Text = ""
    refusal: Text = ""
    image_url: ImageUrl | None = None
    file: FileData | None = None


class ChatMessage(BaseModel):
    role: Role
    content: Text | list[ContentPart] | None = None
    tool_calls: list[JsonValue] | None = None
    function_call: JsonValue = None

    @property
    def parts(self) -> list[ContentPart]:
        if isinstance(self.content, str):
            return [ContentPart(type="text", text=self.content)]
        return self.content or []

    @property
    def text(self) -> str:
        """Its words, without what is attached."""
        return "\n".join(part.text or part.refusal for part in self.parts if part.type in ("text", "refusal"))


class StreamOptions(BaseModel):
    include_usage: bool | None = None


class CompletionRequest(BaseModel):
    """A conversation so far, for an agent to go on with."""

    model_config = ConfigDict(extra="allow")

    model: Text = Field(max_length=200)
    messages: list[ChatMessage] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None

    @property
    def include_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


def read(body: bytes) -> CompletionRequest:
    """The request; raises `OpenAiError` that names what does not fit, or is not there for agents."""
    try:
        wanted = CompletionRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:200]
        raise OpenAiError(f"{place or 'The body'}: {first['msg']}.", param=place or None) from None
    _check_fields(wanted)
    _check_messages(wanted.messages)
    return wanted


_AGENTS_OWN = "The agent calls the tools of its own by itself; tools of the client cannot be called. Leave {0!r} out."
_NO_SOUND = "Agents answer in text only. Leave {0!r} out."
_NO_ODDS = "Agents do not tell how likely their words were. Leave {0!r} out."
_SCHEMA = "The form of the answer is set in the agent's editor, as its output schema. Leave {0!r} out."


def _is_text(value: JsonValue) -> bool:
    return value in (["text"], {"type": "text"})


def _never(_: JsonValue) -> bool:
    return False


_REFUSED: dict[str, tuple[str, Callable[[JsonValue], bool]]] = {
    "tools": (_AGENTS_OWN, _never),
    "functions": (_AGENTS_OWN, _never),
    "audio": (_NO_SOUND, _never),
    "modalities": (_NO_SOUND, _is_text),
    "logprobs": (_NO_ODDS, _never),
    "top_logprobs": (_NO_ODDS, _never),
    "response_format": (_SCHEMA, _is_text),
    "stop": ("The agent decides where its answer ends. Leave {0!r} out.", _never),
    "logit_bias": ("The agent chooses its words by itself. Leave {0!r} out.", _never),
    "prediction": ("Agents take no predicted answer. Leave {0!r} out.", _never),
    "web_search_options": (_AGENTS_OWN, _never),
}
"""By field: why it is refused, and the values that ask for nothing; empty ones never do."""


def _check_fields(wanted: CompletionRequest) -> None:
    if wanted.n is not None and wanted.n != 1:
        raise unsupported("n", "An agent gives one answer. Leave 'n' out, or ask several times.")
    given = wanted.model_extra or {}
    for field, (sentence, asks_nothing) in _REFUSED.items():
        if (value := given.get(field)) and not asks_nothing(value):
            raise unsupported(field, sentence.format(field))


def _check_messages(messages: list[ChatMessage]) -> None:
    for number, message in enumerate(messages):
        place = f"messages.{number}"
        if message.role in ("tool", "function") or message.tool_calls or message.function_call:
            raise unsupported(place, "The agent calls its tools by itself, so no message can be a call or its result.")
        for index, part in enumerate(message.parts):
            _check_part(f"{place}.content.{index}", message.role, part)
    said = [message for message in messages if message.role not in SYSTEM]
    if not said or said[-1].role != "user":
        raise OpenAiError("The last message has to be the user's: that is what the agent answers.", param="messages")


def _check_part(place: str, role: Role, part: ContentPart) -> None:
    if part.type == "input_audio":
        raise unsupported(place, "Agents do not listen to sound. Send text.")
    if part.type in ("image_url", "file") and role != "user":
        raise unsupported(place, "Only the user's messages can have images and files.")
    if part.type == "image_url" and (part.image_url is None or not part.image_url.url.startswith("data:")):
        raise unsupported(place, "Send the image itself as a data URL: the app fetches nothing from the network.")
    if part.type == "file" and (part.file is None or not part.file.file_data):
        raise unsupported(place, "Send the file itself as 'file_data', a data URL: the app keeps no files by id.")
