"""The first page, while runs go on behind it."""

from pathlib import Path

from nicegui.testing.user_interaction import UserInteraction

from app.workbench import Workbench
from tests.ui.runs.test_runs_pages import marked, sees, the, visitor
from tests.waiting import until


async def ask(workbench: Workbench, question: str) -> str:
    """A session in which that is asked; its id."""
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    await workbench.chat.send(session.id, question)
    return session.id


async def test_a_title_is_typed_in_peace_while_a_run_begins_and_ends(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        renamed = await ask(workbench, "What is 1 + 1?")
        await until(lambda: not workbench.runs.live_runs())
        await user.open("/playground")
        await sees(user, "What is 1 + 1?")
        UserInteraction(user, {the(user, "session-list")}, None).trigger("click", ["rename", renamed])
        await until(lambda: marked(user, "question-input"))
        await ask(workbench, "Tell me a long story")
        await sees(user, "Running")
        assert marked(user, "question-input")
