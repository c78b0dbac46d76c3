"""How exports say times and money."""

import pytest

from app.export.words import cost_words, duration_words


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (None, "–"),
        (0.2, "< 1 ms"),
        (999.4, "999 ms"),
        (999.7, "1.0 s"),
        (59_940, "59.9 s"),
        (59_960, "1 min 0 s"),
        (119_700, "2 min 0 s"),
        (3_599_700, "60 min 0 s"),
    ],
)
def test_a_time_is_rounded_before_it_is_told_in_minutes(ms: float | None, words: str):
    assert duration_words(ms) == words


@pytest.mark.parametrize(
    ("cost", "unpriced", "words"),
    [
        (0, False, "$0.0000"),
        (0.00003, False, "< $0.0001"),
        (0.00003, True, "< $0.0001 + unpriced"),
        (0.0001, False, "$0.0001"),
        (1234.5, False, "$1,234.5000"),
        (0, True, "unpriced"),
        (None, False, "unpriced"),
    ],
)
def test_a_cost_that_is_next_to_nothing_is_not_told_as_nothing(cost: float | None, unpriced: bool, words: str):
    assert cost_words(cost, unpriced=unpriced) == words
