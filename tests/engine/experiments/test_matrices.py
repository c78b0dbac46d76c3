import asyncio
from pathlib import Path

import pytest

from app.domain.errors import NotFound
from app.workbench import Workbench
from tests.engine.experiments.trials import Trials
from tests.seeded_evals import seeded


async def test_a_real_experiment_is_told_case_by_case(trials: Trials):
    await trials.agent(variants=2)
    await trials.written("What is 1 + 2?", "What is 2 + 1?")
    trials.models.answers = lambda request: "It is 4." if "Variant 2" in str(request.system) else "It is 3."
    cells = await trials.ran(variants=(1, 2))
    looked = await trials.bench.matrices.look(cells[0].experiment_id)
    assert [row.flags for row in looked.matrix.rows] == [{"regression", "failed"}] * 2
    assert [cell.mark for cell in looked.matrix.rows[0].cells] == ["passed", "failed"]
    [verdict] = looked.results.verdicts
    assert verdict.verdict.worse == 2
    [first] = trials.bench.matrices.tries(looked.experiment, looked.matrix.rows[0].case.id, 1)
    assert first is not None and first.answer == "It is 4."


async def test_it_is_read_once_and_again_when_a_cell_changes(tmp_path: Path):
    await seeded(tmp_path, ["P F", "P P"], traces=False)
    bench = Workbench.open(tmp_path)
    assert bench.matrices.known("e1") is None
    looked = await bench.matrices.look("e1")
    assert await bench.matrices.look("e1") is looked is bench.matrices.known("e1")
    assert await bench.matrices.look("e1", "judge") is not looked
    [cell] = bench.matrices.tries(looked.experiment, looked.matrix.rows[0].case.id, 1)
    assert cell is not None
    await bench.cells.save(cell.model_copy(update={"end": "passed"}))
    assert bench.matrices.known("e1") is None
    assert (await bench.matrices.look("e1")).matrix.counts["equal"] >= 1
    await bench.close()


async def test_the_cheapest_column_is_compared_with_ten_points_of_margin(tmp_path: Path):
    await seeded(tmp_path, ["P P F"] * 30, traces=False)
    bench = Workbench.open(tmp_path)
    looked = await bench.matrices.look("e1")
    found = await bench.matrices.cheaper(looked)
    assert found is not None and (found[0], found[1].verdict, found[1].margin) == (2, "worse", 0.1)
    await bench.close()


async def test_a_deleted_experiment_has_no_matrix(tmp_path: Path):
    await seeded(tmp_path, ["P F"], traces=False)
    bench = Workbench.open(tmp_path)
    await bench.matrices.look("e1")
    await bench.experimenting.delete("e1")
    with pytest.raises(NotFound, match="deleted"):
        await bench.matrices.look("e1")
    await bench.close()


async def test_reading_many_cells_leaves_the_loop_its_turns(tmp_path: Path):
    await seeded(tmp_path, ["PPP PPF PFP FPP"] * 200, traces=False)
    bench = Workbench.open(tmp_path)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    await bench.matrices.look("e1")
    counting.cancel()
    assert turns > 100  # 40 where it was read on the loop
    await bench.close()
