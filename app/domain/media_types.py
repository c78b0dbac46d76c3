"""What kind of content something is, told by its bytes: what a browser or a name claims may be wrong, or a lie."""

import mimetypes
from pathlib import PurePosixPath

SHOWN_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Pictures that can carry no script: the only contents that a page shows as what they are."""
NOT_SENT = {
    "image/heic": "a HEIC picture",
    "image/avif": "an AVIF picture",
    "image/tiff": "a TIFF picture",
    "image/bmp": "a BMP picture",
    "image/svg+xml": "an SVG drawing",
}
"""Pictures that no model takes, by what people call them."""
_BRANDS = dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"), "image/heic") | {
    b"avif": "image/avif",
    b"avis": "image/avif",
}
"""Of a family of formats that begin alike."""
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"%PDF-": "application/pdf",
    b"II*\0": "image/tiff",
    b"MM\0*": "image/tiff",
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
    if begins := _begins_as(content):
        return begins
    named = _BY_NAME.guess_type(f"x{PurePosixPath(name).suffix}")[0]
    if named and named not in {*SHOWN_IMAGES, *_BEGINNINGS.values()}:
        return named
    return "text/plain" if _is_text(content) else "application/octet-stream"


def _begins_as(content: bytes) -> str:
    """What its first bytes say that it is; empty where they say nothing."""
    for beginning, kind in _BEGINNINGS.items():
        if content.startswith(beginning):
            return kind
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if content[:2] == b"BM" and content[6:10] == bytes(4):
        return "image/bmp"
    return _BRANDS.get(content[8:12], "") if content[4:8] == b"ftyp" else ""


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False
