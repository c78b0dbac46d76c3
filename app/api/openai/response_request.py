"""What a client asks in OpenAI's newer way: https://platform.openai.com/docs/api-reference/responses/create

The same is refused, and the same passed over, as in chat completions (`request.py`).
"""

from functools import cached_property
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Tag

from app.api.door.envelopes import told_by
from app.api.openai.answer_form import AnswerForm
from app.api.openai.errors import unsupported
from app.api.openai.request import (
    AGENTS_OWN,
    KINDS,
    LIST,
    NO_ODDS,
    SAID,
    TEXT,
    ChatMessage,
    ContentPart,
    FileData,
    ImageUrl,
    PartType,
    Refused,
    Role,
    check_fields,
    check_messages,
    never,
    parsed,
)
from app.domain.tools import JsonSchema
from app.domain.values import Text

PREFIX = "resp_"
"""What stands before a run's id in that of a response."""
_PARTS: dict[str, PartType] = {
    "input_text": "text",
    "output_text": "text",
    "refusal": "refusal",
    "input_image": "image_url",
    "input_file": "file",
    "input_audio": "input_audio",
}


class InputPart(BaseModel):
    type: Text
    text: Text = ""
    refusal: Text = ""
    image_url: Text | None = None
    file_data: Text | None = None
    filename: Text | None = None

    def in_chat(self, place: str) -> ContentPart:
        if self.type not in _PARTS:
            known = ", ".join(_PARTS)
            raise unsupported(
                place, f"An agent can be told nothing of the type {self.type[:80]!r}. There are: {known}."
            )
        return ContentPart(
            type=_PARTS[self.type],
            text=self.text,
            refusal=self.refusal,
            image_url=ImageUrl(url=self.image_url) if self.image_url else None,
            file=FileData(file_data=self.file_data, filename=self.filename or "") if self.file_data else None,
        )


class InputItem(BaseModel):
    """A message, or something else that was going on in a conversation."""

    type: Text = "message"
    role: Role | None = None
    content: Annotated[Annotated[Text, Tag(TEXT)] | Annotated[list[InputPart], Tag(LIST)], SAID] | None = None

    def in_chat(self, place: str) -> ChatMessage:
        if self.type != "message" or self.role is None:
            raise unsupported(
                place,
                f"The agent takes messages, and no {self.type[:80]!r}: it calls its tools by itself, and nothing is "
                "kept by id but whole responses. Send 'previous_response_id' to go on from one.",
            )
        if not isinstance(self.content, list):
            return ChatMessage(role=self.role, content=self.content)
        parts = [part.in_chat(f"{place}.content.{index}") for index, part in enumerate(self.content)]
        return ChatMessage(role=self.role, content=parts)


class TextConfig(BaseModel):
    format: AnswerForm | None = None


class ResponseRequest(BaseModel):
    """What an agent is asked, behind an earlier response of its or as the first."""

    model_config = ConfigDict(extra="allow")

    model: Text = Field(max_length=200)
    input: Annotated[
        Annotated[Text, Field(min_length=1), Tag(TEXT)] | Annotated[list[InputItem], Field(min_length=1), Tag(LIST)],
        told_by(KINDS, "Send a text, or a list of items"),
    ]
    instructions: Text | None = None
    previous_response_id: Text | None = Field(None, max_length=100)
    stream: bool | None = None
    text: TextConfig | None = None
    metadata: dict[Text, Text] | None = None

    @property
    def follows(self) -> str | None:
        """The run that it goes on behind."""
        return self.previous_response_id.removeprefix(PREFIX) if self.previous_response_id else None

    @cached_property
    def messages(self) -> dict[str, ChatMessage]:
        """The input by its places, as chat completions have it; thoughts that a client gives back are passed over."""
        if isinstance(self.input, str):
            said = {"input": ChatMessage(role="user", content=self.input)}
        else:
            items = {f"input.{number}": item for number, item in enumerate(self.input) if item.type != "reasoning"}
            said = {place: item.in_chat(place) for place, item in items.items()}
        return said

    @cached_property
    def schema_wanted(self) -> JsonSchema | None:
        """What the answer has to fit; looked through when it is first asked for. Raises `OpenAiError`."""
        return self.text.format.schema_of("text.format") if self.text and self.text.format else None

    @property
    def echoed(self) -> dict[str, JsonValue]:
        """What of it stands in each response."""
        form: JsonValue = {"type": "text"}
        if self.text and self.text.format:
            form = self.text.format.model_dump(by_alias=True, exclude={"json_schema"}, exclude_none=True)
        return {
            "instructions": self.instructions,
            "metadata": {**(self.metadata or {})},
            "model": self.model,
            "previous_response_id": self.previous_response_id,
            "text": {"format": form},
        }


def read(body: bytes) -> ResponseRequest:
    """The request; raises `OpenAiError` that names what does not fit, or is not there for agents."""
    wanted = parsed(ResponseRequest, body)
    check_fields(wanted, _REFUSED)
    check_messages(wanted.messages, "input")
    _ = wanted.schema_wanted
    return wanted


_REFUSED: Refused = {
    "tools": (AGENTS_OWN, never),
    "top_logprobs": (NO_ODDS, never),
    "background": ("Send 'background' to POST /api/v1/agents/{{slug}}/run instead, and leave it out here.", never),
    "conversation": ("Send 'previous_response_id' to go on in a conversation, and leave {0!r} out.", never),
    "prompt": ("The agent's prompt is set in its editor. Leave {0!r} out.", never),
}
