"""The page of a matrix in this process, over a real store."""

from pathlib import Path

from nicegui import ui
from nicegui.testing import User

from tests.seeded_evals import seeded
from tests.ui.runs.test_runs_pages import marked, sees, the, visitor, words
from tests.waiting import until


def only_different(user: User) -> ui.checkbox:
    found = the(user, "matrix-only-different")
    assert isinstance(found, ui.checkbox)
    return found


async def test_a_cell_that_ended_just_before_somebody_asked_for_other_cases_is_shown(tmp_path: Path) -> None:
    await seeded(tmp_path, ["P F"], traces=False)
    async with visitor(tmp_path) as (user, bench):
        looked = await bench.matrices.look("e1")
        await user.open("/matrix/e1")
        await sees(user, 'data-beside="worse"')
        [cell] = bench.matrices.tries(looked.experiment, looked.matrix.rows[0].case.id, 1)
        assert cell is not None
        await bench.cells.save(cell.model_copy(update={"end": "passed"}))
        only_different(user).value = False
        await until(lambda: 'data-beside="same"' in words(user), seconds=5)


async def test_a_tag_that_no_case_has_any_more_leaves_one_row_of_filters_without_it(tmp_path: Path) -> None:
    await seeded(tmp_path, ["P F"] * 5, traces=False)
    async with visitor(tmp_path) as (user, _):
        await user.open("/matrix/e1?tag=gone")
        await sees(user, "5 of 5 cases shown.")
        assert len(marked(user, "matrix-search")) == 1
