"""The text of PDF files."""

import pytest

from app.domain.errors import ToolError
from app.tools.builtin.pdf_text import LARGEST_PDF, MOST_PAGES, pdf_text
from tests.tools.builtin.pdfs import locked, pdf_of
from tests.tools.builtin.using import told_by
from tests.tools.context import Context, MemoryFiles

THREE = pdf_of(["First page", "", "Third page"], title="A report")


async def read(content: bytes, **arguments: object) -> str:
    return await told_by(pdf_text, Context(files=MemoryFiles(a_pdf=content)), path="a.pdf", **arguments)


async def test_the_text_is_told_page_by_page() -> None:
    assert await read(THREE) == (
        "/a.pdf: “A report” 3 pages\n\n--- Page 1 ---\nFirst page\n\n--- Page 2 ---\n[no text on this page]\n\n"
        "--- Page 3 ---\nThird page"
    )


@pytest.mark.parametrize(
    ("pages", "shown"),
    [("2-3", [2, 3]), ("3, 1", [3, 1]), ("3-", [3]), ("1-2,2-9", [1, 2, 3]), ("1", [1])],
)
async def test_some_pages_can_be_asked_for(pages: str, shown: list[int]) -> None:
    told = await read(THREE, pages=pages)
    assert [int(line[9:-4]) for line in told.splitlines() if line.startswith("--- Page")] == shown


@pytest.mark.parametrize("pages", ["x", "0", "4", "3-1", "-2", "1--2", "1,,2", "9" * 5000, "٣"])
async def test_pages_that_are_not_there_are_told(pages: str) -> None:
    with pytest.raises(ToolError, match=r"names no pages|There is no page"):
        await read(THREE, pages=pages)


async def test_a_scanned_file_is_told_to_hold_no_text() -> None:
    with pytest.raises(ToolError, match=r"/a.pdf: 2 pages, but they hold no text: they are pictures, as a scanner"):
        await read(pdf_of(["", ""]))


async def test_a_locked_file_is_told() -> None:
    with pytest.raises(ToolError, match=r"/a.pdf is locked with a password. Ask for a copy without one"):
        await read(locked(THREE, "secret"))


async def test_a_file_that_anybody_may_read_though_it_is_encrypted_is_read() -> None:
    assert "First page" in await read(locked(THREE, ""))


@pytest.mark.parametrize("content", [b"", b"hello", b"%PDF-1.4\n", THREE[:200], b"\x00" * 5000])
async def test_what_is_no_pdf_or_damaged_is_told(content: bytes) -> None:
    with pytest.raises(ToolError, match=r"/a.pdf cannot be read as a PDF: .*damaged, or another kind of file"):
        await read(content)


async def test_a_damaged_page_does_not_hide_the_others() -> None:
    told = await read(THREE.replace(b">>\nstream\nBT", b"/Filter /No >>\nstream\nBT", 1))
    assert "--- Page 1 ---\n[this page is damaged: " in told
    assert "Third page" in told


async def test_a_huge_file_is_not_opened() -> None:
    with pytest.raises(ToolError, match=r"has 52,428,801 bytes; 52,428,800 is the most"):
        await read(b"%PDF" + bytes(LARGEST_PDF - 3))


async def test_a_long_file_is_read_in_parts_and_says_how_far_it_is() -> None:
    context = Context(files=MemoryFiles(a_pdf=pdf_of([f"Page {number}" for number in range(1, MOST_PAGES + 21)])))
    told = await told_by(pdf_text, context, path="/a.pdf")
    assert told.endswith(f'[… 20 more pages; read on with pages="{MOST_PAGES + 1}-"]')
    assert (context.progress[-1].done, context.progress[-1].total) == (MOST_PAGES, MOST_PAGES)


async def test_pages_full_of_text_are_read_in_parts() -> None:
    told = await read(pdf_of(["x" * 60_000] * 4))
    assert told.endswith('[… 1 more page; read on with pages="4-"]')


async def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(ToolError, match=r"There is no file /other.pdf"):
        await told_by(pdf_text, path="/other.pdf")


def test_it_is_offered_for_pdf_files() -> None:
    assert pdf_text.spec.handles == ("application/pdf",)
