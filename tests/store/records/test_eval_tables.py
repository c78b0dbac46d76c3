"""Datasets, cases, experiments and cells are kept, listed and found again after a restart."""

from pathlib import Path

import pytest

from app.domain.errors import Conflict, NotFound
from app.domain.evals.cases import Case, Dataset, tags_of
from app.domain.evals.experiments import Cell, CellKey, Column, Experiment, Plan, cell_id, planned
from app.domain.provenance import Trigger
from app.domain.values import new_id, now
from app.store.folder.folder import DataFolder
from tests.store.giving_up import given_up


def a_dataset(slug: str = "sums") -> Dataset:
    return Dataset(id=new_id(), slug=slug, name=slug.title(), created_at=now(), updated_at=now())


def a_case(dataset: Dataset, text: str) -> Case:
    return Case(id=new_id(), dataset_id=dataset.id, input=text, created_at=now(), updated_at=now())


def a_plan(dataset: Dataset, *case_ids: str) -> Plan:
    return Plan(
        dataset_id=dataset.id,
        dataset_slug=dataset.slug,
        dataset_version=1,
        cases="0" * 64,
        case_ids=case_ids,
        agent_id="a",
        agent_slug="assistant",
        columns=(Column(variant=1), Column(variant=2)),
        repeats=2,
    )


async def test_cases_are_listed_in_the_order_they_were_made_also_after_a_restart(tmp_path: Path):
    folder = DataFolder.open(tmp_path)
    dataset = await folder.datasets.create(a_dataset())
    other = await folder.datasets.create(a_dataset("other"))
    made = [await folder.cases.create(a_case(dataset, text)) for text in ("one", "two", "three")]
    await folder.cases.create(a_case(other, "elsewhere"))
    await folder.cases.delete(made[1].id)
    for place in (0, 1):
        await folder.cases.change(made[place].id, lambda case: case.model_copy(update={"must_pass": True}))
    await folder.close()
    again = DataFolder.open(tmp_path)
    assert [case.input for case in again.cases.of(dataset.id)] == ["one", "three"]
    assert again.cases.count(dataset.id) == 2
    assert again.cases.count(dataset.id, must_pass=True) == 1
    await again.cases.restore(made[1].id)
    assert [case.input for case in again.cases.of(dataset.id)] == ["one", "two", "three"]
    await again.close()


async def test_a_taken_slug_is_refused_and_an_unknown_one_names_those_there_are(tmp_path: Path):
    folder = DataFolder.open(tmp_path)
    await folder.datasets.create(a_dataset())
    with pytest.raises(Conflict, match="taken"):
        await folder.datasets.create(a_dataset())
    with pytest.raises(NotFound, match="Datasets: sums"):
        folder.datasets.by_slug("summs")
    await folder.close()


async def test_the_cells_of_an_experiment_are_found_after_a_restart(tmp_path: Path):
    folder = DataFolder.open(tmp_path)
    dataset = a_dataset()
    plan = a_plan(dataset, "x", "y")
    experiment = Experiment(id=new_id(), plan=plan, by=Trigger(kind="page"), created_at=now(), updated_at=now())
    await folder.experiments.create(experiment)
    for key in planned(plan)[:3]:
        cell = Cell(id=cell_id(experiment.id, key), experiment_id=experiment.id, **key._asdict())
        await folder.cells.create(cell)
    assert len(folder.cells.of(experiment.id)) == 3
    before = folder.cells.revisions[experiment.id]
    await folder.cells.change(cell.id, lambda found: found.model_copy(update={"end": "passed"}))
    assert folder.cells.revisions[experiment.id] > before
    await folder.close()
    again = DataFolder.open(tmp_path)
    assert {found.key: found.end for found in again.cells.of(experiment.id)} == {
        CellKey("x", 0, 0): None,
        CellKey("x", 1, 0): None,
        CellKey("y", 0, 0): "passed",
    }
    assert [found.id for found in again.experiments.recent(dataset_id=dataset.id)] == [experiment.id]
    await again.close()


async def test_what_is_stored_for_somebody_who_is_gone_by_then_is_found_as_well(tmp_path: Path):
    folder = DataFolder.open(tmp_path)
    dataset = await folder.datasets.create(a_dataset())
    case, [key, *_] = a_case(dataset, "one"), planned(a_plan(dataset, "x"))
    cell = Cell(id=cell_id("e", key), experiment_id="e", **key._asdict())
    assert (folder.cases.of(dataset.id), folder.cells.of("e"), folder.cells.revision("e")) == ([], [], 0)
    await given_up(folder.cases.create(case))
    await given_up(folder.cells.save(cell))
    assert (folder.cases.of(dataset.id), folder.cells.of("e"), folder.cells.revision("e")) == ([case], [cell], 1)
    await given_up(folder.cells.change(cell.id, lambda found: found.model_copy(update={"end": "passed"})))
    assert folder.cells.revision("e") == 2
    await folder.close()


def test_the_first_repeat_of_all_cases_is_planned_first():
    plan = a_plan(a_dataset(), "x", "y")
    assert plan.size == len(planned(plan)) == 8
    assert [key.repeat for key in planned(plan)] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_what_a_case_is_worth_changes_with_its_content_and_not_with_its_note():
    case = a_case(a_dataset(), "one")
    assert case.model_copy(update={"note": "later", "updated_at": now()}).content == case.content
    assert case.model_copy(update={"reference": "1"}).content != case.content


def test_tags_are_each_taken_once():
    assert tags_of(" Easy,hard , EASY,, very   hard") == ("Easy", "hard", "very hard")
