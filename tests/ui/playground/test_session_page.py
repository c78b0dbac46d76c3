"""The page of a session, where much changes at once."""

import asyncio
from functools import partial
from pathlib import Path

from nicegui.outbox import Message
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.apps import AppContext
from app.domain.sessions import Session
from app.ui.conversation.composer import Composer
from app.ui.conversation.conversation import Conversation
from app.ui.conversation.turn import Turn
from app.ui.playground.side_panel import SidePanel
from tests.ui.runs.test_runs_pages import marked, sees, the, visitor
from tests.waiting import until


async def composer_of(user: User) -> Composer:
    [composer] = await until(lambda: [one for one in user.current_layout.descendants() if isinstance(one, Composer)])
    return composer


async def test_what_a_view_says_while_a_draft_is_being_stored_is_shown(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
        await user.open(f"/playground/{session.id}")
        composer = await composer_of(user)
        for row in range(5):
            said = AppContext(run_id="r", call_id="c", server="desk", tool="show_desk", text=f"Row {row} is chosen.")
            telling = asyncio.create_task(workbench.sessions.change(session.id, partial(_told, said=said)))
            UserInteraction(user, {composer}, None).trigger("typed", {"text": f"Draft {row}", "edition": row})
            await telling
            await sees(user, said.text)
        assert workbench.sessions.get(session.id).composer == "Draft 4"


async def test_a_message_that_is_sent_while_an_answer_begins_waits_for_its_end(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
        run = await workbench.chat.send(session.id, "What is 1 + 1?")
        await run.ended()
        await user.open(f"/playground/{session.id}")
        composer = await composer_of(user)
        again = asyncio.create_task(workbench.chat.regenerate(session.id, run.run_id))
        await until(lambda: workbench.runs.beginning(session.id).locked(), pause=0)
        assert workbench.runs.of_session(session.id) is None
        assert await composer.submit("Hello", 5)
        await again
        await until(lambda: len(workbench.sessions.get(session.id).runs) == 2 and not workbench.runs.live_runs())
        await sees(user, "Hello! I can call tools")


async def test_who_looks_at_a_session_that_another_tab_deletes_comes_to_where_it_is_brought_back(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
        await user.open(f"/playground/{session.id}")
        await composer_of(user)
        await workbench.sessions.delete(session.id)
        await until(lambda: marked(user, "undo-button"))
        UserInteraction(user, {the(user, "undo-button")}, None).click()
        await until(lambda: workbench.sessions.get(session.id).deleted_at is None)


async def test_a_message_to_a_session_that_was_just_deleted_stays_in_its_box(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
        await user.open(f"/playground/{session.id}")
        composer = await composer_of(user)
        await workbench.sessions.delete(session.id)
        assert not await composer.submit("Into the void", 13)
        assert workbench.sessions.get(session.id).runs == ()


async def test_the_focus_stays_at_the_branches_also_while_the_page_looks_for_what_is_new(tmp_path: Path, monkeypatch):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
        first = await workbench.chat.send(session.id, "What is 1 + 1?")
        await first.ended()
        await (await workbench.chat.edit(session.id, first.run_id, "What is 3 + 3?")).ended()
        await user.open(f"/playground/{session.id}")
        shown = await until(lambda: [one for one in user.current_layout.descendants() if isinstance(one, Turn)])
        [conversation] = [one for one in user.current_layout.descendants() if isinstance(one, Conversation)]
        said: list[Message] = []

        async def hears(message: Message) -> None:
            said.append(message)

        monkeypatch.setattr(conversation.client.outbox, "_emit", hears)
        looked = asyncio.Event()
        looking = asyncio.create_task(conversation.update_by(looked.wait, always=True))
        await until(conversation._updating.locked, pause=0)
        with shown[0]:
            acting = asyncio.create_task(shown[0]._on_action(shown[0], "branch", first.run_id))
        await until(lambda: workbench.sessions.get(session.id).runs == (first.run_id,))
        await asyncio.wait([acting], timeout=0.1)
        looked.set()
        await asyncio.gather(looking, acting)
        scripts = partial(filter, lambda one: one[1] == "run_javascript", said)
        await until(lambda: [script for _, _, script in scripts() if ".branches" in script["code"]])


async def test_a_file_that_is_looked_at_can_be_had_once_the_agent_has_deleted_it(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
        await user.open(f"/playground/{session.id}")
        await composer_of(user)
        [panel] = [one for one in user.current_layout.descendants() if isinstance(one, SidePanel)]
        await until(lambda: panel.built)
        with panel:
            await panel.show_files({"/list.txt": await workbench.artifacts.put(b"Milk")})
            await panel._open_file("/list.txt")
            await panel.show_files({})
        user.find("Download").click()
        await until(lambda: len(user.back_history) > 1 or user.notify.messages)
        assert user.notify.messages == [] and "list.txt" in user.back_history[-1]


def _told(session: Session, said: AppContext) -> Session:
    return session.model_copy(update={"app_contexts": (said,)})
