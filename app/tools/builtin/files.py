"""The files of a session, read and written by name; no name leads to a file of this computer."""

import asyncio
import difflib
import hashlib
import re
from itertools import islice

from app.domain.errors import ToolError
from app.domain.media_types import media_type_of
from app.domain.messages import TextPart
from app.domain.tools import CallContext, SessionFiles
from app.tools.apart import ToolApart
from app.tools.builtin.encodings import DecodedText, decoded
from app.tools.function.tool import AnyTool, Tool
from app.tools.paths import session_path

LARGEST_FILE = 4 * 1024 * 1024
"""Bytes."""
MOST_LINES = 2_000
MOST_CHARACTERS = 100_000
"""Of content that one `read_file` shows; whole lines, unless the first is longer."""
MOST_LISTED = 200

MOST_DIFF_LINES = 40
LONGEST_LINE = 200
MOST_COMPARED = 1_000
"""Changed lines up to which they are compared one by one; the comparison takes time by their square."""

PDF = "application/pdf"
READABLE = ("text/*", "application/json", PDF)
MORE_PAGES = re.compile(r'read on with pages="([0-9]+)-"\]$')
HUNK = re.compile(r"^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@$")


def file_tools(pdf: ToolApart) -> tuple[AnyTool, ...]:
    """`pdf` reads the text of PDFs."""
    files = FileTools(pdf)
    return (
        Tool(files.read_file, icon="description", idempotent=True, handles=READABLE),
        Tool(files.write_file, icon="save", idempotent=True, side_effects=True),
        Tool(files.edit_file, icon="edit_document", side_effects=True),
        Tool(files.list_files, icon="folder", idempotent=True),
    )


class FileTools:
    """The tools share a lock, so that of two edits at the same time none is lost."""

    def __init__(self, pdf: ToolApart) -> None:
        self._pdf = pdf
        self._writing = asyncio.Lock()

    async def read_file(
        self, path: str, context: CallContext, offset: int = 1, limit: int = MOST_LINES, encoding: str = ""
    ) -> str:
        """Read a text file of this session, or the text of a PDF.

        Returns a line with its size and sha256, an empty line, and the content.

        Args:
            path: The file's absolute path, such as /notes.txt.
            offset: The first line to show, counted from 1; of a PDF the first page.
            limit: How many lines or pages to show at most.
            encoding: What a text file is written in, such as cp1251 or mac_roman; found out when empty.
        """
        path = session_path(path)
        content = await context.files.read(path)
        if media_type_of(content) == PDF:
            return await self._pdf_text(path, offset, limit, context)
        found = await asyncio.to_thread(decoded, content, path, encoding)
        if found is None:
            raise ToolError(f"{path} is no text file ({_facts(content)}); its content cannot be shown as text.")
        return await asyncio.to_thread(_excerpt, path, content, found, offset, limit)

    async def _pdf_text(self, path: str, offset: int, limit: int, context: CallContext) -> str:
        _check_range(offset, limit)
        output = await self._pdf.run({"path": path, "pages": f"{offset}-{offset + limit - 1}"}, context)
        text = "".join(part.text for part in output.parts if isinstance(part, TextPart))
        return MORE_PAGES.sub(r"read on with offset=\1]", text)

    async def write_file(self, path: str, content: str, context: CallContext) -> str:
        """Write a text file of this session; one that is there is replaced as a whole.

        Returns the path, bytes, sha256 and a short diff.

        Args:
            path: The file's absolute path, such as /notes.txt.
            content: All that the file is to hold; 4 MiB at most.
        """
        path = session_path(path)
        async with self._writing:
            before = await context.files.read(path) if path in context.files.digests() else None
            return await _write(context.files, path, before, content)

    async def edit_file(self, path: str, old: str, new: str, context: CallContext, all: bool = False) -> str:
        """Replace a piece of text in a file of this session.

        Returns the path, how often it was replaced, bytes, sha256 and a short diff.

        Args:
            path: The file's absolute path, such as /notes.txt.
            old: The text to replace, exactly as it stands in the file; it has to be there once.
            new: The text to put in its place.
            all: Replace it everywhere instead.
        """
        path = session_path(path)
        async with self._writing:
            before = await context.files.read(path)
            text = _text(path, before)
            count = _count_of(path, text, old, new, everywhere=all)
            growth = len(new.encode(errors="surrogatepass")) - len(old.encode())
            _check_size(len(before) + count * growth)  # before it is made: it may be thousands of times as large
            return await _write(context.files, path, before, text.replace(old, new), count=count)

    async def list_files(self, context: CallContext, folder: str = "", path: str = "") -> str:
        """List the files of this session with their sizes.

        Args:
            folder: Only the files below it, such as /reports.
            path: The same as folder.
        """
        if folder.strip() and path.strip() and folder != path:
            raise ToolError("'folder' and 'path' are the same argument. Give one of them.")
        folder = folder if folder.strip() else path
        start = "/" if folder.strip() in ("", "/", ".") else session_path(folder) + "/"
        paths = sorted(path for path in context.files.digests() if path.startswith(start))
        if not paths:
            return "There are no files." if start == "/" else f"There are no files below {start}."
        lines = [f"{path} ({len(await context.files.read(path)):,} bytes)" for path in paths[:MOST_LISTED]]
        if len(paths) > MOST_LISTED:
            lines.append(f"[… and {len(paths) - MOST_LISTED} more; name a folder to see them]")
        return "\n".join(lines)


def _text(path: str, content: bytes) -> str:
    """What may be edited: it is written as it was read."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ToolError(
            f"{path} is no text in UTF-8 ({_facts(content)}), so it cannot be edited. Where read_file shows its text, "
            "write that with write_file: it is UTF-8 then."
        ) from None


def _facts(content: bytes) -> str:
    return f"{len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()[:12]}"


def _check_range(offset: int, limit: int) -> None:
    if offset < 1 or limit < 1:
        raise ToolError("'offset' and 'limit' count lines from 1, of a PDF pages.")


def _excerpt(path: str, content: bytes, found: DecodedText, offset: int, limit: int) -> str:
    _check_range(offset, limit)
    lines = found.text.splitlines(keepends=True)
    if offset > max(1, len(lines)):
        raise ToolError(f"{path} has {_lines(len(lines))}; line {offset} is behind its end.")
    shown = _fitting(lines[offset - 1 : offset - 1 + limit])
    last = offset - 1 + len(shown)
    heading = f"{path}: {_lines(len(lines))}, {_facts(content)}"
    if offset > 1 or last < len(lines):
        heading += f"; these are lines {offset} to {last}"
    if last < len(lines):
        heading += f", read on with offset={last + 1}"
    heading += f"\n{found.note}" if found.note else ""
    return f"{heading}\n\n{''.join(shown)}"


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'}"


def _fitting(lines: list[str]) -> list[str]:
    """As many of the lines as may be shown, at least one."""
    length = 0
    for count, line in enumerate(lines):
        length += len(line)
        if length > MOST_CHARACTERS and count:
            return lines[:count]
    return lines


def _count_of(path: str, text: str, old: str, new: str, *, everywhere: bool) -> int:
    """How often `old` is to be replaced. Raises `ToolError` where that is not clear."""
    if not old:
        raise ToolError("'old' is empty. To write a whole file use write_file.")
    if old == new:
        raise ToolError("'old' and 'new' are the same; nothing would change.")
    count = text.count(old)
    if not count:
        hint = " The file's lines end in \\r\\n." if "\r\n" in text and "\n" in old else ""
        raise ToolError(f"{path} does not hold the text in 'old'.{hint} Read the file and copy the text exactly.")
    if count > 1 and not everywhere:
        raise ToolError(
            f"{path} holds the text in 'old' {count} times. Give more of what stands around it, or all=true."
        )
    return count


async def _write(files: SessionFiles, path: str, before: bytes | None, text: str, *, count: int = 0) -> str:
    """Write it and say so; `count` is how often something was replaced in it."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"The content holds half a character at {error.start}, which no file can keep.") from error
    _check_size(len(content))
    if content == before:
        return f"{path} is unchanged: {_facts(content)}"
    await files.write(path, content)
    if before is None:
        return f"Created {path}: {_lines(len(text.splitlines()))}, {_facts(content)}"
    often = f"replaced {count} time{'' if count == 1 else 's'}, " if count else ""
    return f"Changed {path}: {often}{_facts(content)}\n{await asyncio.to_thread(_change, before, text)}"


def _check_size(octets: int) -> None:
    if octets > LARGEST_FILE:
        raise ToolError(f"The content has {octets:,} bytes; {LARGEST_FILE:,} is the most for one file.")


def _change(before: bytes, after: str) -> str:
    try:
        return short_diff(before.decode(), after)
    except UnicodeDecodeError:
        return f"(what was there before was no text: {_facts(before)})"


def short_diff(before: str, after: str) -> str:
    """The change as a unified diff of at most 40 lines, or in numbers where it is too large to compare."""
    old, new = before.splitlines(), after.splitlines()
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    removed, added = len(old) - start - end, len(new) - start - end
    if max(removed, added) > MOST_COMPARED:
        return f"{removed} lines from line {start + 1} on became {added} lines"
    if not removed and not added:
        return "only the ends of lines changed" if before != after else "nothing changed"
    # Three lines around the change are compared along, as the diff shows them.
    top, bottom = max(0, start - 3), max(0, end - 3)
    lines = difflib.unified_diff(old[top : len(old) - bottom], new[top : len(new) - bottom], lineterm="")
    return _bounded([_moved(line, top) for line in islice(lines, 2, None)])


def _common(one: list[str], other: list[str]) -> int:
    """How many lines both start with."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _moved(line: str, by: int) -> str:
    """A hunk's heading with its line numbers counted from the top of the file."""
    return HUNK.sub(lambda found: f"@@ -{int(found[1]) + by}{found[2]} +{int(found[3]) + by}{found[4]} @@", line)


def _bounded(lines: list[str]) -> str:
    shown = [line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…" for line in lines[:MOST_DIFF_LINES]]
    if len(lines) > MOST_DIFF_LINES:
        shown.append(f"[… {len(lines) - MOST_DIFF_LINES} more lines of the change]")
    return "\n".join(shown)
