"""The text of a PDF among the session's files, page by page; written as a tool file, and run as one.

What a PDF asks of its reader may take for ever, so nothing of it is read in the app's own process.
"""

import io
import logging
import re
import time
from typing import TYPE_CHECKING

from app.domain.errors import ToolError
from app.tools.function.authoring import Context, tool
from app.tools.paths import session_path

if TYPE_CHECKING:
    from pypdf import PdfReader

MOST_PAGES = 100
MOST_CHARACTERS = 150_000
PAGE_RANGE = re.compile(r"([0-9]{1,6})(?:(-)([0-9]{1,6})?)?")
SECONDS = 60.0
"""After which no further page is begun."""
MOST_OPERATIONS = 300_000
"""Of one page, numbers and names included: a page of text has some thousand, and so many take a second or two."""
LARGEST_STREAM = 16 * 1024 * 1024
"""Bytes of a part of the file once it is unpacked."""


@tool(title="PDF text", icon="picture_as_pdf", idempotent=True, handles=("application/pdf",))
def pdf_text(path: str, context: Context, pages: str = "") -> str:
    """Read the text of a PDF file of this session, page by page.

    Returns a line about the file, and below a heading for each page its text. A scanned page holds no text.

    Args:
        path: The file's absolute path, such as /report.pdf.
        pages: Which pages to read, such as 1-3 or 2,5,9-; all from the first on where it is left out.
    """
    path = session_path(path)
    document = _opened(path, context.files.read(path))
    wanted = wanted_pages(pages, document.count)
    return _told(document, wanted, _texts(document, wanted, context))


class Document:
    """An open PDF."""

    def __init__(self, path: str, reader: "PdfReader") -> None:
        self.path = path
        self.count = len(reader.pages)
        self._reader = reader
        self.title = _title(reader)

    def text(self, page: int) -> str:
        """The text of a page, counted from 1; a note in brackets in place of one that is damaged."""
        try:
            return self._reader.pages[page - 1].extract_text().encode("utf-8", "replace").decode().strip()
        except Exception as error:  # noqa: BLE001  pypdf raises anything on a damaged page
            return f"[this page is damaged: {type(error).__name__}: {error}]"


def wanted_pages(pages: str, count: int) -> list[int]:
    """The numbers in `2,5,9-`, each once. Raises `ToolError` for what is no such list or behind the last page."""
    found: dict[int, None] = {}
    for piece in (pages or "1-").replace(" ", "").split(","):
        if not (range_ := PAGE_RANGE.fullmatch(piece)):
            raise ToolError(f"{pages!r} names no pages. Write them like '1-3' or '2,5,9-'.")
        first, dash, last = range_.groups()
        start, end = int(first), int(last or (count if dash else first))
        if not 1 <= start <= max(count, 1) or end < start:
            raise ToolError(f"There is no page {piece}: the file has {count} pages.")
        found.update(dict.fromkeys(range(start, min(end, count) + 1)))
    return list(found)


def _texts(document: Document, wanted: list[int], context: Context) -> dict[int, str]:
    """By page, as many as may be returned."""
    texts: dict[int, str] = {}
    until, room = time.monotonic() + SECONDS, MOST_CHARACTERS
    for page in wanted[:MOST_PAGES]:
        if texts and (room <= 0 or time.monotonic() > until):
            break
        texts[page] = document.text(page)[:MOST_CHARACTERS]
        room -= len(texts[page])
        context.progress(len(texts), min(len(wanted), MOST_PAGES), f"page {page}")
    return texts


def _told(document: Document, wanted: list[int], texts: dict[int, str]) -> str:
    title = f" “{document.title}”" if document.title else ""
    heading = f"{document.path}:{title} {document.count} page{'' if document.count == 1 else 's'}"
    if not any(texts.values()):
        raise ToolError(
            f"{heading}, but {'they hold' if len(texts) > 1 else 'it holds'} no text: they are pictures, "
            "as a scanner makes them. Somebody has to read them in as text first."
        )
    shown = "\n\n".join(f"--- Page {page} ---\n{text or '[no text on this page]'}" for page, text in texts.items())
    left = wanted[len(texts) :]
    rest = (
        f'\n\n[… {len(left)} more page{"" if len(left) == 1 else "s"}; read on with pages="{left[0]}-"]' if left else ""
    )
    return f"{heading}\n\n{shown}{rest}"


def _opened(path: str, content: bytes) -> Document:
    """Raises `ToolError` for what is no PDF, is damaged, or needs a password."""
    try:
        document = _unlocked(path, content)
    except Exception as error:  # pypdf raises anything on what is damaged
        reason = str(error) or type(error).__name__
        raise ToolError(f"{path} cannot be read as a PDF: {reason}. It is damaged, or another kind of file.") from error
    if document is None:
        raise ToolError(f"{path} is locked with a password. Ask for a copy without one.")
    return document


def _unlocked(path: str, content: bytes) -> Document | None:
    """The PDF, `None` where it needs a password."""
    from pypdf import PdfReader, overwrite_configuration  # noqa: PLC0415  takes 500 ms to import

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it says each time what it finds damaged
    overwrite_configuration(
        stream_parsing_work_maximum_count=MOST_OPERATIONS,
        array_based_stream_maximum_output_length=LARGEST_STREAM,
        zlib_maximum_output_length=LARGEST_STREAM,
        lzw_maximum_output_length=LARGEST_STREAM,
        run_length_maximum_output_length=LARGEST_STREAM,
        brotli_maximum_output_length=LARGEST_STREAM,
    )
    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        return None
    return Document(path, reader)


def _title(reader: "PdfReader") -> str:
    try:
        return ((reader.metadata and reader.metadata.title) or "").strip()
    except Exception:  # noqa: BLE001  a damaged title is no reason not to read the rest
        return ""
