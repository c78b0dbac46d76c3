"""What kind of content something is, told by its bytes: what a browser or a name claims may be wrong, or a lie."""

import mimetypes
from pathlib import PurePosixPath

SHOWN_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Pictures that can carry no script: the only contents that a page shows as what they are."""
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"%PDF-": "application/pdf",
}
_BY_NAME = mimetypes.MimeTypes()  # Python's own table: the system's says other things on each machine
for _ending, _kind in {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".jsonl": "application/jsonl",
    ".log": "text/plain",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".toml": "application/toml",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}.items():
    _BY_NAME.add_type(_kind, _ending)


def media_type_of(content: bytes, name: str = "") -> str:
    """Of pictures and PDF by the bytes alone; of anything else by the name's ending, or whether it is text."""
    for beginning, kind in _BEGINNINGS.items():
        if content.startswith(beginning):
            return kind
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    named = _BY_NAME.guess_type(f"x{PurePosixPath(name).suffix}")[0]
    if named and named not in {*SHOWN_IMAGES, *_BEGINNINGS.values()}:
        return named
    return "text/plain" if _is_text(content) else "application/octet-stream"


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False
