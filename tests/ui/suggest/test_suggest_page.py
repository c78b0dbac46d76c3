"""The page on which a better prompt is searched."""

import asyncio
from pathlib import Path

from nicegui import background_tasks
from nicegui.testing.user_interaction import UserInteraction

from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until


async def test_a_search_that_is_asked_for_twice_at_once_begins_once(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        await workbench.plant()
        await user.open("/agents/math-tutor/suggest?dataset=math-tutor-long-sums")
        await until(lambda: marked(user, "suggest-start"))
        start = UserInteraction(user, {the(user, "suggest-start")}, None)
        others = set(background_tasks.running_tasks)
        start.click()
        start.click()
        await asyncio.gather(*(background_tasks.running_tasks - others))
        assert len(workbench.suggesting._known) == 1
