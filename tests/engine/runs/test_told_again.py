"""Figures of rows that an earlier version stored, told again from their traces."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.provenance import Trigger
from app.domain.trace import RunRow
from app.domain.usage.figures import Figures
from app.domain.usage.query import UsageQuery
from app.workbench import Workbench
from tests.api.over import opened
from tests.waiting import until

ALL = UsageQuery()


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = opened(tmp_path)
    await workbench.start()
    yield workbench
    await workbench.close()


async def ran(workbench: Workbench) -> RunRow:
    agent = workbench.agents.by_slug("assistant")
    session = await workbench.chat.new_session(agent.id)
    live = await workbench.chat.send(session.id, "What is 5 + 10, then multiply by 3?", trigger=Trigger(kind="page"))
    await live.ended()
    row = workbench.rows.get(live.run_id)
    assert row is not None and row.models
    return row


def as_before_there_were_tallies(row: RunRow) -> RunRow:
    return row.model_copy(update={"models": None, "tools": (), "input_tokens": 1, "form": 0})


async def sums(workbench: Workbench) -> Figures:
    await workbench.usage.ready()
    return await workbench.usage.totals(ALL)


async def test_rows_that_lack_tallies_are_told_again_from_their_traces(workbench: Workbench):
    row, other = await ran(workbench), await ran(workbench)
    right = await sums(workbench)
    assert (right.calls, right.tool_calls, right.runs) == (6, 4, 2)
    await workbench.rows.save(as_before_there_were_tallies(row))
    assert (await sums(workbench)).times != right.times
    assert await workbench.told_again.lacking() == 1
    assert workbench.rows.get(row.run_id) == row
    assert workbench.rows.get(other.run_id) == other
    assert await sums(workbench) == right
    assert await workbench.told_again.lacking() == 0


async def test_messages_that_waited_are_told_of_runs_that_were_stored_before_rows_said_it(workbench: Workbench):
    agent = workbench.agents.by_slug("assistant")
    session = await workbench.chat.new_session(agent.id)
    await workbench.chat.send(session.id, "Tell me a long story")
    await workbench.queue.add(session.id, "hello")
    await until(lambda: len(workbench.sessions.get(session.id).runs) == 2 and not workbench.runs.live_runs())
    row = workbench.rows.get(workbench.sessions.get(session.id).runs[-1])
    assert row is not None and row.queued == 1
    right = await sums(workbench)
    assert right.queued == 1 and (right.wait_ms(0.5) or 0) > 1
    await workbench.rows.save(row.model_copy(update={"queued": 0, "waits": {}, "form": 0}))
    assert (await sums(workbench)).queued == 0
    assert await workbench.told_again.lacking() == 1
    assert await sums(workbench) == right


async def test_all_is_made_anew_whatever_rows_and_figures_say(workbench: Workbench):
    row = await ran(workbench)
    right = await sums(workbench)
    await workbench.rows.save(row.model_copy(update={"models": (), "cost": 7.0}))
    assert await sums(workbench) != right
    assert await workbench.told_again.all() == 1
    assert await sums(workbench) == right


async def test_a_run_whose_trace_is_gone_keeps_the_row_it_has(workbench: Workbench):
    row = await ran(workbench)
    await workbench.rows.save(row.model_copy(update={"run_id": "gone", "models": None, "form": 0}))
    assert await workbench.told_again.all() == 0
    assert (await sums(workbench)).runs == 2


async def test_an_update_tells_again_what_rows_lack_after_its_first_start(workbench: Workbench, tmp_path: Path):
    row = await ran(workbench)
    await workbench.rows.save(as_before_there_were_tallies(row))
    await workbench.close()
    again = opened(tmp_path)
    await again.start()
    await again.warm()
    assert again.rows.get(row.run_id) == row
    assert again.usage.settled
    await again.close()
