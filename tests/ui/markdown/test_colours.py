"""The colours of code, found out in a process of their own."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable

import psutil
import pytest
from pygments.lexers import get_lexer_by_name

from app.ui.markdown.colours import LANGUAGES, LONGEST_CODE, Colours

SLOW = "$'" + "\\0" * 200
"""Which Pygments reads for longer than anybody lives."""


@pytest.fixture
async def colours() -> AsyncIterator[Colours]:
    colours = Colours()
    yield colours
    await colours.close()


async def test_each_piece_has_its_kind_and_its_length_as_browsers_count(colours: Colours) -> None:
    code = "def f():  # é😀\n"
    pieces = await colours.of(code, "Python")
    assert pieces[0] == ("k", 3)
    assert ("c1", 5) in pieces
    assert sum(length for _, length in pieces) == len(code) + 1


async def test_line_ends_and_blanks_stay(colours: Colours) -> None:
    pieces = await colours.of("\n\r\n  x = 1", "py")
    assert sum(length for _, length in pieces) == len("\n\r\n  x = 1")


@pytest.mark.parametrize("language", ["klingon", "autohotkey", "autoit", ""])
async def test_other_languages_have_no_colours_and_need_no_process(
    colours: Colours, started: Callable[[], list[str]], language: str
) -> None:
    assert await colours.of("x = 1", language) == []
    assert started() == []


async def test_long_code_has_no_colours(colours: Colours) -> None:
    assert await colours.of("x" * (LONGEST_CODE + 1), "json") == []


async def test_code_that_takes_too_long_costs_its_process_and_is_not_tried_again(
    colours: Colours, started: Callable[[], list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    assert await colours.of(SLOW, "bash") == []
    assert started() == []
    assert await colours.of(SLOW, "bash") == []
    assert started() == []
    assert await colours.of("x = 1", "python") != []
    assert caplog.messages == []


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Nothing here holds a process still.")
async def test_a_machine_that_does_much_else_takes_no_colours_away(colours: Colours) -> None:
    others = psutil.Process().children()
    await colours.of("x = 1", "python")
    [process] = [one for one in psutil.Process().children() if one not in others]
    process.suspend()
    asking = asyncio.create_task(colours.of("y = 2", "python"))
    await asyncio.wait({asking}, timeout=2)
    process.resume()
    assert await asking != []


def test_all_languages_are_known_to_pygments() -> None:
    assert 30 <= len({get_lexer_by_name(language).name for language in LANGUAGES}) <= 40
