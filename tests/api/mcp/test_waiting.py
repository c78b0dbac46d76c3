"""What a client hears of the run that it waits for."""

from types import SimpleNamespace
from typing import Any

import pytest

from app.api.door.caller import OWNER
from app.api.mcp.waiting import Patience, Waiting
from app.workbench import Workbench
from tests.api.mcp.serving import SUM


@pytest.mark.parametrize(("heard", "told"), [(0, ["Asks demo/agent", "Calls calculator"]), (None, [])])
async def test_steps_before_anybody_waited_are_told_of_a_run_that_the_call_began(
    workbench: Workbench, heard: int | None, told: list[str]
) -> None:
    steps: list[str] = []

    async def report_progress(_: int, message: str) -> None:
        steps.append(message)

    agent = next(agent for agent in workbench.agents.all() if agent.slug == "assistant")
    session = await workbench.chat.new_session(agent.id)
    live = await workbench.chat.send(session.id, SUM)
    await live.ended()
    client: Any = SimpleNamespace(report_progress=report_progress, client_params=None, client_capabilities=None)
    context: Any = SimpleNamespace(session=client, meta={"progress_token": 1}, protocol_version="2025-11-25")
    await Waiting(workbench, OWNER, context, Patience(), heard=heard).until(live)

    assert steps[:2] == told
