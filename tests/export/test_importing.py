"""Runs that go out of one copy of the app and into another, over real data folders."""

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.errors import NotFound, StorageError, WorkbenchError
from app.domain.events import ChildStarted, RunFinished, RunStarted, ToolReturned
from app.domain.forks.forks import ForkPlan
from app.domain.provenance import Parent, Trigger
from app.export.bundle import bundle, read_bundle
from app.export.importing import NOT_ENDED
from app.export.json_lines import json_lines
from app.store.folder.folder import DataFolder
from app.workbench import Workbench
from tests.export.runs import NOTES, PNG, digest, rich_run
from tests.store.disks import TroubledDisk, full
from tests.traces import asked, finished, started, the_sum, trace_of

REQUEST = "What is 5 + 10, then multiply by 3?"


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(tmp_path / "here")
    await workbench.start()
    yield workbench
    await workbench.close()


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(tmp_path / "there")
    await workbench.start()
    yield workbench
    await workbench.close()


async def done(workbench: Workbench) -> str:
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    live = await workbench.chat.send(session.id, REQUEST)
    await live.ended()
    return live.run_id


def bundled(entries, artifacts=None) -> bytes:
    return bundle(entries, json_lines(entries, app="9"), app="9", artifacts=artifacts or {})


async def test_a_run_goes_into_another_copy_of_the_app(here, there):
    run_id = await done(here)
    exported = await here.exports.export(run_id, "bundle")
    assert await there.exports.import_bundle(exported.content) == run_id
    before, after = [(await one.runs.trace(run_id)).entries for one in (here, there)]
    assert [entry.event for entry in after[1:]] == [entry.event for entry in before[1:]]
    started = after[0].event
    assert isinstance(started, RunStarted) and started.imported
    assert (started.imported.run_id, started.agent) == (run_id, before[0].event.agent)
    row = there.rows.get(run_id)
    assert row and (row.status, row.request) == ("completed", REQUEST)
    session = there.sessions.get(row.session_id)
    assert (session.runs, session.title) == ((run_id,), f"Imported: {REQUEST}")
    assert session.agent_id == there.agents.by_slug("assistant").id


async def test_a_run_that_is_here_already_comes_in_as_another_one(here):
    first, second, third = [await here.exports.import_bundle(bundled(the_sum())) for _ in range(3)]
    assert first == "r1" and len({first, second, third}) == 3
    assert (await here.runs.trace(third)).entries[0].event.imported.run_id == "r1"
    assert (await here.runs.trace(third)).entries[3].run_id == third


@pytest.mark.parametrize("failing", range(1, 5), ids="write {}".format)
async def test_nothing_of_a_run_is_left_that_a_full_disk_does_not_take(failing: int, tmp_path: Path):
    disk = TroubledDisk("write", times=0, error=full)
    here = Workbench(DataFolder.open(tmp_path, disk=disk), trust_tools=False, demo_pace=0)
    await here.start()
    await here.warm()
    disk.first, disk.times = disk.calls + failing, 1
    with pytest.raises(StorageError, match="no room"):
        await here.exports.import_bundle(bundled(the_sum()))
    assert (await here.data.traces.ids(), here.sessions.count(), here.rows.knows("r1")) == ([], 0, False)
    assert await here.exports.import_bundle(bundled(the_sum())) == "r1"
    await here.close()
    assert [path.stem for path in (tmp_path / "runs").iterdir()] == ["r1"]


async def test_what_a_run_has_cost_elsewhere_was_not_spent_here_but_its_forks_are(here):
    run_id = await here.exports.import_bundle(bundled(the_sum()))
    row = here.rows.get(run_id)
    assert row.cost > 0 and row.imported
    assert here.rows.cost_since(row.started_at) == here.rows.cost_of_session(row.session_id) == 0
    live = await here.forks.start(run_id, ForkPlan(seq=len(the_sum()) - 2), trigger=Trigger(kind="page"))
    await live.ended()
    assert live.started.imported is None and not here.rows.get(live.run_id).imported


async def test_a_run_that_was_deleted_here_is_not_written_over(here):
    first = await here.exports.import_bundle(bundled(the_sum()))
    await here.rows.delete([first])
    second = await here.exports.import_bundle(bundled(the_sum()))
    assert second != first and here.rows.get(second) and not here.rows.get(first)


async def test_artifacts_come_along(here):
    run_id = await here.exports.import_bundle(bundled(rich_run(), {digest(PNG): PNG, digest(NOTES): NOTES}))
    assert await here.artifacts.get(digest(PNG)) == PNG
    assert (await here.runs.trace(run_id)).entries[-1].event == finished()


async def test_a_bundle_without_its_artifacts_comes_in_all_the_same(here):
    run_id = await here.exports.import_bundle(bundled(rich_run()))
    assert len((await here.runs.trace(run_id)).entries) == len(rich_run())
    with pytest.raises(NotFound):
        await here.artifacts.get(digest(PNG))


async def test_a_run_of_an_agent_that_is_not_here_is_found_in_the_runs_alone(here):
    agent = started().agent.model_copy(update={"id": "../x", "slug": "../../evil", "name": "Evil\n\u202e" + "x" * 999})
    run_id = await here.exports.import_bundle(bundled(trace_of(started(agent=agent), asked("Hi"), finished())))
    row = here.rows.get(run_id)
    assert row and row.agent.slug == "evil-" + "x" * 35 and "\n" not in row.agent.name
    assert row.agent.id != "../x"
    assert here.sessions.get(row.session_id).deleted_at is not None


async def test_an_imported_run_never_goes_on_by_itself(here):
    cut = the_sum()[:6]
    cut[0] = cut[0].model_copy(update={"event": started(background=True, parent=Parent(run_id="p", call_id="c"))})
    run_id = await here.exports.import_bundle(bundled(cut))
    entries = (await here.runs.trace(run_id)).entries
    end = entries[-1].event
    assert isinstance(end, RunFinished) and end.error and end.error.text == NOT_ENDED
    assert (entries[0].event.background, entries[0].event.parent) == (False, None)
    assert not [entry for entry in entries if isinstance(entry.event, ToolReturned)]
    with pytest.raises(WorkbenchError):
        await here.runs.resume(run_id)


@pytest.mark.parametrize(
    "entries",
    [
        trace_of(started(), asked("x"), finished(), run_id="../../evil"),
        trace_of(started(), ChildStarted(call_id="c", child_run_id="../../evil"), finished()),
    ],
)
async def test_ids_that_lead_elsewhere_are_refused_and_nothing_is_taken_in(here, entries):
    before = {path for path in here.data.path.rglob("*") if path.is_file()}
    with pytest.raises(WorkbenchError, match="evil"):
        await here.exports.import_bundle(bundled(entries))
    assert {path for path in here.data.path.rglob("*") if path.is_file()} == before


async def test_an_imported_run_can_be_exported_again(here):
    run_id = await here.exports.import_bundle(bundled(rich_run(), {digest(PNG): PNG, digest(NOTES): NOTES}))
    again = await here.exports.export(run_id, "bundle")
    assert read_bundle(again.content).artifacts == {digest(PNG): PNG, digest(NOTES): NOTES}


async def test_the_apps_own_token_is_in_no_export(here):
    token = here.access_token = "t" * 43
    run_id = await here.exports.import_bundle(bundled(trace_of(started(), asked(f"See {token}"), finished())))
    exported = await here.exports.export(run_id, "jsonl")
    assert token.encode() not in exported.content and b"[redacted known key]" in exported.content


async def test_the_same_bundle_twice_at_once_makes_two_runs(here):
    content = bundled(the_sum())
    ids = await asyncio.gather(*(here.exports.import_bundle(content) for _ in range(5)))
    assert "r1" in ids and len(set(ids)) == 5
    for run_id in ids:
        trace = await here.runs.trace(run_id)
        assert (len(trace.entries), trace.damaged) == (len(the_sum()), ())


async def test_a_run_that_came_in_is_found_by_its_words(here):
    await here.search.ready()
    run_id = await here.exports.import_bundle(io.BytesIO(bundled(the_sum())))
    await here.search.ready()
    assert await here.search.matching('"15 * 3"') == {run_id}
