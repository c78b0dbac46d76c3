"""Datasets taken along and taken in again, over a real store."""

import json

import pytest

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.evals.cases import CaseContent, DatasetChanges, ExpectedCall, new_cases
from app.domain.evals.saving import saved_turns
from app.domain.evals.scorers import Contains, Exact, Trajectory
from app.domain.messages import FilePart, user_message
from app.domain.secrets.redaction import Redaction
from app.domain.secrets.secret import Secret
from app.domain.trace.recorded import recorded_calls
from app.engine.experiments.collecting import Collecting
from app.export.datasets.dataset_files import OUT_FORMATS, DatasetFiles
from app.export.limits import LARGEST_DATASET
from app.store.folder.folder import DataFolder
from tests.traces import the_sum

SECRET = "plum-orchard-7493-willow-x"


@pytest.fixture
async def data(tmp_path):
    folder = DataFolder.open(tmp_path / "data")
    yield folder
    await folder.close()


def files_over(data: DataFolder) -> DatasetFiles:
    def no_runs():
        raise AssertionError("No run is needed for this.")

    return DatasetFiles(Collecting(data.datasets, data.cases, no_runs, data.artifacts), data.artifacts, list)


async def full_dataset(files: DatasetFiles):
    """A dataset with all that a case can say."""
    keeper = files.keeper
    dataset = await keeper.new_dataset("Sums", "Small ones")
    scorers = (Exact(), Trajectory(graded=True))
    await keeper.change_dataset(dataset.id, DatasetChanges(scorers=scorers, primary="trajectory"))
    digest = await files.artifacts.put(b"a,b\n1,2\n")
    table = FilePart(artifact=digest, media_type="text/csv", filename="t.csv", size=8)
    full = CaseContent(
        input="How much?",
        turns=("And then?",),
        data=0,
        variables={"tone": "dry"},
        attachments=(table,),
        history=(user_message("Before"),),
        files={"/t.csv": digest},
        reference={"sum": 3},
        expected_calls=(ExpectedCall(name="add"),),
        checks=(Contains(texts=("3",)),),
        tags=("easy",),
        must_pass=True,
        note="first",
    )
    content, record = saved_turns([the_sum()])
    cases = new_cases(dataset.id, [full, content])
    kept = cases[1].model_copy(update={"record": await keeper.keep_record(record)})
    return dataset, await keeper.add_all(dataset.id, [cases[0], kept])


async def test_a_dataset_of_ours_is_read_back_whole(data, tmp_path):
    files = files_over(data)
    dataset, cases = await full_dataset(files)
    exported = await files.export(dataset.id, "jsonl")
    assert exported.filename == "sums.jsonl"
    assert all(json.loads(line)["version"] == 1 for line in exported.content.splitlines())
    other = DataFolder.open(tmp_path / "other")
    elsewhere = files_over(other)
    made = await elsewhere.keeper.new_dataset("Again")
    taken = await elsewhere.take_in(made.id, exported.content, "jsonl", "sums.jsonl")
    assert (taken.cases, taken.scorers, taken.notes) == (2, ("exact", "trajectory"), ())
    again = other.cases.of(made.id)
    for case, copy in zip(cases, again, strict=True):
        assert {name: getattr(copy, name) for name in CaseContent.model_fields} == {
            name: getattr(case, name) for name in CaseContent.model_fields
        }
    assert len(recorded_calls(await elsewhere.keeper.record_of(again[1]))) == 2
    assert await other.artifacts.get(again[0].files["/t.csv"]) == b"a,b\n1,2\n"
    assert elsewhere.keeper.dataset(made.id).primary == "trajectory"
    await other.close()


async def test_what_is_missing_is_said_where_files_are_left_out(data, tmp_path):
    files = files_over(data)
    dataset, _ = await full_dataset(files)
    exported = await files.export(dataset.id, "jsonl", files=False)
    other = DataFolder.open(tmp_path / "other")
    elsewhere = files_over(other)
    made = await elsewhere.keeper.new_dataset("Again")
    taken = await elsewhere.take_in(made.id, exported.content, "jsonl")
    assert taken.notes == ("Missing: 1 files that the cases name are not in the file.",)
    await other.close()


@pytest.mark.parametrize("format", OUT_FORMATS)
async def test_no_secret_leaves_and_every_format_is_read_again(data, format):
    files = files_over(data)
    files.secrets = lambda: [SECRET]
    dataset, _ = await full_dataset(files)
    await files.keeper.add_all(dataset.id, new_cases(dataset.id, [CaseContent(input=f"Use {SECRET}", reference="ok")]))
    exported = await files.export(dataset.id, format)
    assert SECRET.encode() not in exported.content
    again = await files.keeper.new_dataset("Again")
    assert (await files.take_in(again.id, exported.content, format, exported.filename)).cases == 3


@pytest.mark.parametrize("format", OUT_FORMATS)
async def test_a_whole_number_of_any_length_leaves_as_it_is_and_is_read_back(data, format):
    files = files_over(data)
    dataset = await files.keeper.new_dataset("Numbers")
    content = CaseContent(input="How much?", reference=10**30, expected_calls=(ExpectedCall(name="f"),))
    if format == "jsonl":
        content = content.model_copy(update={"data": {"id": 2**64}})
    await files.keeper.add_all(dataset.id, new_cases(dataset.id, [content]))
    exported = await files.export(dataset.id, format)
    again = await files.keeper.new_dataset("Again")
    await files.take_in(again.id, exported.content, format, exported.filename)
    (case,) = data.cases.of(again.id)
    assert str(case.reference) == str(10**30) and case.data == content.data


async def test_a_secret_in_a_file_that_comes_in_is_taken_out_and_the_file_found(data):
    files = files_over(data)
    dataset = await files.keeper.new_dataset("Keys")
    await full_dataset(files)
    secret = f"key: {SECRET}".encode()
    digest = await data.artifacts.put(secret)
    table = FilePart(artifact=digest, media_type="text/plain", filename="k.txt", size=len(secret))
    await files.keeper.add_all(dataset.id, new_cases(dataset.id, [CaseContent(input="Read", attachments=(table,))]))
    exported = await files.export(dataset.id, "jsonl")
    redaction = Redaction(lambda: [Secret(SECRET, "test key")])
    data.keep_out(lambda: redaction)
    again = await files.keeper.new_dataset("Again")
    assert (await files.take_in(again.id, exported.content, "jsonl")).notes == ()
    (case,) = data.cases.of(again.id)
    assert case.attachments[0].artifact != digest
    assert await data.artifacts.get(case.attachments[0].artifact) == b"key: [redacted: test key]"


async def test_scorers_that_are_there_stay_and_a_bad_file_leaves_nothing(data):
    files = files_over(data)
    dataset = await files.keeper.new_dataset("Mine")
    await files.keeper.change_dataset(dataset.id, DatasetChanges(scorers=(Exact(ignore_case=True),)))
    line = b'{"input": "a", "checks": [{"type": "exact"}]}\n{"input": "b", "turns": "no"}\n'
    with pytest.raises(WorkbenchError, match=r"c.jsonl, line 2: turns"):
        await files.take_in(dataset.id, line, "jsonl", "c.jsonl")
    assert data.cases.of(dataset.id) == []
    head = b'{"format": "agent-playground/dataset", "version": 1, "scorers": [{"type": "exact"}, {"type": "cost"}]}\n'
    taken = await files.take_in(dataset.id, head + line.splitlines()[0], "jsonl")
    assert taken.scorers == ("cost",)
    assert files.keeper.dataset(dataset.id).scorers[0] == Exact(ignore_case=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"format": "agent-playground/case", "version": 2, "input": "a"}', "was written by a newer Agent Playground"),
        (b'{"format": "other", "input": "a"}', "'other' is no format of a dataset's lines"),
        (b'{"version": true, "input": "a"}', "has no version number"),
        (b'{"format": "agent-playground/content", "base64": "aGk=", "sha256": "0"}', "is not what its sha256 says"),
        (b'{"format": "agent-playground/content", "base64": "?", "sha256": "0"}', "is damaged"),
        (b'{"input": " "}', "there is no case in it. Not taken: 1 × cases without a message."),
        (b'{"input": "a", "reference": {"a": NaN}}', "line 1: this is no JSON"),
        (b"", "there is no case in it"),
    ],
)
async def test_what_is_no_dataset_is_refused_in_words(data, line, words):
    files = files_over(data)
    dataset = await files.keeper.new_dataset("Mine")
    with pytest.raises(WorkbenchError, match=words.replace(".", r"\.")):
        await files.take_in(dataset.id, line, "jsonl", "d.jsonl")


async def test_a_file_that_is_too_large_is_refused(data):
    files = files_over(data)
    dataset = await files.keeper.new_dataset("Mine")
    with pytest.raises(TooLarge, match="32 MiB can be taken in"):
        await files.take_in(dataset.id, b" " * (LARGEST_DATASET + 1), "csv")
    with pytest.raises(TooLarge, match="at most 10,000 cases"):
        await files.take_in(dataset.id, b"input\n" + b"a\n" * 10_001, "csv", "many.csv")
