"""A workflow's run that is stopped at any await of any node leaves nothing behind."""

import asyncio
from collections.abc import Callable

import pytest

from app.domain.trace import RunFilter, open_pauses
from app.domain.workflows.document import AgentNode, Template
from tests.cancelling import AtAwait
from tests.domain.workflows.worlds import workflow
from tests.engine.households import started
from tests.engine.workflows.flows import of_each_kind
from tests.engine.workflows.test_left_anywhere import deciding
from tests.engine.workflows.test_walking import quick
from tests.engine.workflows.workshop import Workshop, end, states
from tests.waiting import until


def stop_in(shop: Workshop) -> Callable[[], None]:
    """Stops the run of the workflow."""
    return lambda: next(live for live in shop.runs.live_runs() if live.started.parent is None).stop()


@pytest.mark.filterwarnings(
    "ignore:coroutine 'Walk._live' was never awaited"
)  # what counts its awaits stands around it
@pytest.mark.parametrize("passed_over", [0, 1, 2, 3, 5, 6, 8, 12])
async def test_a_run_that_is_stopped_at_any_await_of_a_node_leaves_nothing_behind(shop, passed_over):
    await shop.agent("Writer")
    nth, reached = 0, True
    while reached:
        factory = AtAwait("Walk._live", nth, stop_in(shop), passed_over=passed_over)
        asyncio.get_running_loop().set_task_factory(factory)
        live = await shop.begun(of_each_kind(), "bees")
        await asyncio.wait_for(deciding(shop, live.run_id), 30)
        reached = factory.reached or (nth == 0 and factory.found)
        asyncio.get_running_loop().set_task_factory(None)
        await until(lambda: not shop.runs.live_runs() and not shop.runs.starting.taken)
        assert end(live).status == ("cancelled" if reached else "completed"), nth
        assert "running" not in states(live).values()
        assert (await shop.runs.lists.page(RunFilter(status="running"))).rows == []
        nth += 1
    assert nth > 1


async def test_an_agent_does_not_outlive_a_run_that_is_stopped_while_it_is_asked(shop):
    await shop.agent("Writer")
    nth, reached = 0, True
    ask = AgentNode(id="ask", agent="writer", message=Template(text="waits"))
    made = workflow(ask, quick("fast"), wires=("input > ask", "input > fast", "fast > output", "ask > output"))
    while reached:
        nth += 1
        factory = AtAwait("Chat._begun", nth, stop_in(shop), passed_over=1)
        asyncio.get_running_loop().set_task_factory(factory)
        live = await shop.begun(made)
        if not factory.found:
            await until(lambda factory=factory: factory.found)
        await until(lambda live=live, factory=factory: factory.reached or shop.models.calls)
        reached = factory.reached
        live.stop()
        await asyncio.wait_for(live.ended(), 30)
        asyncio.get_running_loop().set_task_factory(None)
        await until(lambda: not shop.runs.live_runs() and not shop.runs.starting.taken)
        for child in started(live):
            row = shop.data.rows.get(child)
            assert row is None or row.status == "cancelled"
        assert not open_pauses(live.entries)
        shop.models.calls.clear()
    assert nth > 2
