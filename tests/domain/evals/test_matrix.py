import pytest

from app.domain.evals.experiments import CellScore
from app.domain.evals.matrix import Matrix, MatrixFilter, cheapest, matrix_of, no_worse, shown
from app.domain.evals.results import results_of
from app.domain.evals.scorers import Pairwise
from tests.cases import case
from tests.tried import cases_of, cell, cells, experiment


def matrix(*rows: str, status: str = "completed", scorer: str = "") -> Matrix:
    columns, repeats = len(rows[0].split()), len(rows[0].split()[0])
    cases = cases_of(len(rows))
    planned = experiment(cases, columns=columns, repeats=repeats, status=status)
    return matrix_of(planned, cells(planned, *rows), {one.id: one for one in cases}, scorer=scorer)


def flags(*rows: str) -> list[set[str]]:
    return [set(row.flags) for row in sorted(matrix(*rows).rows, key=lambda row: row.number)]


def test_regressions_come_first_then_what_is_better_then_errors_then_what_is_equal():
    told = matrix("P P", "P E", "F P", "P F", "F F")
    assert [row.number for row in told.rows] == [4, 3, 2, 5, 1]
    assert told.counts == {"regression": 1, "flip": 1, "error": 1, "failed": 3, "equal": 2}


def test_the_greatest_drop_is_looked_at_first():
    assert [row.number for row in matrix("PPP PPF", "PPP FFF", "PPF PFF").rows] == [2, 1, 3]


def test_where_repeats_come_out_differently_a_case_is_flaky_and_no_cross_is_shown():
    [row] = matrix("PPF PPF").rows
    assert (row.cells[0].mark, row.cells[0].passes, row.flags) == ("flaky", 2, {"flaky", "failed"})


def test_of_one_column_what_failed_comes_first():
    told = matrix("P", "F", "E")
    assert [row.number for row in told.rows] == [2, 3, 1]
    assert [row.number for row in shown(told, MatrixFilter(flag="failed"))] == [2]


def test_an_error_is_no_regression():
    assert flags("P E", "PP EP") == [{"error"}, {"error"}]


def test_what_is_not_scored_or_not_begun_is_neither_passed_nor_failed():
    told = matrix("P N", "P .", "P S", status="running")
    marks = {row.number: row.cells[1].mark for row in told.rows}
    assert marks == {1: "not_scored", 2: "pending", 3: "skipped"}
    assert {flag for row in told.rows for flag in row.flags} == {"error", "open"}


def test_what_an_ended_experiment_never_began_is_skipped():
    assert matrix("P .").rows[0].cells[1].mark == "skipped"


def test_a_baseline_that_answers_are_compared_with_needs_no_score_of_its_own():
    cases = cases_of(3)
    planned = experiment(cases, scorers=(Pairwise(name="right", model="m", criterion="It is short."),))
    told = matrix_of(planned, cells(planned, "N P", "N F", "N N"), {one.id: one for one in cases})
    assert [set(row.flags) for row in sorted(told.rows, key=lambda row: row.number)] == [
        {"flip"},
        {"regression", "failed"},
        {"error"},
    ]


def test_answers_that_lose_in_six_of_twenty_cases_are_worse_in_a_matrix_and_in_the_results():
    cases = cases_of(20)
    planned = experiment(cases, scorers=(Pairwise(name="right", model="m", criterion="It is short."),))
    drawn = (CellScore(name="right", value=0.5, passed=True),)
    tried = [cell(planned, one.id, 0, 0, "not_scored") for one in cases]
    tried += [cell(planned, one.id, 1, 0, "failed") for one in cases[:6]]
    tried += [cell(planned, one.id, 1, 0, "passed", scores=drawn) for one in cases[6:]]
    told = no_worse(matrix_of(planned, tried, {one.id: one for one in cases}), 1, finished=True)
    [column] = results_of(planned, tried).verdicts
    assert (told.verdict, column.verdict.verdict) == ("worse", "worse")
    assert column.verdict.figures == "p 0.031, 95 %: -25 to -2 points"


def test_another_answer_with_the_same_score_is_changed():
    cases = cases_of(1)
    planned = experiment(cases)
    tried = [cell(planned, "case1", 0, 0, "passed"), cell(planned, "case1", 1, 0, "passed", answer="Other words.")]
    [row] = matrix_of(planned, tried, {"case1": cases[0]}).rows
    assert row.flags == {"changed"}


def test_another_scorer_tells_the_cells_anew():
    cases = cases_of(2)
    planned = experiment(cases)
    polite = CellScore(name="polite", value=0.0, passed=False)
    tried = [cell(planned, one.id, column, 0, "passed", scores=(polite,)) for one in cases[:1] for column in (0, 1)] + [
        cell(planned, "case2", column, 0, "failed", scores=()) for column in (0, 1)
    ]
    told = matrix_of(planned, tried, {one.id: one for one in cases}, scorer="polite")
    assert [[one.mark for one in row.cells] for row in told.rows] == [["failed"] * 2, ["failed"] * 2]
    assert told.scorer == "polite"
    tried[0] = cell(planned, "case1", 0, 0, "passed")  # nobody asked whether it was polite
    told = matrix_of(planned, tried, {one.id: one for one in cases}, scorer="polite")
    assert told.row(1).cells[0].mark == "not_scored"  # type: ignore[union-attr]


def test_rows_are_found_by_flag_tag_and_words_and_pinned_ones_stay():
    cases = [case("The weather", id="case1", tags=("sun",)), case("The sums", id="case2"), case("A sum", id="case3")]
    planned = experiment(cases)
    told = matrix_of(planned, cells(planned, "P P", "P F", "P P"), {one.id: one for one in cases})

    def found(**wanted: object) -> list[int]:
        return [row.number for row in shown(told, MatrixFilter(**wanted))]  # type: ignore[arg-type]

    assert found() == [2, 1, 3]
    assert found(only_different=True) == [2]
    assert found(only_different=True, flag="equal") == [1, 3]
    assert found(tag="sun") == [1]
    assert found(text="SUM") == [2, 3]
    assert found(text="weather", pinned=frozenset({3})) == [3, 1]


def test_the_cheapest_column_is_no_worse_only_with_cases_enough():
    for count, word in ((21, "cannot tell"), (22, "no worse")):
        cases = cases_of(count)
        planned = experiment(cases)
        tried = [
            cell(planned, one.id, column, 0, "passed", cost=cost)
            for one in cases
            for column, cost in ((0, 0.02), (1, 0.01))
        ]
        told = matrix_of(planned, tried, {one.id: one for one in cases})
        column = cheapest(results_of(planned, tried))
        assert column == 1
        assert no_worse(told, column, finished=True).verdict == word
        assert no_worse(told, column, finished=False).p is None


@pytest.mark.parametrize(("unpriced", "found"), [((), 1), ((1,), 2), ((1, 2), None), ((0,), None)])
def test_a_column_of_which_nobody_knows_what_it_costs_is_not_the_cheapest(unpriced, found):
    cases = cases_of(2)
    planned = experiment(cases, columns=3)
    tried = [
        cell(planned, one.id, column, 0, "passed", cost=cost, unpriced=column in unpriced)
        for one in cases
        for column, cost in enumerate((0.03, 0.0, 0.01))
    ]
    assert cheapest(results_of(planned, tried)) == found
    told = matrix_of(planned, tried, {one.id: one for one in cases})
    assert {place for place, one in enumerate(told.rows[0].cells) if one.cost is None} == set(unpriced)


def test_nothing_is_cheaper_than_what_costs_the_same():
    cases = cases_of(2)
    planned = experiment(cases)
    assert cheapest(results_of(planned, cells(planned, "P P", "P F"))) is None
