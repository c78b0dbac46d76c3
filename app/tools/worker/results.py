"""What a tool's function returned, in the parts that the app keeps."""

import mimetypes
from collections.abc import Callable

from app.domain.errors import ToolError
from app.domain.messages import TextPart
from app.tools.function.authoring import File, Image
from app.tools.function.output import as_output
from app.tools.worker.protocol import LONGEST_RESULT, KeptFile

Keep = Callable[[bytes, str, str], KeptFile]
"""Hands bytes, media type and filename to the app."""
BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
    b"%PDF-": "application/pdf",
}
ANY_BYTES = "application/octet-stream"


def result_parts(value: object, keep: Keep) -> tuple[TextPart | KeptFile, ...]:
    """Text as text, files and bytes as files, lists of them one by one, all else as JSON.

    Raises `ToolError` for what is too long, and for what JSON cannot say, by its type.
    """
    if isinstance(value, list | tuple) and any(isinstance(item, File | Image | bytes) for item in value):
        return tuple(_part(item, keep) for item in value)
    return (_part(value, keep),)


def media_type_of(filename: str, content: bytes) -> str:
    return mimetypes.guess_type(filename)[0] or _sniffed(content)


def _part(value: object, keep: Keep) -> TextPart | KeptFile:
    match value:
        case File():
            return keep(value.content, value.media_type or media_type_of(value.filename, value.content), value.filename)
        case Image():
            media_type = value.media_type or _sniffed(value.content)
            if not media_type.startswith("image/"):
                raise ToolError(
                    "The tool returned an Image whose bytes are no PNG, JPEG, GIF or WebP: say its media_type."
                )
            return keep(value.content, media_type, value.alt)
        case bytes():
            media_type = _sniffed(value)
            return keep(value, media_type, f"result{mimetypes.guess_extension(media_type) or '.bin'}")
        case _:
            return TextPart(text=_text(value))


def _text(value: object) -> str:
    text = value if isinstance(value, str) else "".join(_lines(value))
    if len(text) > LONGEST_RESULT:
        raise ToolError(
            f"The tool returned {len(text):,} characters, and a result may have {LONGEST_RESULT:,}. "
            "It should return less, or a file."
        )
    return text


def _lines(value: object) -> list[str]:
    return [part.text for part in as_output(value).parts if isinstance(part, TextPart)]


def _sniffed(content: bytes) -> str:
    return next((name for beginning, name in BEGINNINGS.items() if content.startswith(beginning)), ANY_BYTES)
