"""What people attach to a message: an artifact each, and a file of the session under a name of its own."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from app.domain.messages import Attachment, FilePart, ImagePart, Message, Part
from app.engine.ports import Artifacts, Clean

LONGEST_NAME = 100
"""Characters of a file name."""
_ODD = re.compile(r"[^\w .()+@,&=-]")
_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)
"""What Windows takes for a device, wherever such a file is exported to."""


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


def file_name(part: Attachment) -> str:
    """What the attachment is called, in letters that a path of the session may have."""
    last = part.name.replace("\\", "/").rpartition("/")[2]
    clean = _ODD.sub(_replaced, unicodedata.normalize("NFKC", last)).strip(" .")
    if _DEVICE.fullmatch(clean.partition(".")[0].rstrip()):
        clean = f"file-{clean}"
    return _shortened(clean) or "file"


def _replaced(odd: re.Match[str]) -> str:
    """Marks stay, without which Hindi and Thai are no words; but for those that are not seen, as behind an emoji."""
    is_mark = unicodedata.category(odd[0]) in ("Mc", "Mn") and not "\ufe00" <= odd[0] <= "\ufe0f"
    return odd[0] if is_mark else "_"


def _free_path(part: Attachment, taken: Mapping[str, str]) -> str:
    if part.path and taken.get(part.path, part.artifact) == part.artifact:
        return part.path
    name = PurePosixPath(file_name(part))
    candidates = (f"/{name}", *(f"/{name.stem}-{number}{name.suffix}" for number in range(2, len(taken) + 3)))
    return next(path for path in candidates if taken.get(path, part.artifact) == part.artifact)


def _shortened(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    suffix = PurePosixPath(name).suffix[:20]
    return name[: LONGEST_NAME - len(suffix)].rstrip(" .") + suffix
