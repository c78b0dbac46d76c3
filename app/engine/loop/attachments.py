"""What people attach to a message: an artifact each, and a file of the session under a name of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from app.domain.messages import Attachment, FilePart, ImagePart, Message, Part
from app.domain.reading.file_names import plain_file_name
from app.engine.ports import Artifacts, Clean


@dataclass(frozen=True, slots=True)
class Attached:
    """A message whose attachments are files of the session."""

    message: Message
    files: dict[str, str]
    """Path to sha256 of all files of the session, the attachments among them."""


async def kept(
    artifacts: Artifacts, content: bytes, *, media_type: str, filename: str, clean: Clean | None = None
) -> ImagePart | FilePart:
    """The content stored, as a part of a message or result that names it. Raises `StorageError`."""
    digest = await artifacts.put(content, clean=clean)
    if media_type.startswith("image/"):
        return ImagePart(artifact=digest, media_type=media_type, alt=filename)
    return FilePart(artifact=digest, media_type=media_type, filename=filename, size=len(content))


def attach(message: Message, files: Mapping[str, str]) -> Attached:
    """Give each attachment of the message a path that no other file has; one that is there already keeps its own."""
    taken = dict(files)
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ImagePart | FilePart):
            path = _free_path(part, taken)
            taken[path] = part.artifact
            parts.append(part.model_copy(update={"path": path}))
        else:
            parts.append(part)
    return Attached(message.model_copy(update={"parts": tuple(parts)}), taken)


def _free_path(part: Attachment, taken: Mapping[str, str]) -> str:
    if part.path and taken.get(part.path, part.artifact) == part.artifact:
        return part.path
    name = PurePosixPath(plain_file_name(part.name))
    candidates = (f"/{name}", *(f"/{name.stem}-{number}{name.suffix}" for number in range(2, len(taken) + 3)))
    return next(path for path in candidates if taken.get(path, part.artifact) == part.artifact)
