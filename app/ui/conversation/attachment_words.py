"""How an attachment reaches the model, in words."""

from dataclasses import dataclass

from app.domain.media_types import SHOWN_IMAGES
from app.domain.messages import Attachment
from app.domain.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class Words:
    text: str
    warns: bool = False
    """True when the model gets less than one may think."""


def attachment_words(part: Attachment, tools: tuple[ToolSpec, ...], *, sees_images: bool) -> Words:
    """`part` as the next message carries it, with its path; `tools` are those the model may call."""
    is_image = part.media_type in SHOWN_IMAGES
    if is_image and sees_images:
        return Words("Sent inline: the model sees it")
    openers = ", ".join(tool.title or tool.name for tool in tools if tool.opens(part.media_type))
    if openers:
        reached = f"As file {part.path}, which {openers} can open"
    elif tools:
        reached = f"As file {part.path} for the agent's tools"
    else:
        reached = "Its name only: this agent has no tool to open it"
    return Words(f"This model sees no images. {reached}" if is_image else reached, warns=is_image or not tools)
