from datetime import UTC, datetime, timedelta

import pytest

from app.domain.values import size
from app.ui.elements.format import ago, count, dollars, duration, head, percent, plural, tokens

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (None, "–"),
        (0.2, "< 1 ms"),
        (12.4, "12 ms"),
        (234, "0.2 s"),
        (1234, "1.2 s"),
        (59_960, "1 min 0 s"),
        (125_000, "2 min 5 s"),
        (3_720_000, "1 h 2 min"),
    ],
)
def test_durations(ms: float | None, words: str) -> None:
    assert duration(ms) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (12_345, "12.3k"),
        (999_949, "999.9k"),
        (999_950, "1.00M"),
        (4_560_000, "4.56M"),
    ],
)
def test_counts(number: int, words: str) -> None:
    assert count(number) == words


def test_one_token_is_not_tokens() -> None:
    assert (tokens(1), tokens(2)) == ("1 token", "2 tokens")
    assert (plural(1, "step"), plural(1200, "step")) == ("1 step", "1,200 steps")


@pytest.mark.parametrize(
    ("cost", "unpriced", "words"),
    [
        (0, False, "$0.00"),
        (0.00001, False, "< $0.0001"),
        (0.0123, False, "$0.0123"),
        (1234.5, False, "$1,234.50"),
        (0, True, "unpriced"),
        (0.5, True, "$0.50 + unpriced"),
    ],
)
def test_money_that_nobody_priced_is_not_nothing(cost: float, unpriced: bool, words: str) -> None:
    assert dollars(cost, unpriced=unpriced) == words


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=1, hours=2), "yesterday"),
        (timedelta(days=4), "4 days ago"),
    ],
)
def test_how_long_ago(passed: timedelta, words: str) -> None:
    assert ago(NOON - passed, NOON) == words


def test_what_is_long_ago_has_a_date() -> None:
    assert "2026" in ago(NOON - timedelta(days=30), NOON)


def test_sizes_and_shares() -> None:
    assert [size(1), size(999), size(1500), size(3_400_000)] == ["1 byte", "999 bytes", "1.5 kB", "3.4 MB"]
    assert [size(999_949), size(999_950), size(999_950_000)] == ["999.9 kB", "1.0 MB", "1.0 GB"]
    assert percent(0.349) == "35 %"


def test_a_head_is_one_line() -> None:
    assert head("a\n  b\tc") == "a b c"
    assert head("x" * 50, 10) == "xxxxxxxxx…"
