"""A turn of a conversation, over a run that goes on while it is drawn."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path

from app.domain.events import Entry, Forked
from app.engine.run.recorder import Recorder
from app.engine.run.run import Run
from app.ui.conversation.answer import Answer
from app.ui.conversation.turn import PAUSE_EVERY, Turn
from app.ui.markdown.live_markdown import LiveMarkdown
from app.workbench import Workbench
from tests.traces import BEGAN, asked, called, finished, returned, said, started, trace_of
from tests.ui.runs.test_runs_pages import visitor, words


async def begun(workbench: Workbench) -> Run:
    """A run of which nobody has drawn anything yet, whose beginning is drawn with a pause for others."""
    runs = workbench.runs
    recorder = Recorder("r1", await runs.traces.create("r1", "s1"), runs.clock)
    recorder.record(started(), asked("Tell me"))
    while len(recorder.entries) < PAUSE_EVERY:
        recorder.record(called(), said("Some of it."), returned())
    return runs.starting.equipped(AsyncExitStack(), started(), recorder)


def turn_of(live: Run, workbench: Workbench) -> Turn:
    async def act(_turn: Turn, _action: str, _value: str) -> None: ...

    return Turn(
        live.run_id, agent_icon="spark", contents=workbench.contents, live_markdown=LiveMarkdown(), on_action=act
    )


async def test_a_run_that_ends_while_its_beginning_is_drawn_is_shown_to_its_end(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, workbench):
        await user.open("/playground")
        live = await begun(workbench)

        async def end() -> None:
            live.recorder.record(called(), said("All of it."), returned(), finished())

        with user.current_layout:
            turn = turn_of(live, workbench)
        live.go_on(asyncio.create_task(end()))
        await turn.follow(live)
        assert turn.over
        assert turn.answer is not None
        assert turn.answer.text.split("\n\n") == [*["Some of it."] * 33, "All of it."]
        assert turn.status == "completed"


async def test_a_fork_says_how_long_it_took_itself(tmp_path: Path) -> None:
    yesterday = trace_of(started(), asked("Tell me"), called(), said("All of it."), returned())
    forked = Forked(run_id="r0", seq=4, prefix_digest="0")
    today = [
        Entry(run_id="r1", seq=5 + place, at=BEGAN + timedelta(days=1, seconds=place), event=event)
        for place, event in enumerate((forked, finished()))
    ]
    async with visitor(tmp_path) as (user, workbench):
        await user.open("/playground")
        with user.current_layout:
            answer = Answer(
                yesterday[0], started(), "spark", workbench.contents, LiveMarkdown(), act=partial(asyncio.sleep, 0)
            )
            for entry in (*yesterday, *today):
                await answer.take(entry, alive=False)
        assert "1.0 s" in words(user)
        assert "24 h" not in words(user)
