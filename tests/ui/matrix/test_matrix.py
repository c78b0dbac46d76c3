"""What a matrix's address says, and what its cells and columns say in words."""

from urllib.parse import parse_qsl

import pytest

from app.domain.evals.matrix import MatrixCell, matrix_of
from app.domain.evals.results import results_of
from app.domain.evals.verdicts import CaseScores
from app.engine.experiments.matrices import Looked
from app.ui.matrix.matrix_query import MatrixQuery
from app.ui.matrix.matrix_table import matrix_table
from app.ui.matrix.matrix_words import cell_words, deltas, dots, left_words
from app.ui.matrix.pair_dialog import cell_view, first_difference
from tests.cases import case
from tests.tried import cases_of, cell, cells, experiment


def tried(tries: str, *, cost: float | None = 0.01, ms: float | None = 1000) -> MatrixCell:
    ends = {"P": "passed", "F": "failed", "E": "error", ".": "pending"}
    return MatrixCell(tuple(ends[one] for one in tries), CaseScores(), (), cost, ms)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "query",
    [
        MatrixQuery(),
        MatrixQuery(flag="flaky", tag="vip & co", scorer="judge", text="a=b", all_rows=True, pins=(3, 17), page=2),
        MatrixQuery(column=0),
    ],
)
def test_an_address_says_what_is_shown(query: MatrixQuery):
    _, _, said = query.address("e1").partition("?")
    assert MatrixQuery.of(dict(parse_qsl(said))) == query


def test_what_an_address_says_wrongly_is_left_out():
    said = {"show": "nonsense", "pin": "x,-1,2,2,9999999", "column": "0", "page": "a"}
    assert MatrixQuery.of(said) == MatrixQuery(pins=(2,))


def test_repeats_are_dots_and_words():
    assert (dots(tried("FPP")), cell_words(tried("FPP"))) == ("●●○", "2 of 3 passed")
    assert (dots(tried("PE.")), cell_words(tried("PE."))) == ("●··", "1 of 1 passed, 2 without a score")
    assert (cell_words(tried("E")), cell_words(tried("."))) == ("error", "not run yet")


def test_what_a_try_cost_and_took_stands_beside_the_baseline():
    baseline = tried("P")
    assert deltas(tried("P", cost=0.005, ms=1300), baseline) == ["−50 % cost", "+0.3 s"]
    assert deltas(tried("P", cost=0.01, ms=1001), baseline) == []
    assert deltas(tried("P", cost=0.01, ms=900), tried("P", cost=0)) == ["+$0.0100", "−0.1 s"]
    assert deltas(tried("E", cost=None, ms=None), baseline) == []


def test_a_column_says_its_rate_with_what_it_leaves_out():
    cases = cases_of(20)
    planned = experiment(cases)
    [baseline, other] = results_of(planned, cells(planned, *["P P"] * 17, "P E", "P F", "P F")).columns
    assert baseline.rate_words == "20 of 20 passed (84–100 %)"
    assert left_words(other) == ["1 error", "85–90 % had they failed or passed"]


def test_money_that_nobody_priced_is_said_so_of_columns_and_tries():
    planned = experiment(cases_of(1))
    free, dear = (
        cell(planned, "case1", place, 0, "passed", cost=cost, unpriced=True) for place, cost in ((0, 0.0), (1, 0.5))
    )
    looked = Looked(planned, matrix_of(planned, [free, dear], {}), results_of(planned, [free, dear]), (0, "completed"))
    drawn = matrix_table(looked, [], pins=(), column=1)
    assert ">unpriced · " in drawn and ">$0.50 + unpriced · " in drawn and "$0.00" not in drawn
    assert "$0.50 + unpriced · 1.0 s" in cell_view("variant 2", dear)


def test_texts_of_cases_and_answers_are_never_markup():
    hostile = "<img src=x onerror=alert(1)>"
    cases = [case(hostile, id="case1", tags=(hostile,))]
    planned = experiment(cases)
    tries = [cell(planned, "case1", column, 0, "passed", answer=hostile, why=hostile) for column in (0, 1)]
    looked = Looked(
        planned, matrix_of(planned, tries, {"case1": cases[0]}), results_of(planned, tries), (0, "completed")
    )
    drawn = matrix_table(looked, looked.matrix.rows, pins=(), column=1) + cell_view(hostile, tries[0])
    assert "<img" not in drawn
    assert drawn.count("&lt;img") >= 3


def test_the_try_that_differs_is_shown_first():
    cases = cases_of(1)
    planned = experiment(cases, repeats=3)
    [row] = matrix_of(planned, cells(planned, "PPP PFP"), {"case1": cases[0]}).rows
    assert (first_difference(row, 1), first_difference(row, 0)) == (1, 0)
