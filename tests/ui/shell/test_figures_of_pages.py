"""What the Overview, Monitoring and Resources say while figures are added up, without any, and if none can be read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from nicegui.testing import User
from nicegui.testing.user_simulation import user_simulation

from app.domain.errors import StorageError
from app.store.runs.usage import Usage
from app.ui.markdown.colours import Colours
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.shell.shell import root
from app.workbench import Workbench
from tests.parts import having
from tests.ui.runs.test_runs_pages import sees, words
from tests.waiting import until

REFUSED = "The disk does not answer."
PAGES = [
    ("/", "Nothing was run in the last 14 days"),
    ("/monitoring?over=week", "Nothing ran yet"),
    ("/resources", "Nothing ran in these days"),
]


class Slow(Usage):
    """Figures that are read once they may be, or not at all."""

    def __init__(self, workbench: Workbench) -> None:
        super().__init__(workbench.rows.usage_figures, workbench.rows.settle_usage)
        self.free, self.broken, self.asked = asyncio.Event(), False, 0

    async def _cells(self, query):
        self.asked += 1
        await self.free.wait()
        if self.broken:
            raise StorageError(REFUSED)
        return await super()._cells(query)


@asynccontextmanager
async def somebody(folder: Path) -> AsyncIterator[tuple[User, Slow]]:
    own = Workbench.open(folder)
    try:
        usage = Slow(own)
        async with user_simulation(partial(root, having(own, usage=usage), LiveMarkdown(), Colours())) as user:
            yield user, usage
    finally:
        await own.close()


@pytest.mark.parametrize(("address", "empty"), PAGES)
async def test_figures_are_waited_for_in_words_and_so_is_said_that_there_are_none(
    tmp_path: Path, address: str, empty: str
) -> None:
    async with somebody(tmp_path) as (user, usage):
        await user.open(address)
        await until(lambda: usage.asked)
        assert "Adding up…" in words(user) and empty not in words(user)
        usage.free.set()
        await sees(user, empty)
        await until(lambda: "Adding up…" not in words(user))


@pytest.mark.parametrize(
    ("address", "empty"), [PAGES[0], *(pytest.param(*page, marks=pytest.mark.long) for page in PAGES[1:])]
)
async def test_figures_that_cannot_be_read_are_told_in_words_and_come_once_they_can(
    tmp_path: Path, address: str, empty: str
) -> None:
    async with somebody(tmp_path) as (user, usage):
        usage.broken = True
        usage.free.set()
        await user.open(address)
        await sees(user, f"{REFUSED} It is tried again in a moment.")
        await until(lambda: "Adding up…" not in words(user))
        assert empty not in words(user)
        usage.broken = False
        await until(lambda: empty in words(user))
        assert REFUSED not in words(user)
