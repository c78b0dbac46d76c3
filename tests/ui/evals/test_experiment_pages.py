"""Experiments and their cells by pages, of which the last one goes while it is looked at."""

from pathlib import Path

from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.evals.experiments import Cell
from app.ui.elements.addresses import EXPERIMENTS, experiment_address
from app.ui.evals import experiment_list, experiment_page
from app.workbench import Workbench
from tests.seeded_evals import seeded
from tests.ui.runs.test_runs_pages import marked, sees, the, visitor, words
from tests.waiting import until


def press(user: User, testid: str) -> None:
    UserInteraction(user, {the(user, testid)}, None).click()


def errors(bench: Workbench) -> list[Cell]:
    return [cell for cell in bench.cells.of("e1") if cell.end == "error"]


async def test_the_page_before_is_shown_once_the_last_error_of_a_page_is_none_any_more(tmp_path: Path) -> None:
    await seeded(tmp_path, ["E"] * (experiment_page.PAGE_SIZE + 1), traces=False)
    async with visitor(tmp_path) as (user, bench):
        await user.open(experiment_address("e1"))
        await sees(user, "Page 1 of 2")
        press(user, "next-page")
        await sees(user, "Page 2 of 2")
        await bench.cells.save(errors(bench)[-1].model_copy(update={"end": "passed"}))
        await until(lambda: "Page 2 of 2" not in words(user))
        assert words(user).count('data-testid="experiment-cell"') == experiment_page.PAGE_SIZE


async def test_the_page_before_is_shown_once_the_last_experiment_of_a_page_was_deleted(tmp_path: Path) -> None:
    planned = await seeded(tmp_path, ["P"], traces=False)
    async with visitor(tmp_path) as (user, bench):
        for number in range(experiment_list.PAGE_SIZE):
            await bench.experiments.create(planned.model_copy(update={"id": f"more{number}"}))
        await user.open(EXPERIMENTS)
        await sees(user, "Page 1 of 2")
        press(user, "next-page")
        await sees(user, "Page 2 of 2")
        shown = the(user, "experiment-list")
        [last] = [one.id for one in bench.experiments.recent(offset=experiment_list.PAGE_SIZE)]
        UserInteraction(user, {shown}, None).trigger("click", ["delete", last])
        await until(lambda: marked(user, "undo-button"))
        assert words(user).count('data-testid="experiment-row"') == experiment_list.PAGE_SIZE
