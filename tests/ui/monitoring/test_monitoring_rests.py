"""Monitoring costs nothing while nobody looks: it asks for no figures and watches no event loop."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction
from nicegui.testing.user_simulation import user_simulation

from app.domain.provenance import Trigger
from app.store.runs.recent_usage import RecentUsage
from app.ui.markdown.colours import Colours
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.shell.shell import root
from app.workbench import Workbench
from app.workbench.vitals.vitals import Vitals
from tests.api.over import opened
from tests.parts import having
from tests.ui.runs.test_runs_pages import the
from tests.ui.shell.test_visited_pages import visit
from tests.waiting import until


class Watched(Vitals):
    looks = 0

    def look(self) -> None:
        self.looks += 1
        super().look()

    @property
    def rests(self) -> bool:
        """Whether nobody has looked for some seconds."""
        return time.monotonic() > self._watched_until


class Asked(RecentUsage):
    asked = 0

    async def steps(self, step, count, *, until):
        self.asked += 1
        return await super().steps(step, count, until=until)


@asynccontextmanager
async def somebody(folder: Path) -> AsyncIterator[tuple[User, Workbench, Watched, Asked]]:
    own = opened(folder)
    vitals, figures = Watched(folder, lambda: 0), Asked(own.rows)
    shown = having(own, vitals=vitals, recent_usage=figures)
    try:
        await own.start()
        async with user_simulation(partial(root, shown, LiveMarkdown(), Colours())) as user:
            yield user, own, vitals, figures
    finally:
        await own.close()


async def ran(workbench: Workbench) -> None:
    """What would change every figure of the page."""
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    live = await workbench.chat.send(session.id, "hello", trigger=Trigger(kind="page"))
    await live.ended()


async def test_it_rests_once_it_is_left_and_begins_anew_when_it_is_seen_again(tmp_path: Path) -> None:
    async with somebody(tmp_path) as (user, workbench, vitals, figures):
        await user.open("/monitoring")
        await until(lambda: vitals.looks > 1 and figures.asked)
        await visit(user, "/jobs")
        looks, asked = vitals.looks, figures.asked
        await ran(workbench)
        await until(lambda: vitals.rests)
        assert (vitals.looks, figures.asked) == (looks, asked)
        await visit(user, "/monitoring")
        await until(lambda: vitals.looks > looks and figures.asked > asked)


async def test_it_rests_while_its_tab_is_hidden(tmp_path: Path) -> None:
    async with somebody(tmp_path) as (user, workbench, vitals, figures):
        await user.open("/monitoring")
        await until(lambda: vitals.looks > 1 and figures.asked)
        page = UserInteraction(user, {the(user, "monitoring")}, None)
        page.trigger("looks", False)
        await ran(workbench)
        await until(lambda: vitals.rests)
        looks = vitals.looks
        page.trigger("looks", True)
        await until(lambda: vitals.looks > looks)
