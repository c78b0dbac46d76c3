"""The text of PDF files."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from app.domain.errors import ToolError
from app.domain.messages import ToolCall
from app.tools.builtin.pdf_text import MOST_PAGES
from app.tools.registry import Registry
from app.tools.worker.protocol import MOST_CONTENT
from tests.builtin_tools import builtin_registry
from tests.tools.builtin.pdfs import locked, packed_pdf, pdf_of
from tests.tools.context import Context, MemoryFiles

pytestmark = pytest.mark.asyncio(loop_scope="module")

THREE = pdf_of(["First page", "", "Third page"], title="A report")
SLOW = packed_pdf(b"BT /F1 12 Tf 72 700 Td () Tj ET\n" * 150_000, pages=20)
"""Pages of 5 MB each in 15 kB: pypdf reads each of them for some seconds."""
NOISY = packed_pdf(b"<< /A " * 100_000)
"""Tens of thousands of lines of log in 900 bytes."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tools() -> AsyncIterator[Registry]:
    """One process for all that these tests read."""
    registry = builtin_registry()
    yield registry
    await registry.close()


async def told_by(tools: Registry, context: Context, **arguments: object) -> str:
    call = ToolCall.model_validate({"call_id": "1", "name": "pdf_text", "arguments": arguments})
    return "".join(part.text for part in (await tools.call(call, context)).parts if part.type == "text")


async def read(tools: Registry, content: bytes, **arguments: object) -> str:
    return await told_by(tools, Context(files=MemoryFiles(a_pdf=content)), path="a.pdf", **arguments)


async def test_the_text_is_told_page_by_page(tools: Registry) -> None:
    assert await read(tools, THREE) == (
        "/a.pdf: “A report” 3 pages\n\n--- Page 1 ---\nFirst page\n\n--- Page 2 ---\n[no text on this page]\n\n"
        "--- Page 3 ---\nThird page"
    )


@pytest.mark.parametrize(
    ("pages", "shown"),
    [("2-3", [2, 3]), ("3, 1", [3, 1]), ("3-", [3]), ("1-2,2-9", [1, 2, 3]), ("1", [1])],
)
async def test_some_pages_can_be_asked_for(tools: Registry, pages: str, shown: list[int]) -> None:
    told = await read(tools, THREE, pages=pages)
    assert [int(line[9:-4]) for line in told.splitlines() if line.startswith("--- Page")] == shown


@pytest.mark.parametrize("pages", ["x", "0", "4", "3-1", "-2", "1--2", "1,,2", "9" * 5000, "٣"])
async def test_pages_that_are_not_there_are_told(tools: Registry, pages: str) -> None:
    with pytest.raises(ToolError, match=r"names no pages|There is no page"):
        await read(tools, THREE, pages=pages)


async def test_read_file_tells_the_text_of_a_pdf(tools: Registry) -> None:
    async def read_file(**arguments: object) -> str:
        call = ToolCall.model_validate(
            {"call_id": "1", "name": "read_file", "arguments": {"path": "a.pdf", **arguments}}
        )
        output = await tools.call(call, Context(files=MemoryFiles(a_pdf=THREE)))
        return "".join(part.text for part in output.parts if part.type == "text")

    assert (await read_file()).startswith("/a.pdf: “A report” 3 pages\n\n--- Page 1 ---\nFirst page")
    last = await read_file(offset=3, limit=1)
    assert "Third page" in last and "--- Page 1 ---" not in last
    assert "--- Page 2 ---" not in await read_file(limit=1)
    with pytest.raises(ToolError, match="There is no page"):
        await read_file(offset=4)
    with pytest.raises(ToolError, match="count lines from 1"):
        await read_file(offset=0)


async def test_read_file_says_how_to_read_on_in_a_long_pdf(tools: Registry) -> None:
    context = Context(files=MemoryFiles(a_pdf=pdf_of([f"Page {number}" for number in range(MOST_PAGES + 1)])))
    call = ToolCall.model_validate({"call_id": "1", "name": "read_file", "arguments": {"path": "a.pdf"}})
    output = await tools.call(call, context)
    told = "".join(part.text for part in output.parts if part.type == "text")
    assert told.endswith(f"[… 1 more page; read on with offset={MOST_PAGES + 1}]")


async def test_a_scanned_file_is_told_to_hold_no_text(tools: Registry) -> None:
    with pytest.raises(ToolError, match=r"/a.pdf: 2 pages, but they hold no text: they are pictures, as a scanner"):
        await read(tools, pdf_of(["", ""]))


async def test_a_locked_file_is_told(tools: Registry) -> None:
    with pytest.raises(ToolError, match=r"/a.pdf is locked with a password. Ask for a copy without one"):
        await read(tools, locked(THREE, "secret"))


async def test_a_file_that_anybody_may_read_though_it_is_encrypted_is_read(tools: Registry) -> None:
    assert "First page" in await read(tools, locked(THREE, ""))


@pytest.mark.parametrize("content", [b"", b"hello", b"%PDF-1.4\n", THREE[:200], b"\x00" * 5000])
async def test_what_is_no_pdf_or_damaged_is_told(tools: Registry, content: bytes) -> None:
    with pytest.raises(ToolError, match=r"/a.pdf cannot be read as a PDF: .*damaged, or another kind of file"):
        await read(tools, content)


async def test_a_damaged_page_does_not_hide_the_others(tools: Registry) -> None:
    told = await read(tools, THREE.replace(b">>\nstream\nBT", b"/Filter /No >>\nstream\nBT", 1))
    assert "--- Page 1 ---\n[this page is damaged: " in told
    assert "Third page" in told


async def test_a_huge_file_is_not_opened(tools: Registry) -> None:
    with pytest.raises(ToolError, match=r"has 33,554,433 bytes; 33,554,432 is the most"):
        await read(tools, b"%PDF" + bytes(MOST_CONTENT - 3))


async def test_a_long_file_is_read_in_parts_and_says_how_far_it_is(tools: Registry) -> None:
    context = Context(files=MemoryFiles(a_pdf=pdf_of([f"Page {number}" for number in range(1, MOST_PAGES + 21)])))
    told = await told_by(tools, context, path="/a.pdf")
    assert told.endswith(f'[… 20 more pages; read on with pages="{MOST_PAGES + 1}-"]')
    assert (context.progress[-1].done, context.progress[-1].total) == (MOST_PAGES, MOST_PAGES)


async def test_pages_full_of_text_are_read_in_parts(tools: Registry) -> None:
    told = await read(tools, pdf_of(["x" * 60_000] * 4))
    assert told.endswith('[… 1 more page; read on with pages="4-"]')


async def test_a_file_that_is_not_there_is_told(tools: Registry) -> None:
    with pytest.raises(ToolError, match=r"There is no file /other.pdf"):
        await told_by(tools, Context(), path="/other.pdf")


async def test_it_is_offered_for_pdf_files(tools: Registry) -> None:
    assert tools.specs(("pdf_text",))[0].handles == ("application/pdf",)


async def test_a_page_that_would_take_for_ever_is_left_out(tools: Registry) -> None:
    assert "[this page is damaged: LimitReachedError" in await read(tools, SLOW, pages="1")


@pytest.mark.asyncio(loop_scope="function")
async def test_a_call_that_is_stopped_leaves_no_work_behind() -> None:
    tools = builtin_registry()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await read(tools, SLOW)
    stopped = time.monotonic()
    assert "First page" in await read(tools, THREE)
    await tools.close()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert time.monotonic() - stopped < 15


async def test_what_is_damaged_is_not_logged_line_by_line(tools: Registry, caplog: pytest.LogCaptureFixture) -> None:
    context = Context(files=MemoryFiles(a_pdf=NOISY))
    await told_by(tools, context, path="a.pdf")
    assert (caplog.records, context.shown) == ([], [])
