"""Turns whose process ended under them, on pages that look again only after their run has gone on and ended."""

from collections.abc import Sequence
from pathlib import Path

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.comparisons import ColumnChoice, ComparedTurn
from app.domain.events import Event, PauseRequested, ToolCalled
from app.domain.values import new_id
from app.engine.run.interrupted_runs import row_to_store
from app.workbench import Workbench
from tests.traces import ADD, asked, called, returned, said, started, trace_of
from tests.ui.runs.test_runs_pages import marked, sees, visitor, words
from tests.waiting import until

WAITING = PauseRequested(pause_id="p1", reason="approval", call_id=ADD.call_id, name=ADD.name, arguments=ADD.arguments)
TALKER = new_agent("Talker", PromptBehaviour(system_prompt="Talk."), taken_slugs=())
COLUMNS = (ColumnChoice(agent_id=TALKER.id, variant=1), ColumnChoice(agent_id=TALKER.id, variant=1))


async def left_at_a_card(workbench: Workbench, sessions: Sequence[str]) -> dict[str, str]:
    """By session: its run, which waited for a person when its process ended."""
    return await left_at(WAITING, workbench, sessions)


async def left_at(last: Event, workbench: Workbench, sessions: Sequence[str]) -> dict[str, str]:
    """By session: its run, whose process ended at that event."""
    runs = {session_id: new_id() for session_id in sessions}
    for session_id, run_id in runs.items():
        events = (started(session_id=session_id), asked("Add"), called(), said("", ADD), returned(), last)
        entries = trace_of(*events, run_id=run_id)
        writer = await workbench.data.traces.create(run_id, session_id)
        for entry in entries:
            writer.append(entry)
        await writer.close()
        await workbench.rows.save(row_to_store(entries))
        await workbench.sessions.change(
            session_id, lambda one, run_id=run_id: one.model_copy(update={"runs": (run_id,)})
        )
    return runs


async def test_a_session_says_that_its_run_has_ended_though_it_never_saw_it_go_on(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, workbench):
        await workbench.agents.create(TALKER)
        session = await workbench.chat.new_session(TALKER.id)
        runs = await left_at_a_card(workbench, [session.id])
        await user.open(f"/playground/{session.id}")
        await sees(user, "Waiting for you")
        await workbench.pauses.stop(runs[session.id])
        await until(lambda: "Waiting for you" not in words(user) and "Paused" not in words(user))
        assert "Idle" in words(user)


async def test_a_comparison_shows_what_became_of_a_run_that_was_left(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, workbench):
        await workbench.agents.create(TALKER)
        comparison = await workbench.compare.start(COLUMNS)
        runs = await left_at_a_card(workbench, comparison.sessions)
        turn = ComparedTurn(text="Add", runs=runs)
        await workbench.comparisons.change(comparison.id, lambda one: one.model_copy(update={"turns": (turn,)}))
        await user.open(f"/compare/{comparison.id}")
        await until(lambda: len(marked(user, "approval-card")) == 2)
        for run_id in runs.values():
            await workbench.pauses.stop(run_id)
        await until(lambda: not marked(user, "approval-card"))
        await sees(user, "message-stopped")


async def test_a_call_in_which_the_app_was_closed_goes_on_nowhere(tmp_path: Path) -> None:
    calling = ToolCalled(call_id=ADD.call_id, name=ADD.name, arguments=ADD.arguments)
    async with visitor(tmp_path) as (user, workbench):
        await workbench.agents.create(TALKER)
        session = await workbench.chat.new_session(TALKER.id)
        [run_id] = (await left_at(calling, workbench, [session.id])).values()
        await user.open(f"/playground/{session.id}")
        await sees(user, "tool-left")
        assert "tool-running" not in words(user)
        await user.open(f"/runs/{run_id}?view=trajectory")
        await sees(user, "tool-left")
        assert "tool-running" not in words(user)
