from itertools import product
from math import comb, isclose
from random import Random
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.evals.statistics import (
    SignFlips,
    all_of,
    any_of,
    chance_better,
    expected_flips,
    holm,
    paired_interval,
    reach,
    sign_test,
    t_interval,
    t_quantile,
    wilson,
)
from tests.tabled_statistics import changed, compared

COUNTS = st.integers(0, 60)
DIFFERENCES = st.lists(st.integers(-20, 20), max_size=60)
SHARES = st.lists(st.floats(-1, 1), max_size=60)


@pytest.mark.parametrize(("name", "ours", "theirs"), [(name, *pair) for name, pair in compared().items()])
def test_a_figure_is_what_another_library_has(name, ours, theirs):
    assert abs(ours - theirs) <= 1e-9, name


@given(COUNTS, COUNTS)
def test_a_rate_lies_in_its_interval_which_is_never_a_point(passed, failed):
    low, high = wilson(passed, of=passed + failed)
    assert 0 <= low < high <= 1
    assert not (passed + failed) or low <= passed / (passed + failed) <= high


@given(st.integers(1, 1_000_000))
def test_none_and_all_are_the_very_ends(of):
    assert wilson(0, of=of).low == 0 and wilson(of, of=of).high == 1


@given(COUNTS, COUNTS)
def test_an_interval_of_failures_mirrors_that_of_passes(passed, failed):
    low, high = wilson(passed, of=passed + failed)
    mirrored = wilson(failed, of=passed + failed)
    assert isclose(low, 1 - mirrored.high, abs_tol=1e-12) and isclose(high, 1 - mirrored.low, abs_tol=1e-12)


@given(st.lists(st.integers(-6, 6), max_size=9))
def test_sign_flips_are_those_that_can_be_counted_by_hand(differences):
    seen = abs(sum(differences))
    sums = [
        sum(sign * one for sign, one in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = sum(abs(one) >= seen for one in sums) / len(sums)
    assert isclose(SignFlips(differences).p(), expected)


@given(COUNTS, COUNTS)
def test_sign_flips_of_single_tries_are_the_sign_test(better, worse):
    assert isclose(SignFlips(changed(better, worse, of=130)).p(), sign_test(better, worse))


@given(DIFFERENCES, st.integers(1, 5))
def test_sign_flips_know_neither_side_nor_scale_nor_what_is_the_same(differences, scale):
    p = SignFlips(differences, full=20).p()
    assert 0 <= p <= 1
    assert p == SignFlips([-one for one in differences], full=20).p()
    assert p == SignFlips([scale * one for one in differences] + [0] * 7, full=20 * scale).p()


@given(DIFFERENCES, st.integers(0, 12))
def test_further_cases_count_as_if_they_were_there(differences, further):
    way = -20 if sum(differences) < 0 else 20
    assert isclose(SignFlips(differences, full=20).p(further), SignFlips([*differences, *[way] * further]).p())


@pytest.mark.parametrize(("better", "worse"), [(70, 60), (100, 90), (300, 260), (420, 420), (520, 400)])
def test_sign_flips_of_many_cases_are_the_sign_test_too(better, worse):
    assert isclose(SignFlips(changed(better, worse, of=1000)).p(), sign_test(better, worse), rel_tol=1e-12)
    doubled = [2 * one for one in changed(better, worse, of=1000)]
    assert isclose(SignFlips(doubled, full=3).p(), sign_test(better, worse), rel_tol=1e-12)


def test_a_thousand_graded_cases_are_tested_in_time():
    random = Random(7)
    differences = [random.randint(-3, 3) for _ in range(1000)]
    took = []
    for _ in range(5):
        began = perf_counter()
        SignFlips(differences, full=3).p()
        took.append(perf_counter() - began)
    assert min(took) < 0.1


@given(SHARES)
def test_a_difference_lies_in_its_interval_which_is_never_a_point(differences):
    low, high = paired_interval(differences)
    assert -1 <= low < high <= 1
    assert not differences or low <= sum(differences) / len(differences) + 1e-12
    assert not differences or sum(differences) / len(differences) <= high + 1e-12


@given(SHARES)
def test_an_interval_of_a_difference_is_mirrored_with_its_sides(differences):
    low, high = paired_interval(differences)
    mirrored = paired_interval([-one for one in differences])
    assert isclose(low, -mirrored.high, abs_tol=1e-9) and isclose(high, -mirrored.low, abs_tol=1e-9)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60))
def test_a_mean_lies_in_its_t_interval(values):
    low, high = t_interval(values)
    assert low - 1e-12 <= sum(values) / len(values) <= high + 1e-12


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 29, 100, 999])
def test_students_t_falls_to_the_normal_one_with_more_values(freedom):
    assert (
        1.959963984540054 < t_quantile(0.975, freedom=freedom) < t_quantile(0.975, freedom=max(1, freedom - 1)) + 1e-9
    )


@given(COUNTS, COUNTS)
def test_the_chances_that_one_and_the_other_are_better_make_one(better, worse):
    assert isclose(chance_better(better, worse) + chance_better(worse, better), 1)


@given(st.integers(1, 20), st.data())
def test_any_of_k_tries_passes_at_least_as_often_as_all(tries, data):
    passed, k = data.draw(st.integers(0, tries)), data.draw(st.integers(1, tries))
    all_pass, any_pass = all_of(k, passed=passed, tries=tries), any_of(k, passed=passed, tries=tries)
    assert 0 <= all_pass <= passed / tries + 1e-12 and passed / tries - 1e-12 <= any_pass <= 1


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_a_p_and_keeps_the_order(ps):
    adjusted = holm(ps)
    assert all(p <= after <= min(1, len(ps) * p) for p, after in zip(ps, adjusted, strict=True))
    assert [after for _, after in sorted(zip(ps, adjusted, strict=True))] == sorted(adjusted)


@pytest.mark.parametrize(
    ("cases", "points"),
    [(10, (67, 77, None)), (20, (37, 46, 53)), (50, (15, 23, 28)), (100, (8, 14, 18)), (400, (2, 6, 8))],
)
def test_the_reach_of_so_many_cases_is_the_tabled_one(cases, points):
    gains = [reach(cases, worse=worse) for worse in (0.0, 0.05, 0.1)]
    assert tuple(None if gain is None else round(100 * gain) for gain in gains) == points


@pytest.mark.parametrize("cases", [12, 25])
def test_the_gain_in_reach_is_found_four_times_in_five(cases):
    """By all outcomes there are, one by one."""
    gain, worse = reach(cases), 0.05
    assert gain is not None
    chances = (worse + gain, worse, 1 - 2 * worse - gain)
    found = sum(
        comb(cases, b) * comb(cases - b, w) * chances[0] ** b * chances[1] ** w * chances[2] ** (cases - b - w)
        for b in range(cases + 1)
        for w in range(cases + 1 - b)
        if b > w and sign_test(b, w) <= 0.05
    )
    assert isclose(found, 0.8, abs_tol=1e-4)


@pytest.mark.parametrize(("cases", "allowed"), [(10, 23), (20, 12.6), (50, 5.3), (100, 2.7), (400, 0.7)])
def test_without_a_change_the_interval_still_allows_some_points(cases, allowed):
    low, high = paired_interval([0] * cases)
    assert -low == high and round(100 * high, 1 if allowed % 1 else 0) == allowed


@settings(max_examples=25)
@given(st.integers(2, 5), st.floats(0.05, 0.95))
def test_flips_are_expected_without_bias(tries, chance):
    """Over all numbers of passes, the mean estimate is what two tries really differ by."""
    weights = [comb(tries, passed) * chance**passed * (1 - chance) ** (tries - passed) for passed in range(tries + 1)]
    mean = sum(weight * expected_flips([(passed, tries)]) for passed, weight in enumerate(weights))
    assert isclose(mean, 2 * chance * (1 - chance))
