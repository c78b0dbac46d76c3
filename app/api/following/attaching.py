"""Files that a message over the API carries: uploaded before, and named by their sha256."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.api.door.caller import Caller
from app.domain.errors import WorkbenchError
from app.domain.media_types import NOT_SENT, SHOWN_IMAGES, media_type_of
from app.domain.messages import Attachment, Disposition, FilePart, ImagePart
from app.domain.reading.file_names import plain_file_name
from app.workbench import Workbench

MOST = 20
"""Files that go with one message, as on the pages."""


class AttachmentRef(BaseModel):
    """A file that was uploaded with the same key."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"sha256": "0" * 64}]})

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="As POST /uploads answered it.")]
    disposition: Disposition = Field(
        "auto",
        description="`inline`: within the message, as pictures are shown and texts are copied; `reference`: as a file "
        "of the session that tools open; `native`: uploaded to the model's provider, where its owner allowed that; "
        "`tool:<name>`: as a file that is meant for one tool; `auto`: as the agent has it, else as fits the model. "
        "What cannot be done becomes a file of the session, and `warnings` say so.",
    )
    detail: bool = Field(False, description="Of a picture: send it larger, for what is small in it.")


AttachmentRefs = Annotated[
    list[AttachmentRef], Field(max_length=MOST, description="Files that go with it: POST /uploads takes them.")
]


@dataclass(frozen=True, slots=True)
class Said:
    """What goes to an agent."""

    text: str
    attachments: tuple[Attachment, ...]


async def said(workbench: Workbench, caller: Caller, text: str, refs: Sequence[AttachmentRef]) -> Said:
    """The message with what goes along, kept for its run. Raises `NotFound`, `WorkbenchError`, `StorageError`."""
    parts: list[Attachment] = []
    for ref in refs:
        upload, content = await workbench.data.uploads.get(caller.id, ref.sha256)
        part = await kept_part(workbench, content, media_type=upload.media_type, filename=upload.filename)
        more = {"detail": ref.detail} if isinstance(part, ImagePart) else {}
        part = part.model_copy(update={"disposition": ref.disposition, **more})
        parts.append(part)
    return Said(text, tuple(parts))


async def kept_part(workbench: Workbench, content: bytes, *, media_type: str, filename: str) -> ImagePart | FilePart:
    """The content among the artifacts, as a part of a message. Raises `StorageError`."""
    digest = await workbench.artifacts.put(content)
    if media_type in SHOWN_IMAGES:
        return ImagePart(artifact=digest, media_type=media_type, alt=filename)
    return FilePart(artifact=digest, media_type=media_type, filename=filename, size=len(content))


def media_type_checked(content: bytes, name: str) -> str:
    """What kind of content it is; raises `WorkbenchError` for a picture that no model takes."""
    kind = media_type_of(content, name)
    if kind in NOT_SENT:
        raise WorkbenchError(
            f"“{plain_file_name(name)}” is {NOT_SENT[kind]}, which models do not take. Save it as PNG or JPEG, and "
            "attach that."
        )
    return kind
