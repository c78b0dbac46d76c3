"""What came of columns: only what passed and failed is in a rate; a verdict waits until all is done."""

from datetime import datetime

import pytest

from app.domain.evals.experiments import (
    Cell,
    CellEnd,
    CellKey,
    CellScore,
    Column,
    Experiment,
    ExperimentStatus,
    Plan,
    cell_id,
    planned,
)
from app.domain.evals.results import results_of
from app.domain.evals.scorers import Contains, Pairwise, Scorer
from app.domain.provenance import Trigger

NOW = datetime.fromisoformat("2026-03-01T09:30:00+00:00")
ENDS: dict[str, CellEnd | None] = {
    **{"p": "passed", "f": "failed", "e": "error", "n": "not_scored", "s": "skipped", ".": None}
}


def experiment(
    *columns: str, status: ExperimentStatus = "completed", repeats: int = 1, scorer: Scorer | None = None
) -> Experiment:
    plan = Plan(
        dataset_id="d",
        dataset_slug="d",
        dataset_version=1,
        cases="",
        case_ids=tuple(str(number) for number in range(len(columns[0]) // repeats)),
        agent_id="a",
        agent_slug="a",
        columns=tuple(Column(variant=number + 1) for number in range(len(columns))),
        repeats=repeats,
        scorers=(scorer or Contains(),),
    )
    return Experiment(id="e", plan=plan, status=status, by=Trigger(kind="page"), created_at=NOW, updated_at=NOW)


def cells(*columns: str, repeats: int = 1, values: dict[str, float] | None = None) -> list[Cell]:
    """A letter for how each ended, `.` for one that goes on and a space for one that was not begun."""
    found = []
    for column, letters in enumerate(columns):
        for place, letter in enumerate(letters):
            key = CellKey(str(place // repeats), column, place % repeats)
            scores = (CellScore(name="pairwise", value=values[letter]),) if values and column else ()
            cell = Cell(
                **{"id": cell_id("e", key), "experiment_id": "e", **key._asdict()},
                **{"end": ENDS.get(letter), "runs": ("r",), "ms": 100.0 * (place + 1), "cost": 0.5, "scores": scores},
            )
            found += [cell] if letter != " " else []
    return found


def test_only_what_passed_and_failed_is_in_the_rate_and_all_is_in_view():
    [column] = results_of(experiment("ppfens"), cells("ppfens")).columns
    counts = (column.passed, column.failed, column.errors, column.not_scored, column.skipped, column.pending)
    assert counts == (2, 1, 1, 1, 1, 0)
    assert (column.rate, column.worst, column.best) == (pytest.approx(2 / 3), 0.5, 0.75)
    assert column.low is not None and 0 < column.low < 2 / 3 < (column.high or 0) < 1
    assert (column.p50_ms, column.cost_usd) == (250, 3.0)


def test_a_cell_that_was_stored_before_it_said_whether_it_is_unpriced_is_still_read():
    stored = [one.model_dump_json(exclude={"unpriced"}) for one in cells("pf")]
    [column] = results_of(experiment("pf"), map(Cell.model_validate_json, stored)).columns
    assert (column.passed, column.failed, column.unpriced) == (1, 1, False)


def test_where_nothing_ended_there_is_no_rate():
    [column] = results_of(experiment("..", status="running"), cells("..")).columns
    assert (column.rate, column.low, column.worst, column.pending, column.p50_ms) == (None, None, None, 2, None)


@pytest.mark.parametrize("status", ["running", "paused", "interrupted", "cancelled"])
def test_there_is_no_verdict_before_all_is_done(status: ExperimentStatus):
    columns = ("f" * 12, "p" * 12)
    assert results_of(experiment(*columns), cells(*columns)).verdicts[0].verdict.verdict == "better"
    early = results_of(experiment(*columns, status=status), cells(*columns))
    assert (early.finished, early.verdicts[0].verdict.verdict, early.verdicts[0].verdict.p) == (
        False,
        "cannot tell",
        None,
    )


def test_what_a_ceiling_cut_off_is_no_regression():
    cut = ("p" * 12, "p" * 4 + " " * 8)
    results = results_of(experiment(*cut), cells(*cut))
    assert (results.finished, results.columns[1].skipped) == (False, 8)
    assert results.verdicts[0].verdict.verdict == "cannot tell"


def test_repeats_of_a_case_make_no_interval_narrower():
    once, thrice = experiment("pfpf"), experiment("pppfffpppfff", repeats=3)
    [narrow] = results_of(thrice, cells("pppfffpppfff", repeats=3)).columns
    [wide] = results_of(once, cells("pfpf")).columns
    assert (narrow.rate, narrow.low, narrow.high) == (wide.rate, wide.low, wide.high)


def test_answers_that_are_compared_count_as_won_drawn_and_lost():
    columns = ("n" * 12, "p" * 9 + "n" * 2 + "f")
    scorer = Pairwise(model="m", criterion="c")
    found = results_of(
        experiment(*columns, scorer=scorer), cells(*columns, values={"n": 0.5, "p": 1.0, "f": 0.0})
    ).verdicts[0]
    assert (found.verdict.better, found.verdict.worse, found.verdict.same) == (9, 1, 2)


def test_the_order_of_work_is_one_repeat_of_all_cases_after_the_other():
    plan = experiment("pppp", "pppp", repeats=2).plan
    assert [key.repeat for key in planned(plan)] == [0] * 4 + [1] * 4
