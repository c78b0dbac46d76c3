"""What is cancelled leaves nothing behind: at its n-th await, for every n."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.domain.comparisons import ColumnChoice
from app.domain.errors import NotFound
from app.domain.trace import RunFilter, RunRow
from app.engine.ports import RunRows
from app.engine.runs.unbroken import Unbroken
from app.engine.sessions.compare import Compare
from tests.cancelling import AtAwait
from tests.engine.households import Family, Household, reply, spawn, started
from tests.faults.cancelled import WAYS, Way, cancelled_everywhere
from tests.waiting import until


@pytest.mark.parametrize("way", WAYS, ids=[way.name for way in WAYS])
async def test_nothing_is_left_of_what_is_cancelled_at_any_await(way: Way, tmp_path: Path):
    found = await cancelled_everywhere(way, tmp_path / "data")
    assert found.tried > 1
    assert found.left == [] and found.refused == []


@pytest.mark.parametrize(("function", "passed_over"), [("_beside_others", 0), ("Chat._begun", 1)])
async def test_a_task_does_not_outlive_a_run_that_is_stopped_while_it_hands_it_over(
    function: str, passed_over: int, tmp_path: Path
):
    family = Family()
    home = Household.opened(tmp_path / "data", family)
    family.plans["lead"] = [reply("", spawn("a", "waits here"), spawn("b", "waits there"))]
    agent, nth, reached = await home.agent(), 0, True

    def stop() -> None:
        next(live for live in home.runs.live_runs() if live.started.parent is None).stop()

    while reached:
        nth += 1
        factory = AtAwait(function, nth, stop, passed_over=passed_over)
        asyncio.get_running_loop().set_task_factory(factory)
        live = await home.begun(agent)
        await live.ended()
        reached = factory.reached
        if not reached:
            family.gate.set()
        await until(lambda: not home.runs.live_runs() and not home.runs.starting.taken)
        asyncio.get_running_loop().set_task_factory(None)
        assert (await home.runs.lists.page(RunFilter(status="running"))).rows == []
        ends = {row.status for child in started(live) if (row := home.data.rows.get(child)) is not None}
        assert ends <= ({"cancelled"} if reached else {"completed"})
    assert nth > 2
    await home.closed()


@dataclass
class SlowRows:
    """The rows of runs, which take the first one of a child, or of its parent, only when they are let."""

    rows: RunRows
    of_a_child: bool = True
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    may: asyncio.Event = field(default_factory=asyncio.Event)

    async def save(self, row: RunRow) -> None:
        if (row.parent is not None) == self.of_a_child:
            self.asked.set()
            await self.may.wait()
        await self.rows.save(row)

    def __getattr__(self, name: str) -> object:
        return getattr(self.rows, name)


async def test_a_task_that_is_about_to_begin_when_its_run_has_ended_is_stopped(tmp_path: Path):
    family = Family()
    home = Household.opened(tmp_path / "data", family)
    home.runs.rows = rows = SlowRows(home.data.rows)  # type: ignore[assignment]
    family.plans["lead"] = [reply("", spawn("a", "waits here"))]
    live = await home.begun(await home.agent())
    await rows.asked.wait()
    live.stop()
    await live.ended()
    rows.may.set()
    await until(lambda: home.runs.begun == 2 and not home.runs.live_runs())
    assert home.runs.row(started(live)[0]).status == "cancelled"
    await home.closed()


async def test_a_run_that_is_stopped_as_it_begins_ends_before_its_first_step(tmp_path: Path):
    family = Family()
    home = Household.opened(tmp_path / "data", family)
    home.runs.rows = rows = SlowRows(home.data.rows, of_a_child=False)  # type: ignore[assignment]
    sending = asyncio.create_task(home.begun(await home.agent()))
    await rows.asked.wait()
    [live] = home.runs.live_runs()
    live.stop()
    rows.may.set()
    await sending
    await live.ended()
    assert home.runs.row(live.run_id).status == "cancelled"
    assert family.calls == []
    await home.closed()


async def test_a_comparison_says_what_became_of_each_column_though_nobody_waits_for_it(bench):
    compare = Compare(bench.chat, bench.data.sessions, bench.data.comparisons, bench.runs, bench.data.scores)
    agent_id = (await bench.session()).agent_id
    comparison = await compare.start([ColumnChoice(agent_id=agent_id, variant=1)] * 2)
    bench.models.say("one")
    bench.models.say("two")
    sending = asyncio.create_task(compare.send(comparison.id, "hi"))
    await asyncio.sleep(0)
    sending.cancel()
    await asyncio.wait([sending])
    await until(lambda: len(bench.models.requests) == 2 and not bench.runs.live_runs())
    (turn,) = bench.data.comparisons.get(comparison.id).turns
    assert set(turn.runs) == set(comparison.sessions)
    rows = [bench.data.rows.get(run_id) for run_id in turn.runs.values()]
    assert {row.status for row in rows if row is not None} == {"completed"}


async def test_work_is_undone_with_its_caller_until_it_commits():
    unbroken, steps = Unbroken(), list[str]()

    async def work(*, commits: bool) -> None:
        try:
            if commits:
                unbroken.commit()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            steps.append("done")
        except asyncio.CancelledError:
            steps.append("undone")
            raise

    for commits in (False, True):
        caller = asyncio.create_task(unbroken.or_undone(work(commits=commits)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        caller.cancel()
        await asyncio.wait([caller])
        assert caller.cancelled()
    await unbroken.close(patience=1)
    assert steps == ["undone", "done"]


async def test_work_that_nobody_waits_for_may_fail(caplog):
    unbroken = Unbroken()

    async def fails() -> None:
        await asyncio.sleep(0)
        raise NotFound("It is gone.")

    caller = asyncio.create_task(unbroken(fails()))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.wait([caller])
    await unbroken.close(patience=1)
    assert [record for record in caplog.records if record.levelname in ("ERROR", "WARNING")] == []


async def test_stop_before_the_first_step_of_a_run_ends_it(bench):
    session = await bench.session()
    bench.models.say("never said")
    stop = AtAwait("Runs._live_out", 0, lambda: [live.stop() for live in bench.runs.live_runs()])
    asyncio.get_running_loop().set_task_factory(stop)
    live = await bench.chat.send(session.id, "hi")
    await live.ended()
    asyncio.get_running_loop().set_task_factory(None)
    assert stop.found and bench.models.requests == []
    assert live.status == bench.runs.row(live.run_id).status == "cancelled"
    assert (await bench.chat.send(session.id, "and now?")).alive
