import math
from math import comb, isclose
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.evals.statistics import paired_interval, t_interval
from app.domain.evals.verdicts import CaseScores, in_points, noise_words, reach_words, verdict, verdicts
from tests.domain.evals.columns import column, graded, split
from tests.tabled_statistics import OF_THREE, changed

PASSES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40)


def judged(better: int, worse: int, *, of: int, margin: float | None = None):
    return verdict(*split(better, worse, of=of), finished=True, margin=margin)


def compared(won: int, lost: int, *, of: int, margin: float | None = None):
    scores = [1.0] * won + [0.0] * lost + [0.5] * (of - won - lost)
    return verdict(graded([0.5] * of), graded(scores), finished=True, margin=margin, span=0.5)


@pytest.mark.parametrize(
    ("better", "worse", "words"),
    [
        (8, 2, "8 better, 2 worse of 20: cannot tell; 2 more better and it would be clear"),
        (5, 0, "5 better, 0 worse of 20: cannot tell; one more better and it would be clear"),
        (6, 0, "6 better, 0 worse of 20: better"),
        (1, 8, "1 better, 8 worse of 20: worse"),
        (0, 5, "0 better, 5 worse of 20: cannot tell; one more worse and it would be clear"),
        (0, 0, "0 better, 0 worse of 20: cannot tell; 6 more that all change one way and it would be clear"),
        (3, 3, "3 better, 3 worse of 20: cannot tell; 9 more that all change one way and it would be clear"),
    ],
)
def test_a_verdict_says_the_counts_first_and_what_it_would_take(better, worse, words):
    assert judged(better, worse, of=20).words == words


@given(st.integers(0, 15), st.integers(0, 15), st.integers(1, 30))
def test_what_is_needed_makes_it_clear_and_one_less_does_not(better, worse, same):
    told = judged(better, worse, of=better + worse + same)
    if told.needed is None:
        assert told.verdict in ("better", "worse")
        return
    most, least = max(better, worse), min(better, worse)
    for more, word in ((told.needed, "better"), (told.needed - 1, "cannot tell")):
        assert judged(most + more, least, of=most + least + more + same).verdict == word


def test_where_test_and_interval_disagree_it_cannot_be_told():
    told = judged(5, 0, of=20)
    assert told.low is not None and told.low > 0 and told.p == 0.0625
    assert told.verdict == "cannot tell"
    slightly = verdict(graded([0.5] * 25), graded([0.55] * 6 + [0.5] * 19), finished=True)
    assert slightly.p == 0.03125 and slightly.low is not None and slightly.low < 0
    assert (slightly.verdict, slightly.needed) == ("cannot tell", 5)


@pytest.mark.parametrize(("margin", "worse", "cases"), [(0.05, 0, 45), (0.05, 1, 75), (0.1, 0, 22), (0.1, 1, 37)])
def test_no_worse_takes_so_many_cases(margin, worse, cases):
    assert judged(0, worse, of=cases, margin=margin).verdict == "no worse"
    assert judged(0, worse, of=cases - 1, margin=margin).verdict == "cannot tell"
    assert judged(0, worse, of=cases).verdict == "cannot tell"


def test_no_worse_names_its_margin():
    assert judged(0, 0, of=50, margin=0.05).words == "0 better, 0 worse of 50: no worse than 5 points"


@pytest.mark.parametrize(
    ("cases", "margin", "passing"),
    [(20, 0.05, 3), (100, 0.05, 44), (200, 0.05, 71), (20, 0.1, 27), (100, 0.1, 92), (200, 0.1, 100)],
)
def test_an_equally_good_column_is_found_no_worse_so_often(cases, margin, passing):
    """With 5 % of the cases that flip each way; by all outcomes that are not out of the question."""
    found = 0.0
    for better in range(min(cases, 40)):
        for worse in range(min(cases - better, 40)):
            same = cases - better - worse
            weight = comb(cases, better) * comb(cases - better, worse) * 0.05 ** (better + worse) * 0.9**same
            if weight > 1e-9 and paired_interval(changed(better, worse, of=cases), level=0.9).low > -margin:
                found += weight
    assert round(100 * found) == passing


def test_a_large_loss_that_no_case_happened_to_have_is_still_thought_of():
    scores = [0.5 + at / 1000 for at in range(30)]
    shifted = [score + 0.002 * (-1) ** at for at, score in enumerate(scores)]
    told = verdict(graded(scores), graded(shifted), finished=True, margin=0.05)
    assert told.low is not None and told.low > -0.05
    assert told.verdict == "cannot tell"


def test_repeats_of_a_case_are_counted_together():
    told = verdict(column([0] * 12, repeats=3), column([max(0, d) for d in OF_THREE], repeats=3), finished=True)
    assert (told.n, told.better, told.worse, told.same) == (12, 6, 0, 6)
    baseline = [1 if d < 0 else 0 for d in OF_THREE]
    other = column([d + b for d, b in zip(OF_THREE, baseline, strict=True)], repeats=3)
    told = verdict(column(baseline, repeats=3), other, finished=True)
    assert (told.better, told.worse, told.p) == (6, 2, 0.140625)
    assert told.words == "6 better, 2 worse of 12: cannot tell; 2 more better in full and it would be clear"


def test_cases_with_different_numbers_of_repeats_are_compared_by_their_shares():
    ours = {**column([1] * 6, repeats=2), **{f"more {at}": CaseScores(scores=(1.0, 0.0, 0.0)) for at in range(2)}}
    theirs = {**column([2] * 6, repeats=2), **{f"more {at}": CaseScores(scores=(1.0, 0.0, 0.0)) for at in range(2)}}
    told = verdict(ours, theirs, finished=True)
    assert (told.better, told.worse, told.same) == (6, 0, 2)
    assert told.p == 0.03125


def test_graded_scores_are_counted_in_twentieths():
    told = verdict(graded([0.5, 0.5, 0.5]), graded([0.52, 0.53, 0.4]), finished=True)
    assert (told.better, told.worse, told.same) == (1, 1, 1)


@given(st.integers(0, 15), st.integers(0, 15), st.integers(0, 40))
def test_answers_that_are_compared_are_judged_by_the_cases_won_and_lost_as_if_these_had_passed_and_failed(
    won, lost, drawn
):
    of = won + lost + drawn
    told, passed = compared(won, lost, of=of), judged(won, lost, of=of)
    assert (told.words, told.p, told.needed) == (passed.words, passed.p, passed.needed)
    assert told.low is not None and told.high is not None and passed.low is not None and passed.high is not None
    assert (2 * told.low, 2 * told.high) == (passed.low, passed.high)
    assert compared(won, lost, of=of, margin=0.05).verdict == judged(won, lost, of=of, margin=0.1).verdict


def test_one_more_case_that_is_won_makes_clear_what_one_more_is_said_to():
    assert compared(5, 0, of=20).words == "5 better, 0 worse of 20: cannot tell; one more better and it would be clear"
    assert compared(6, 0, of=21).verdict == "better"
    assert compared(0, 6, of=20).verdict == "worse"


@pytest.mark.parametrize(("lost", "cases"), [(0, 10), (1, 18)])
def test_of_answers_that_are_compared_no_worse_takes_so_many_cases(lost, cases):
    assert compared(0, lost, of=cases, margin=0.1).verdict == "no worse"
    assert compared(0, lost, of=cases - 1, margin=0.1).verdict == "cannot tell"


def test_repeats_of_answers_that_are_compared_are_counted_together():
    won = CaseScores(scores=(1.0, 0.5, 0.5))
    baseline = {f"case {at}": CaseScores(scores=(0.5,) * 3) for at in range(5)}
    told = verdict(baseline, dict.fromkeys(baseline, won), finished=True, span=0.5)
    passed = verdict(column([0] * 5, repeats=3), column([1] * 5, repeats=3), finished=True)
    assert told.words == passed.words
    assert told.words.endswith("in full and it would be clear")


def test_thirty_graded_cases_have_students_interval_and_fewer_do_not():
    random = Random(3)
    scores = [(random.random(), random.random()) for _ in range(30)]
    for cases, interval in ((30, t_interval), (29, paired_interval)):
        ours, theirs = zip(*scores[:cases], strict=True)
        told = verdict(graded(ours), graded(theirs), finished=True)
        expected = interval([b - a for a, b in scores[:cases]])
        assert told.low is not None and told.high is not None
        assert isclose(told.low, expected.low, abs_tol=1e-12) and isclose(told.high, expected.high, abs_tol=1e-12)


def test_a_case_without_a_score_is_dropped_on_both_sides():
    ours, theirs = split(6, 0, of=20)
    missing = {**theirs, "case 19": CaseScores(), "case 18": CaseScores(scores=(math.nan,)), "new": CaseScores()}
    told = verdict({case: cell for case, cell in ours.items() if case != "case 17"}, missing, finished=True)
    assert (told.n, told.dropped, told.same) == (17, 4, 11)
    assert told.words == "6 better, 0 worse of 17: better; 4 cases without a score on both sides left out"


def test_errors_above_a_twentieth_of_the_cells_forbid_a_verdict():
    ours, theirs = split(10, 0, of=20)
    errors = {**ours, "case 0": CaseScores(scores=(0.0,), errors=1)}, {**theirs, "case 0": CaseScores(errors=2)}
    told = verdict(*errors, finished=True)
    assert (told.verdict, told.better, told.needed) == ("cannot tell", 9, None)
    assert "3 errors in 42 cells are too many; retry them" in told.words


def test_errors_that_are_spread_unevenly_forbid_a_verdict():
    ours, theirs = split(30, 0, of=100)
    one = {**theirs, "case 99": CaseScores(errors=1)}
    two = {**one, "case 98": CaseScores(errors=1)}
    assert verdict(ours, one, finished=True).verdict == "better"
    told = verdict(ours, two, finished=True)
    assert told.verdict == "cannot tell"
    assert told.words.startswith("30 better, 0 worse of 98: cannot tell; the baseline has 0 errors, the other 2; retry")


def test_there_is_no_verdict_before_all_cells_are_done():
    told = verdict(*split(20, 0, of=20), finished=False)
    assert (told.verdict, told.better, told.p, told.low, told.figures) == ("cannot tell", 20, None, None, "")
    assert told.words == "20 better, 0 worse of 20: no verdict before all cells are done"


def test_nothing_to_compare_is_said():
    told = verdict({}, {"case": CaseScores(errors=0)}, finished=True)
    assert (told.verdict, told.n, told.dropped) == ("cannot tell", 0, 1)
    assert told.words.startswith("0 better, 0 worse of 0: cannot tell; no case has a score on both sides")


def test_several_columns_take_more_than_one():
    baseline, six = split(6, 0, of=20)
    alone = verdicts(baseline, {"2": six}, finished=True)["2"]
    among = verdicts(baseline, {"2": six, "3": baseline, "4": baseline}, finished=True)
    assert (alone.verdict, alone.p) == ("better", 0.03125)
    assert (among["2"].verdict, among["2"].p, among["2"].needed) == ("cannot tell", 3 * 0.03125, 1)
    assert among["3"].p == 1
    baseline, five = split(5, 0, of=20)
    assert verdicts(baseline, {"2": five, "3": baseline}, finished=True)["2"].needed == 2


@settings(deadline=None)
@given(PASSES, st.sampled_from([None, 0.05, 0.2]))
def test_a_verdict_is_mirrored_with_its_sides(passes, margin):
    ours, theirs = (column([pair[side] for pair in passes], repeats=3) for side in (0, 1))
    told, mirrored = verdict(ours, theirs, finished=True), verdict(theirs, ours, finished=True)
    assert {"better": "worse", "worse": "better"}.get(told.verdict, told.verdict) == mirrored.verdict
    assert (told.better, told.worse, told.p) == (mirrored.worse, mirrored.better, mirrored.p)
    with_margin = verdict(ours, theirs, finished=True, margin=margin)
    assert with_margin.verdict in (told.verdict, "no worse")


@given(PASSES)
def test_a_difference_is_never_told_without_its_width(passes):
    ours, theirs = (column([pair[side] for pair in passes], repeats=3) for side in (0, 1))
    told = verdict(ours, theirs, finished=True)
    assert told.low is not None and told.high is not None and told.low < told.high
    low, high = told.figures.split("95 %: ")[1].removesuffix(" points").split(" to ")
    assert float(low) < float(high)


def test_a_thousand_equal_graded_columns_keep_their_width():
    told = verdict(graded([0.5] * 1000), graded([0.5] * 1000), finished=True)
    assert told.figures == "p 1, 95 %: -0.3 to 0.3 points"


def test_noise_tells_how_many_cases_flip_by_themselves():
    nine_of_ten = column([10] * 10 + [8] * 10, repeats=10)
    assert noise_words([nine_of_ten, nine_of_ten]) == "About 4 of 20 flip by themselves."
    assert noise_words([column([3] * 20, repeats=3)]) == "Fewer than one of 20 flip by themselves."
    assert noise_words([column([1] * 18 + [0] * 2)]) == "Up to 5 of 20 may flip by themselves; repeats would tell."
    assert noise_words([graded([0.5])]) == noise_words([]) == ""


def test_the_reach_is_said_before_the_run():
    assert reach_words(20) == "with 20 cases this can show a gain of about 46 points or more"
    assert reach_words(8) == "8 cases can show no gain reliably; it takes 9 at least"
    assert reach_words(9).startswith("with 9 cases")


@pytest.mark.parametrize(("share", "words"), [(0.0004, "0.04"), (-0.126, "-13"), (0.0, "0"), (0.055, "6"), (1, "100")])
def test_points_never_read_as_none_where_there_are_some(share, words):
    assert in_points(share) == words
