"""Datasets and cases, over a real store."""

import asyncio
from itertools import count
from pathlib import Path

import pytest

from app.domain.errors import Conflict, NotFound, StorageError, TooLarge, WorkbenchError
from app.domain.evals import cases as bounds
from app.domain.evals.cases import Case, CaseContent, DatasetChanges, new_cases
from app.domain.evals.scorers import Contains, Exact
from app.domain.messages import FilePart, ToolCall
from app.domain.secrets.redaction import Redaction
from app.domain.secrets.secret import Secret
from app.domain.trace.recorded import recorded_calls
from app.engine.experiments.collecting import Collecting
from app.store.folder.folder import DataFolder
from tests.cancelling import AtAwait
from tests.engine.scripted import forever, reply
from tests.store.disks import TroubledDisk, full

SECRET = "sk-planted-0123456789abcdef"


@pytest.fixture
def collecting(bench) -> Collecting:
    data = bench.data
    return Collecting(data.datasets, data.cases, lambda: bench.runs, data.artifacts)


async def asked(bench, text="What is 1 + 2?") -> str:
    bench.models.say(reply("", ToolCall(call_id="c1", name="add", arguments={"x": 1, "y": 2})))
    bench.models.say("It is 3.")
    return (await bench.ask(text, "add")).run_id


async def test_a_case_of_a_run_outlives_it(bench, collecting):
    dataset = await collecting.new_dataset("Sums")
    run_id = await asked(bench)
    case = await collecting.from_run(dataset.id, run_id, note="good")
    await bench.data.traces.delete(run_id)
    kept = collecting.case(dataset.id, case.id)
    assert (kept.input, kept.reference, kept.run_id, kept.note) == ("What is 1 + 2?", "It is 3.", run_id, "good")
    assert [call.name for call in kept.expected_calls or ()] == ["add"]
    (recorded,) = recorded_calls(await collecting.record_of(kept))
    assert recorded.returned is not None
    assert recorded.returned.result.text == "3"
    assert collecting.dataset(dataset.id).version == 2


async def test_a_step_and_a_conversation_become_cases(bench, collecting):
    dataset = await collecting.new_dataset("Sums")
    first = await asked(bench)
    session = bench.data.sessions.get((await bench.runs.trace(first)).entries[0].event.session_id)
    bench.models.say("You are welcome.")
    live = await bench.chat.send(session.id, "Thanks!")
    await asyncio.wait_for(live.ended(), 30)
    step = await collecting.from_run(dataset.id, first, step=1)
    assert (step.step, step.reference, len(step.expected_calls or ())) == (1, None, 1)
    turns = await collecting.from_turns(dataset.id, bench.data.sessions.get(session.id).runs)
    assert (turns.input, turns.turns, turns.reference) == ("What is 1 + 2?", ("Thanks!",), "You are welcome.")
    answer = await collecting.from_run(dataset.id, live.run_id)
    assert (answer.input, len(answer.history)) == ("Thanks!", 4)


async def test_a_run_that_goes_on_is_no_case_yet(bench, collecting):
    dataset = await collecting.new_dataset("Sums")
    session = await bench.session("add")
    bench.models.say(forever)
    live = await bench.chat.send(session.id, "hi")
    with pytest.raises(Conflict, match="goes on"):
        await collecting.from_run(dataset.id, live.run_id)
    with pytest.raises(NotFound):
        await collecting.from_run(dataset.id, "nobody")
    live.stop()
    await asyncio.wait_for(live.ended(), 30)
    assert (await collecting.from_run(dataset.id, live.run_id)).reference is None


async def test_attachments_stay_where_they_are_by_hash(bench, collecting):
    dataset = await collecting.new_dataset("Tables")
    digest = await bench.data.artifacts.put(b"a,b")
    table = FilePart(artifact=digest, media_type="text/csv", filename="t.csv", size=3)
    session = await bench.session("add")
    bench.models.say("Two columns.")
    live = await bench.chat.send(session.id, "Look", (table,))
    await asyncio.wait_for(live.ended(), 30)
    case = await collecting.from_run(dataset.id, live.run_id)
    assert [part.artifact for part in case.attachments] == [digest]
    assert await bench.data.artifacts.get(digest) == b"a,b"


async def test_each_change_of_what_is_in_it_is_another_version(collecting):
    dataset = await collecting.new_dataset("Sums", "Small ones")
    (case,) = new_cases(dataset.id, [CaseContent(input="1 + 1?", reference="2")])

    def version() -> int:
        return collecting.dataset(dataset.id).version

    await collecting.add(dataset.id, case)
    assert version() == 2
    await collecting.change_case(case.model_copy(update={"reference": "two"}))
    assert version() == 3
    await collecting.change_case(collecting.case(dataset.id, case.id).model_copy(update={"note": "hm"}))
    assert version() == 3
    await collecting.delete_case(case.id)
    with pytest.raises(NotFound):
        collecting.case(dataset.id, case.id)
    await collecting.restore_case(case.id)
    assert (version(), collecting.case(dataset.id, case.id).reference) == (5, "two")
    await collecting.change_dataset(dataset.id, DatasetChanges(description="Sums below ten"))
    assert version() == 5
    await collecting.change_dataset(dataset.id, DatasetChanges(scorers=(Exact(), Contains()), primary="contains"))
    assert version() == 6


async def test_what_a_dataset_cannot_be_is_said(collecting):
    with pytest.raises(WorkbenchError, match="Give the dataset a name"):
        await collecting.new_dataset("  ")
    dataset = await collecting.new_dataset("Суммы")
    assert (dataset.slug, (await collecting.new_dataset("Суммы")).slug) == ("dataset", "dataset-2")
    with pytest.raises(WorkbenchError, match="Two scorers are called 'exact'"):
        await collecting.change_dataset(dataset.id, DatasetChanges(scorers=(Exact(), Exact(ignore_case=True))))
    with pytest.raises(WorkbenchError, match="no scorer 'judge'"):
        await collecting.change_dataset(dataset.id, DatasetChanges(primary="judge"))
    await collecting.delete(dataset.id)
    with pytest.raises(NotFound, match="was deleted"):
        collecting.dataset(dataset.id)
    await collecting.restore(dataset.id)
    assert collecting.dataset(dataset.id).name == "Суммы"


async def test_a_full_dataset_takes_no_more(collecting):
    dataset = await collecting.new_dataset("Many")
    cases = new_cases(dataset.id, (CaseContent(input=str(number)) for number in range(bounds.MOST_CASES + 1)))
    with pytest.raises(TooLarge, match="at most 10,000 cases; this one would have 10,001"):
        await collecting.add_all(dataset.id, cases)
    assert collecting.cases.count(dataset.id) == 0
    await collecting.add_all(dataset.id, cases[:450])
    assert [case.input for case in collecting.cases.of(dataset.id)] == [str(number) for number in range(450)]


async def test_a_snapshot_stays_as_it_was(collecting):
    dataset = await collecting.new_dataset("Sums")
    cases = await collecting.add_all(
        dataset.id, new_cases(dataset.id, [CaseContent(input="a"), CaseContent(input="b\n")])
    )
    digest, kept = await collecting.snapshot(dataset.id)
    await collecting.delete_case(cases[0].id)
    assert kept == tuple(cases)
    assert list((await collecting.cases_of(digest)).values()) == cases
    assert (await collecting.snapshot(dataset.id))[0] != digest


async def test_no_secret_is_kept_in_a_case_or_its_record(bench, collecting):
    redaction = Redaction(lambda: [Secret(SECRET, 'the "test" key')])
    bench.data.keep_out(lambda: redaction)
    dataset = await collecting.new_dataset("Keys")
    bench.models.say(reply("", ToolCall(call_id="c1", name="add", arguments={"x": 1, "y": SECRET})))
    bench.models.say(f"Never tell {SECRET}.")
    run_id = (await bench.ask(f"Use {SECRET}", "add")).run_id
    case = await collecting.from_run(dataset.id, run_id)
    digest, kept = await collecting.snapshot(dataset.id)
    record = await bench.data.artifacts.get(case.record)
    for text in (case.model_dump_json(), str(kept), record.decode(), str(await bench.data.artifacts.get(digest))):
        assert SECRET not in text
    assert len(await collecting.record_of(case)) == 2
    assert "[redacted" in case.input


@pytest.mark.parametrize("failing", range(1, 5), ids="write {}".format)
async def test_cases_that_a_full_disk_does_not_take_as_a_whole_are_not_added(failing: int, tmp_path: Path):
    disk = TroubledDisk("write", times=0, error=full)
    data = DataFolder.open(tmp_path, disk=disk)
    collecting = Collecting(data.datasets, data.cases, lambda: None, data.artifacts)
    dataset = await collecting.new_dataset("Sums")
    cases = list(new_cases(dataset.id, [CaseContent(input=f"{number} + 1") for number in range(60)]))
    disk.first, disk.times = disk.calls + failing, 1
    try:
        await collecting.add_all(dataset.id, cases)
    except StorageError:
        assert data.cases.of(dataset.id) == [] and data.cases.count(dataset.id) == 0
    else:
        assert data.cases.count(dataset.id) == 60 and collecting.dataset(dataset.id).version == 2
    await data.close()


WAYS = {
    "changed": lambda collecting, case: collecting.change_case(case.model_copy(update={"input": "3 + 4"})),
    "deleted": lambda collecting, case: collecting.delete_case(case.id),
    "restored": lambda collecting, case: collecting.restore_case(case.id),
}


async def one_case(data: DataFolder, *, deleted: bool) -> tuple[Collecting, Case]:
    collecting = Collecting(data.datasets, data.cases, lambda: None, data.artifacts)
    dataset = await collecting.new_dataset("Sums")
    [case] = await collecting.add_all(dataset.id, list(new_cases(dataset.id, [CaseContent(input="1 + 2")])))
    return collecting, (await collecting.delete_case(case.id) if deleted else case)


@pytest.mark.parametrize("way", WAYS)
async def test_no_case_changes_without_its_datasets_version_wherever_it_is_cancelled(way: str, tmp_path: Path):
    loop, awaited = asyncio.get_running_loop(), count(1)
    for nth in awaited:
        data = DataFolder.open(tmp_path / str(nth))
        collecting, case = await one_case(data, deleted=way == "restored")
        changing, version = WAYS[way](collecting, case), collecting.dataset(case.dataset_id).version
        cancelled = AtAwait(changing.__qualname__, nth)
        loop.set_task_factory(cancelled)
        task = loop.create_task(changing)
        loop.set_task_factory(None)
        await asyncio.wait([task])
        await data.close()
        data = DataFolder.open(tmp_path / str(nth))
        grown = data.datasets.get(case.dataset_id).version - version
        assert grown == (data.cases.get(case.id) != case)
        await data.close()
        if not cancelled.reached:
            break
    assert next(awaited) > 2 and grown == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("failing", range(1, 4), ids="write {}".format)
async def test_a_disk_that_is_full_meanwhile_takes_neither_a_case_nor_its_version(
    failing: int, way: str, tmp_path: Path
):
    disk = TroubledDisk("write", times=0, error=full)
    data = DataFolder.open(tmp_path, disk=disk)
    collecting, case = await one_case(data, deleted=way == "restored")
    version = collecting.dataset(case.dataset_id).version
    before, disk.first, disk.times = disk.calls, disk.calls + failing, 1
    try:
        await WAYS[way](collecting, case)
    except StorageError:
        assert (data.cases.get(case.id), collecting.dataset(case.dataset_id).version) == (case, version)
    else:
        assert data.cases.get(case.id) != case and collecting.dataset(case.dataset_id).version == version + 1
    assert disk.calls == before + 1  # of two the disk can take one alone
    await data.close()
