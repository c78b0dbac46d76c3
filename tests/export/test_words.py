"""How exports say times."""

import pytest

from app.export.words import duration_words


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
