"""What a client of OpenAI asks: https://platform.openai.com/docs/api-reference/chat/create

An agent is more than a model, so not all of it means something here. Told clearly: what would make the answer another
one than the client counts on is refused. Passed over: what only tunes a model (`temperature`, `top_p`, `seed`,
`max_tokens`, penalties, `reasoning_effort`, `user`, `metadata`, …), since the agent's variant decides on that.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Tag, ValidationError

from app.api.door.envelopes import told_by
from app.api.openai.answer_form import AnswerForm
from app.api.openai.errors import OpenAiError, unsupported
from app.domain.tools import JsonSchema
from app.domain.values import Text

M = TypeVar("M", bound=BaseModel)
MOST_STOP_WORDS = 4
"""As many as OpenAI takes."""
Role = Literal["system", "developer", "user", "assistant", "tool", "function"]
SYSTEM: tuple[Role, ...] = ("system", "developer")
"""Who sets how the agent is to answer."""
TEXT, LIST = "a text", "a list"
"""Of what may be either; neither is a place in a body."""
KINDS: dict[type, str] = {str: TEXT, list: LIST}
SAID = told_by(KINDS, "Send a text, or a list of its parts")
STOPS = told_by(KINDS, "Send a text, or a list of texts")
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
    content: Annotated[Annotated[Text, Tag(TEXT)] | Annotated[list[ContentPart], Tag(LIST)], SAID] | None = None
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
    response_format: AnswerForm | None = None
    stop: Annotated[Annotated[Text, Tag(TEXT)] | Annotated[list[Text], Tag(LIST)], STOPS] | None = None

    @cached_property
    def schema_wanted(self) -> JsonSchema | None:
        """What the answer has to fit; looked through when it is first asked for. Raises `OpenAiError`."""
        return self.response_format.schema_of("response_format") if self.response_format else None

    @property
    def stop_words(self) -> tuple[str, ...]:
        """Before which the answer ends."""
        words = [self.stop] if isinstance(self.stop, str) else self.stop or []
        return tuple(word for word in words if word)

    @property
    def include_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


def read(body: bytes) -> CompletionRequest:
    """The request; raises `OpenAiError` that names what does not fit, or is not there for agents."""
    wanted = parsed(CompletionRequest, body)
    if wanted.n is not None and wanted.n != 1:
        raise unsupported("n", "An agent gives one answer. Leave 'n' out, or ask several times.")
    if len(wanted.stop_words) > MOST_STOP_WORDS:
        raise OpenAiError(f"stop: {MOST_STOP_WORDS} are the most there can be.", param="stop")
    check_fields(wanted, _REFUSED)
    check_messages({f"messages.{number}": message for number, message in enumerate(wanted.messages)}, "messages")
    _ = wanted.schema_wanted
    return wanted


def parsed(model: type[M], body: bytes) -> M:
    """The body as that; raises `OpenAiError` that names what does not fit."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"] if step not in (TEXT, LIST))[:200]
        raise OpenAiError(f"{place or 'The body'}: {first['msg']}.", param=place or None) from None


AGENTS_OWN = "The agent calls the tools of its own by itself; tools of the client cannot be called. Leave {0!r} out."
NO_ODDS = "Agents do not tell how likely their words were. Leave {0!r} out."
_NO_SOUND = "Agents answer in text only. Leave {0!r} out."


def never(_: JsonValue) -> bool:
    """Whether a value of a field asks for nothing: none does."""
    return False


def _is_text(value: JsonValue) -> bool:
    return value in (["text"], {"type": "text"})


Refused = dict[str, tuple[str, Callable[[JsonValue], bool]]]
"""By field: why it is refused, and the values that ask for nothing; empty ones never do."""
_REFUSED: Refused = {
    "tools": (AGENTS_OWN, never),
    "functions": (AGENTS_OWN, never),
    "audio": (_NO_SOUND, never),
    "modalities": (_NO_SOUND, _is_text),
    "logprobs": (NO_ODDS, never),
    "top_logprobs": (NO_ODDS, never),
    "logit_bias": ("The agent chooses its words by itself. Leave {0!r} out.", never),
    "prediction": ("Agents take no predicted answer. Leave {0!r} out.", never),
    "web_search_options": (AGENTS_OWN, never),
}


def check_fields(wanted: BaseModel, refused: Refused) -> None:
    """Raises `OpenAiError` for the first field that is refused."""
    given = wanted.model_extra or {}
    for field, (sentence, asks_nothing) in refused.items():
        if (value := given.get(field)) and not asks_nothing(value):
            raise unsupported(field, sentence.format(field))


def check_messages(messages: Mapping[str, ChatMessage], param: str) -> None:
    """Raises `OpenAiError` for what no agent can be told; the messages by their places in `param`."""
    for place, message in messages.items():
        if message.role in ("tool", "function") or message.tool_calls or message.function_call:
            raise unsupported(place, "The agent calls its tools by itself, so no message can be a call or its result.")
        for index, part in enumerate(message.parts):
            _check_part(f"{place}.content.{index}", message.role, part)
    said = [message for message in messages.values() if message.role not in SYSTEM]
    if not said or said[-1].role != "user":
        raise OpenAiError("The last message has to be the user's: that is what the agent answers.", param=param)


def _check_part(place: str, role: Role, part: ContentPart) -> None:
    if part.type == "input_audio":
        raise unsupported(place, "Agents do not listen to sound. Send text.")
    if part.type in ("image_url", "file") and role != "user":
        raise unsupported(place, "Only the user's messages can have images and files.")
    if part.type == "image_url" and (part.image_url is None or not part.image_url.url.startswith("data:")):
        raise unsupported(place, "Send the image itself as a data URL: the app fetches nothing from the network.")
    if part.type == "file" and (part.file is None or not part.file.file_data):
        raise unsupported(place, "Send the file itself as 'file_data', a data URL: the app keeps no files by id.")
