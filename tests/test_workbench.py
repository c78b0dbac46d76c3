"""What the app is made of when it starts."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.comparisons import ColumnChoice
from app.domain.prompts import faults
from app.domain.values import now
from app.engine.loop.output import schema_problem
from app.engine.run.run import Run
from app.export.agent_file import agent_file, read_agent_file
from app.workbench import Workbench
from tests.living import living
from tests.parts import having
from tests.waiting import until


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(tmp_path / "data")
    await workbench.start()
    yield workbench
    await workbench.close()


async def test_the_templates_are_whole(workbench: Workbench):
    templates = workbench.templates()
    assert templates[0].name == "Blank agent"
    assert len({template.name for template in templates}) == len(templates) >= 4
    for template in templates:
        behaviour = template.behaviour
        assert template.description and template.examples
        assert faults(behaviour.system_prompt, [variable.name for variable in behaviour.variables]) == []
        assert workbench.tools.missing(tuple(tool.name for tool in behaviour.tools)) == ()
        assert behaviour.output_schema is None or schema_problem(behaviour.output_schema) == ""


async def test_an_agent_made_from_a_template_runs(workbench: Workbench):
    for template in workbench.templates():
        agent = await workbench.agents.create(template.agent(workbench.agents.slugs(), name="Mine"))
        assert (agent.name, agent.active_variant.behaviour) == ("Mine", template.behaviour)
        session = await workbench.chat.new_session(agent.id)
        live = await workbench.chat.send(session.id, "hello")
        live.stop()
        await asyncio.wait_for(live.ended(), 30)
        assert live.status in ("cancelled", "completed")
    assert len([agent for agent in workbench.agents.all() if agent.name == "Mine"]) == len(workbench.templates())


async def test_every_sample_agent_goes_through_a_file_and_back(workbench: Workbench):
    for agent in workbench.agents.all():
        back = await workbench.agents.create(read_agent_file(agent_file(agent), workbench.agents.slugs()))
        assert back.slug == f"{agent.slug}-2"
        assert len(back.active_variant.behaviour.tools) == len(agent.active_variant.behaviour.tools)


async def test_two_variants_answer_the_same_message(workbench: Workbench):
    tutor = workbench.agents.by_slug("math-tutor")
    columns = [ColumnChoice(agent_id=tutor.id, variant=1)] * 2
    comparison = await workbench.compare.start(columns)
    lives = [one for one in await workbench.compare.send(comparison.id, "What is 12 * 7?") if isinstance(one, Run)]
    await asyncio.wait_for(asyncio.gather(*(live.ended() for live in lives)), 30)
    assert [live.status for live in lives] == ["completed", "completed"]
    assert workbench.sessions.recent() == []
    assert workbench.rows.week_of(tutor.id).runs == 2
    assert [found.id for found in workbench.comparisons.recent()] == [comparison.id]


async def test_what_a_kill_left_is_in_the_lists_once_the_app_is_warm(workbench: Workbench):
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    live = await workbench.chat.send(session.id, "hello")
    await live.ended()
    writer = await workbench.data.traces.create("lost", session.id)
    await writer.prepare(live.started)
    for entry in live.entries[:2]:
        writer.append(entry.model_copy(update={"run_id": "lost", "at": now()}))
    await writer.close()
    assert workbench.rows.get("lost") is None
    await workbench.warm()

    assert [row.run_id for row in await workbench.runs.left()] == ["lost"]
    assert workbench.sessions.get(session.id).runs == ("lost",)
    await workbench.rows.delete(["lost"])
    assert await workbench.runs.left() == await workbench.attending.interrupted() == []
    await workbench.rows.restore(["lost"])
    assert [row.run_id for row in await workbench.attending.interrupted()] == ["lost"]


class Unending:
    """A part that cannot be closed."""

    async def close(self) -> None:
        raise OSError("It cannot be closed.")


def watching() -> bool:
    """Whether anybody waits for changes of tool files."""
    return any(thread.name.startswith("watch") for thread in threading.enumerate())


async def test_every_part_is_closed_and_the_folder_given_back_though_some_cannot_be(tmp_path: Path):
    workbench = having(Workbench.open(tmp_path / "data"), search=Unending(), hand_calls=Unending())
    await workbench.user_tools.start()
    assert workbench.tools.all()
    await until(watching)
    with pytest.raises(OSError, match="It cannot be closed"):
        await workbench.close()
    await until(lambda: not watching())
    again = Workbench.open(tmp_path / "data")
    await again.close()


async def test_an_answered_session_leaves_no_lock_behind(workbench: Workbench):
    def locks() -> int:
        gc.collect()
        return living(asyncio.Lock)

    agent, counts = workbench.agents.by_slug("assistant"), []
    for _ in range(3):
        session = await workbench.chat.new_session(agent.id)
        live = await workbench.chat.send(session.id, "hello")
        live.stop()
        await asyncio.wait_for(live.ended(), 30)
        counts.append(locks())
    assert counts[0] == counts[-1]
