"""The datasets that come with the app: there on the first start, as today's demo model and tools would make them."""

from pathlib import Path

import pytest

from app.domain.evals.cases import Case
from app.domain.evals.evidence import Evidence
from app.domain.trace.recorded import recorded_calls
from app.workbench import Workbench
from tests.sample_datasets import LONG_SUMS, SCORERS, SUMS, TABLES, SampleDataset, asked, lines_of, written

NOT_DONE = {
    "math-tutor-sums": ["Anna has three apples and buys four more. How many does she have?", "Solve 3x + 4 = 19 for x"],
    "table-cleaner-tables": ["leave out rows", "sort it by amount", "the average price"],
}
"""By dataset: what the demo model fails."""


@pytest.fixture
async def workbench(tmp_path: Path):
    workbench = Workbench.open(tmp_path / "data", demo_pace=0)
    await workbench.start(with_datasets=True)
    await workbench.plant()
    yield workbench
    await workbench.close()


async def test_they_are_there_on_the_very_first_start_and_not_again_once_deleted(workbench, tmp_path):
    assert [dataset.slug for dataset in workbench.datasets.all()] == [
        "math-tutor-sums",
        "math-tutor-long-sums",
        "table-cleaner-tables",
    ]
    for dataset in workbench.datasets.all():
        cases = workbench.cases.of(dataset.id)
        assert len(cases) >= 10
        assert dataset.scorers[0].name == "checks"
        for case in cases:
            assert case.checks
            assert dataset.name == LONG_SUMS.name or recorded_calls(await workbench.collecting.record_of(case))
        await workbench.collecting.delete(dataset.id)
    await workbench.close()
    again = Workbench.open(tmp_path / "data", demo_pace=0)
    await again.start(with_datasets=True)
    await again.plant()
    assert again.datasets.all() == []
    await again.close()


@pytest.mark.parametrize("made", [SUMS, LONG_SUMS, TABLES], ids=lambda made: made.path.stem)
async def test_they_are_what_todays_demo_model_and_tools_make(workbench, made: SampleDataset):
    kept = made.path.read_text(encoding="utf-8")
    assert written(await lines_of(workbench, made)) == kept, "make them anew: python -m tests.sample_datasets"


@pytest.mark.parametrize("made", [SUMS, TABLES], ids=lambda made: made.agent)
async def test_the_demo_model_does_most_of_them_and_fails_some(workbench, made: SampleDataset):
    dataset = next(one for one in workbench.datasets.all() if one.name == made.name)
    failed = [case.input for case in workbench.cases.of(dataset.id) if not await _passes(workbench, made.agent, case)]
    expected = NOT_DONE[dataset.slug]
    assert len(failed) == len(expected)
    assert all(words in asked for words, asked in zip(expected, failed, strict=True))


async def _passes(workbench: Workbench, agent: str, case: Case) -> bool:
    runs = await asked(workbench, agent, [case.input, *case.turns])
    evidence = Evidence(case, tuple([(await workbench.runs.trace(run_id)).entries for run_id in runs]))
    checks, trajectory = [await workbench.scoring.score(scorer, evidence) for scorer in SCORERS]
    assert checks.passed is not None, checks.reason
    assert (case.expected_calls is None) == (trajectory.passed is None), trajectory.reason
    return checks.passed
