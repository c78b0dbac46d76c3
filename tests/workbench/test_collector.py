"""What a person decides of spans, and what the whole app makes of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.errors import WorkbenchError
from app.domain.events import RunStarted
from app.domain.provenance import Trigger
from app.domain.settings import Preferences
from app.domain.values import new_id
from app.store.folder.foreign_data import _preferences
from app.workbench import Workbench
from tests.fakes.collector import FakeCollector, values
from tests.waiting import until

SECRET = "planted-Zx81-header-Qv"


@pytest.fixture
async def collector() -> AsyncIterator[FakeCollector]:
    async with FakeCollector() as collector:
        yield collector


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(tmp_path / "data", demo_pace=0)
    await workbench.start()
    yield workbench
    await workbench.close()


async def ran(workbench: Workbench, text: str = "hello", agent: str = "", **how) -> str:
    found = workbench.agents.by_slug(agent) if agent else workbench.agents.all()[0]
    session = await workbench.chat.new_session(found.id)
    live = await workbench.chat.send(session.id, text, **how)
    await live.ended()
    return live.run_id


async def test_nothing_is_sent_and_no_queue_is_made_where_nobody_wants_it(workbench: Workbench):
    await ran(workbench)
    assert workbench.collector.knows_no_run and not workbench.data.unsent_runs.all()


async def test_an_address_of_the_environment_waits_for_an_answer(
    workbench: Workbench, collector: FakeCollector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Bearer%20{SECRET}")
    await ran(workbench)
    to = workbench.collector.destination
    assert to is not None and to.agreed is None and workbench.collector.place == ""
    await workbench.collector.answer(to.address, agreed=False)
    await ran(workbench)
    assert not collector.raw and workbench.collector.destination.agreed is False
    await workbench.collector.answer(to.address, agreed=True)
    wanted = await ran(workbench, f"My key is {SECRET}")
    await until(lambda: collector.times() == {wanted: 1})
    assert collector.asked[0]["authorization"] == f"Bearer {SECRET}"
    assert all(SECRET not in row.model_dump_json() for row in [workbench.rows.get(wanted)])
    await workbench.collector.set_content(content=True)
    await ran(workbench, f"It is {SECRET}, again")
    await until(lambda: len(collector.times()) == 2)
    assert b"again" in collector.raw[-1] and SECRET.encode() not in collector.raw[-1]


async def test_headers_of_the_environment_go_to_its_own_address_alone(
    workbench: Workbench, collector: FakeCollector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"x-environment={SECRET}")
    await workbench.collector.set_address(collector.url)
    await workbench.collector.keep_header("X-Own", f"own-{SECRET}")
    await ran(workbench)
    await until(lambda: collector.raw)
    assert "x-environment" not in collector.asked[0]
    assert collector.asked[0]["x-own"] == f"own-{SECRET}"
    with pytest.raises(WorkbenchError, match="A header has a name"):
        await workbench.collector.keep_header("bad name", "x")


async def test_a_child_is_in_the_tree_of_whoever_called(workbench: Workbench, collector: FakeCollector):
    tools = tuple(ToolChoice(name=name) for name in ("spawn_task", "join_task", "calculator"))
    await workbench.agents.create(
        new_agent("Leader", PromptBehaviour(tools=tools), taken_slugs=workbench.agents.slugs())
    )
    await workbench.collector.set_address(collector.url)
    trigger = Trigger(kind="api_key", traceparent=f"00-{'ab' * 16}-{'cd' * 8}-01")
    parent = await ran(workbench, "Spawn a task that calculates 5 + 10", "leader", trigger=trigger)
    await until(lambda: len(collector.times()) == 2)
    assert {span.trace_id.hex() for span in collector.spans} == {"ab" * 16}
    roots = {values(span)["agent_playground.run.id"]: span for span in collector.spans if "invoke" in span.name}
    [child] = roots.keys() - {parent}
    [spawn] = [span for span in collector.spans if span.name == "execute_tool spawn_task"]
    assert roots[parent].parent_span_id.hex() == "cd" * 8
    assert roots[child].parent_span_id == spawn.span_id and spawn.parent_span_id == roots[parent].span_id


async def test_what_waited_is_sent_after_the_next_start(tmp_path: Path, collector: FakeCollector):
    workbench = Workbench.open(tmp_path / "data", demo_pace=0)
    await workbench.start()
    await workbench.collector.set_address(collector.url)
    collector.ways = ["429 after 3000"]
    run_id = await ran(workbench)
    await until(lambda: collector.raw)
    await workbench.close()
    later = Workbench.open(tmp_path / "data", demo_pace=0)
    await later.start()
    await later.warm()
    await until(lambda: collector.times() == {run_id: 1})
    await later.close()


async def test_a_deleted_run_that_waits_is_dropped(workbench: Workbench, collector: FakeCollector):
    await workbench.collector.set_address(collector.url)
    collector.ways = ["429 after 3000"]
    run_id = await ran(workbench)
    await until(lambda: workbench.collector.sending.trouble)
    await workbench.rows.delete([run_id])
    workbench.collector.sending.begin()
    await until(lambda: not workbench.collector.sending.waiting)
    assert not collector.spans and not workbench.data.unsent_runs.all()


async def test_a_run_that_another_machine_made_for_this_app_is_sent_too(workbench: Workbench, collector: FakeCollector):
    run_id, taken_over = await ran(workbench), new_id()
    session_id = workbench.rows.get(run_id).session_id

    def begun_as(started: RunStarted) -> RunStarted:
        return started.model_copy(update={"session_id": session_id})

    bundle = await workbench.exports.export(run_id, "bundle")
    await workbench.collector.set_address(collector.url)
    await workbench._importing.take_over(bundle.content, taken_over, begun_as)
    await until(lambda: collector.times() == {taken_over: 1})


def test_a_backup_from_elsewhere_sends_nothing():
    mine = Preferences().model_copy(
        update={"collector": Preferences().collector.model_copy(update={"address": "http://x"})}
    )
    assert _preferences(mine).collector.address == ""
