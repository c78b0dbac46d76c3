import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.evals.agreement import Agreement, agreement
from app.domain.evals.statistics import wilson
from tests.tabled_statistics import KAPPA, agreement_of

ROWS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)


def test_rows_are_counted_by_who_passed_them():
    rows = [(True, True)] * 4 + [(True, False)] * 3 + [(False, True)] * 2 + [(False, False)]
    assert agreement(rows) == Agreement(both=4, only_person=3, only_judge=2, neither=1)


@pytest.mark.parametrize(("cells", "kappa", "ac1"), [(cells, *values) for cells, values in KAPPA.items()])
def test_agreement_above_chance_is_as_tabled(cells, kappa, ac1):
    found = agreement_of(cells)
    assert (found.kappa, found.ac1) == (pytest.approx(kappa, abs=1e-9), pytest.approx(ac1, abs=1e-9))


def test_each_side_is_told_of_its_own_rows():
    found = agreement_of((40, 9, 6, 45))
    assert (found.sensitivity.right, found.sensitivity.of) == (40, 46)
    assert (found.specificity.right, found.specificity.of) == (45, 54)
    assert found.sensitivity.interval == wilson(40, of=46)
    assert found.agreed.rate == 0.85


@pytest.mark.parametrize(
    ("cells", "state"),
    [
        ((10, 1, 1, 17), "uncalibrated"),
        ((14, 1, 1, 14), "usable"),
        ((40, 9, 6, 45), "usable"),
        ((85, 5, 5, 5), "weak"),
        ((27, 2, 1, 0), "weak"),
        ((40, 0, 0, 0), "weak"),
        ((35, 15, 15, 35), "weak"),
    ],
)
def test_a_judge_is_only_as_good_as_its_labels(cells, state):
    assert agreement_of(cells).state == state


def test_a_poor_agreement_above_chance_is_weak_though_both_sides_are_right_often():
    lopsided = agreement_of((850, 8, 150, 32))
    assert min(lopsided.sensitivity.interval.low, lopsided.specificity.interval.low) > 0.6
    assert lopsided.kappa is not None and lopsided.kappa < 0.4
    assert lopsided.state == "weak"


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ((0, 0, 0, 0), "Label 30 more rows, 10 of them failing: without those agreement says little."),
        ((27, 2, 1, 0), "Label 8 more rows, 8 of them failing: without those agreement says little."),
        ((14, 1, 1, 12), "Label 2 more rows."),
        ((14, 1, 1, 14), ""),
    ],
)
def test_it_is_asked_for_rows_that_fail(cells, wanted):
    assert agreement_of(cells).wanted == wanted


def test_a_rate_is_corrected_where_the_judge_is_known_well_enough():
    assert agreement_of((18, 5, 2, 15)).corrected(0.8) == pytest.approx(0.846153846)
    assert agreement_of((17, 5, 2, 15)).corrected(0.8) is None  # 19 rows that a person passed
    assert agreement_of((18, 4, 2, 15)).corrected(0.8) is None  # 19 rows that a person failed
    assert agreement_of((14, 8, 6, 12)).corrected(0.8) is None  # 0.7 and 0.6 make 1.3
    assert agreement_of((30, 0, 0, 30)).corrected(0.8) == pytest.approx(0.8)


@pytest.mark.parametrize(("cells", "half"), [((42, 7, 8, 43), 0.14), ((13, 2, 2, 13), 0.26)])
def test_kappa_is_told_with_what_so_few_labels_leave_open(cells, half):
    interval = agreement_of(cells).kappa_interval
    assert interval is not None
    assert (interval.high - interval.low) / 2 == pytest.approx(half, abs=0.02)


@given(ROWS)
def test_agreement_does_not_depend_on_who_is_asked_first(rows):
    one, other = agreement(rows), agreement((judge, person) for person, judge in rows)
    assert (one.kappa is None) == (other.kappa is None)
    assert one.kappa is None or one.kappa == pytest.approx(other.kappa)
    assert one.ac1 is None or one.ac1 == pytest.approx(other.ac1)


@given(ROWS)
def test_kappa_is_at_most_one_and_lies_in_its_interval(rows):
    found = agreement(rows)
    if found.kappa is None or found.kappa_interval is None:
        assert found.kappa is found.kappa_interval is None
        return
    assert -1 <= found.kappa <= 1 + 1e-12
    assert found.kappa_interval.low - 1e-9 <= found.kappa <= found.kappa_interval.high + 1e-9
    assert found.kappa_interval.low < found.kappa_interval.high
