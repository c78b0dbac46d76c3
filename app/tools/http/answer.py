"""What an HTTP request brought back, as a model reads it: text readable, JSON indented, the rest as a file."""

import asyncio
import codecs
import json
import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from app.domain.errors import ToolError
from app.domain.messages import TextPart
from app.domain.reading.file_names import plain_file_name
from app.domain.tools import CallContext, ToolOutput
from app.tools.http.message import Received
from app.tools.http.readable import readable

MOST_SHOWN = 190_000
"""Characters of text; a result may have no more."""
MOST_OF_ERROR = 2_000
"""Characters that are shown of an answer that is an error."""
TEXT_TYPES = re.compile(r"text/.*|.*[/+](json|xml|yaml|x-yaml|javascript|x-www-form-urlencoded|x-ndjson|csv|sql|toml)")
WEB_CODECS = re.compile(
    r"utf-8|utf-16(-le|-be)?|ascii|iso8859-\d+|cp(125\d|866|874)|koi8-[ru]|gb\w+|big5\w*|euc_\w+|shift_jis\w*|iso2022_jp\w*"
)
DECLARED = re.compile(rb"<meta[^>]{0,200}charset\s*+=\s*+[\"']?\s*+([\w.:-]{2,40})", re.IGNORECASE)


async def answered(received: Received, context: CallContext) -> ToolOutput:
    """The answer with a line about it. Raises `ToolError` for an error status, with what was said."""
    media_type = received.headers.get("content-type", "").partition(";")[0].strip().lower()
    if _is_text(media_type, received.content):
        text = await asyncio.to_thread(_text, received, media_type)
        if received.status >= 400:
            raise ToolError(f"{_heading(received, media_type)}\n\n{text[:MOST_OF_ERROR]}".strip())
        return ToolOutput.of_text(f"{_heading(received, media_type)}\n\n{text}".strip())
    if received.status >= 400:
        raise ToolError(_heading(received, media_type))
    if received.cut:
        raise ToolError(f"{_heading(received, media_type)}: a file of this kind is of no use in part.")
    part = await context.keep(received.content, media_type=media_type, filename=_filename(received.url))
    return ToolOutput(parts=(TextPart(text=_heading(received, media_type)), part))


def _heading(received: Received, media_type: str) -> str:
    size = f"{len(received.content):,} bytes"
    if received.cut:
        size = f"more than {size}, cut there"
    return f"{received.status} {received.reason} · {media_type or 'no type'} · {size} · {received.url}"


def _text(received: Received, media_type: str) -> str:
    text = _decoded(received)
    match media_type:
        case "text/html" | "application/xhtml+xml":
            text, left_out = readable(text)
        case _ if media_type.endswith(("/json", "+json")):
            text, left_out = _indented(text), False
        case _:
            left_out = False
    shown = text[:MOST_SHOWN]
    if left_out or received.cut or len(shown) < len(text):
        shown += "\n[… cut here: there is more at this address]"
    return shown


def _indented(text: str) -> str:
    """JSON over several lines; as it came where it is no JSON, or where indenting it makes it too long."""
    try:
        pieces = json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(json.loads(text))
        return _joined(pieces) or text
    except (ValueError, RecursionError):
        return text


def _joined(pieces: Iterable[str]) -> str:
    """All pieces, or nothing where they are too long."""
    taken: list[str] = []
    length = 0
    for piece in pieces:
        taken.append(piece)
        length += len(piece)
        if length > MOST_SHOWN:
            return ""
    return "".join(taken)


def _is_text(media_type: str, content: bytes) -> bool:
    if not content or TEXT_TYPES.fullmatch(media_type):
        return True
    if media_type not in ("", "application/octet-stream"):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content[:4096])
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _decoded(received: Received) -> str:
    content = received.content
    for mark, codec in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            return content.decode(codec, "replace")
    found = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", received.headers.get("content-type", ""), re.IGNORECASE)
    declared = None if found else DECLARED.search(content[:2048])
    name = found[1] if found else declared[1].decode("ascii") if declared else "utf-8"
    return content.decode(_codec(name), "replace")


def _codec(name: str) -> str:
    """Python's name of an encoding of the web; UTF-8 for any other, some of which take time squared."""
    try:
        known = codecs.lookup(name).name
    except LookupError:
        return "utf-8"
    if known in ("iso8859-1", "ascii"):
        return "cp1252"
    return known if WEB_CODECS.fullmatch(known) else "utf-8"


def _filename(url: str) -> str:
    """The last step of the path, or the host's name."""
    parts = urlsplit(url)
    return plain_file_name(unquote(parts.path).rstrip("/") or parts.hostname or "answer")
