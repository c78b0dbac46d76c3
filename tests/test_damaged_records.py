"""A session whose document cannot be read hides no other, and keeps nothing else from being done."""

from pathlib import Path

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.events import Entry
from app.domain.settings import Preferences
from app.domain.values import new_id, now
from app.store.journal.database import JournalDB
from app.workbench import Workbench
from tests.store.runs.test_retention import folder_with
from tests.traces import ADD, asked, called, finished, returned, said, started
from tests.ui.conversation.test_left_turns import left_at_a_card
from tests.waiting import until

TALKER = new_agent("Talker", PromptBehaviour(system_prompt="Talk."), taken_slugs=())


async def lost_run(workbench: Workbench, session_id: str) -> str:
    """A run of which a kill left its trace and no row."""
    run_id = new_id()
    events = (started(session_id=session_id), asked("Add"), called(), said("", ADD), returned(), finished())
    writer = await workbench.data.traces.create(run_id, session_id)
    for seq, event in enumerate(events):
        writer.append(Entry(run_id=run_id, seq=seq, at=now(), event=event))
    await writer.close()
    return run_id


async def damage(data: Path, session_id: str) -> None:
    database = JournalDB(data / "app.tdb")
    sessions = database.table("sessions")
    (place,) = (document.doc_id for document in sessions if document["id"] == session_id)
    sessions.update({"value": {"id": 5}}, doc_ids=[place])
    await database.journal.durable()
    database.close()


async def test_everything_else_is_put_in_order_after_a_start(tmp_path: Path):
    workbench = Workbench.open(tmp_path)
    await workbench.agents.create(TALKER)
    broken, whole = [await workbench.chat.new_session(TALKER.id) for _ in range(2)]
    runs = [await lost_run(workbench, session.id) for session in (broken, whole)]
    await workbench.close()
    await damage(tmp_path, broken.id)

    workbench = Workbench.open(tmp_path)
    await workbench.warm()
    assert workbench.rows.knows(runs[1])
    await until(lambda: workbench.search.grown)
    assert [session.id for session in workbench.sessions.recent()] == [whole.id]
    await workbench.close()


async def test_old_runs_are_deleted_but_none_of_a_session_that_cannot_be_read(tmp_path: Path):
    sessions = {"broken": (("b1", 50.0),), "whole": (("w1", 50.0),), "new": (("n1", 0.0),)}
    folder = await folder_with(tmp_path, **sessions)
    await folder.preferences.save(Preferences(keep_days=30))
    await folder.close()
    await damage(tmp_path, "broken")

    workbench = Workbench.open(tmp_path)
    await workbench.warm()
    assert {turn.run_id for _, turn in workbench.rows.by_age()} == {"b1", "n1"}
    await workbench.close()


async def test_what_waits_for_a_person_in_other_sessions_is_told(tmp_path: Path):
    workbench = Workbench.open(tmp_path)
    await workbench.agents.create(TALKER)
    broken, whole = [await workbench.chat.new_session(TALKER.id) for _ in range(2)]
    runs = await left_at_a_card(workbench, [broken.id, whole.id])
    await workbench.close()
    await damage(tmp_path, broken.id)

    workbench = Workbench.open(tmp_path)
    assert await workbench.pauses.waiting() == {runs[whole.id]}
    await workbench.close()
