"""The messages of a client as the conversation of a run: what was said before, and what is asked now."""

import base64
from contextlib import suppress
from dataclasses import dataclass

from app.api.openai.errors import OpenAiError
from app.api.openai.request import SYSTEM, ChatMessage, ContentPart
from app.domain.errors import TooLarge
from app.domain.events import RunStarted
from app.domain.media_types import SHOWN_IMAGES, media_type_of
from app.domain.messages import LARGEST_ATTACHMENT, Attachment, Message, TextPart, system_message, user_message
from app.engine.loop.attachments import kept
from app.engine.ports import Artifacts


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a client knows of a conversation, in our words."""

    system: str
    """How the client wants to be answered."""
    history: tuple[Message, ...]
    text: str
    attachments: tuple[Attachment, ...]

    def begins(self, started: RunStarted) -> RunStarted:
        """The run with what was said before it, and with the client's system prompt behind the agent's own.

        Clients such as n8n and LangChain always send a system prompt, so it is taken; the agent's stands first.
        """
        prompts = [started.system.text if started.system else "", self.system]
        prompt = "\n\n".join(prompt for prompt in prompts if prompt)
        system = system_message(prompt) if prompt else None
        return started.model_copy(update={"history": self.history, "system": system})


async def conversation_of(messages: list[ChatMessage], artifacts: Artifacts) -> Conversation:
    """The conversation, its images and files kept. Raises `OpenAiError`, `TooLarge`, `StorageError`."""
    said = [message for message in messages if message.role not in SYSTEM]
    asked = said[-1]
    return Conversation(
        system="\n\n".join(message.text for message in messages if message.role in SYSTEM and message.text),
        history=tuple([await _message(message, artifacts) for message in said[:-1] if message.parts]),
        text=asked.text,
        attachments=await _attachments(asked, artifacts),
    )


async def _message(message: ChatMessage, artifacts: Artifacts) -> Message:
    if message.role == "user":
        return user_message(message.text, *await _attachments(message, artifacts))
    return Message(role="assistant", parts=(TextPart(text=message.text),))


async def _attachments(message: ChatMessage, artifacts: Artifacts) -> tuple[Attachment, ...]:
    return tuple([await _attachment(part, artifacts) for part in message.parts if part.type in ("image_url", "file")])


async def _attachment(part: ContentPart, artifacts: Artifacts) -> Attachment:
    url = part.image_url.url if part.image_url else (part.file.file_data or "") if part.file else ""
    content, name = _decoded(url), part.file.filename if part.file else ""
    if len(content) > LARGEST_ATTACHMENT:
        raise TooLarge(f"One image or file may have {LARGEST_ATTACHMENT // 1024**2} MiB. Make it smaller.")
    media_type = media_type_of(content, name)
    if part.type == "image_url" and media_type not in SHOWN_IMAGES:
        raise OpenAiError("That is no PNG, JPEG, GIF or WebP image. Send one of these.", param="messages")
    return await kept(artifacts, content, media_type=media_type, filename=name)


def _decoded(url: str) -> bytes:
    """What a data URL in base64 holds; also the base64 alone, as some clients send files."""
    head, comma, encoded = url.partition(",")
    if not comma or head.endswith(";base64"):
        with suppress(ValueError):
            return base64.b64decode(encoded if comma else url, validate=True)
    raise OpenAiError(
        "An image or file cannot be read: send it as 'data:<media type>;base64,<content>'.", param="messages"
    )
