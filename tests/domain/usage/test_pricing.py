"""What caches saved, and the same tokens at another model's price, to the digit."""

from datetime import date

import pytest

from app.domain.models import Price
from app.domain.trace.model_tallies import NANO
from app.domain.usage.figures import Figures
from app.domain.usage.pricing import priced_days, priced_rows, saved_by_cache, together
from app.domain.usage.query import UsageQuery, UsageRow

SONNET = Price(input=3e-6, output=15e-6, cached=0.3e-6, cache_write=3.75e-6)
PLAIN = Price(input=1e-6, output=2e-6)
BY_AGENT = UsageQuery(by=("agent",))
LARGE = Figures(
    runs=2, calls=3, input_tokens=1_000_000, cached_tokens=600_000, cache_write_tokens=100_000, output_tokens=10_000,
    cost=NANO,
)  # fmt: skip


def price_of(model: str) -> Price | None:
    return {"sonnet": SONNET, "plain": PLAIN}.get(model)


def test_a_cache_saves_what_its_tokens_would_have_cost_less_what_writing_to_it_cost_more():
    # 600,000 at 2.70 less a million, and 100,000 at 0.75 more
    assert saved_by_cache(LARGE, SONNET) == pytest.approx(1.62 - 0.075, abs=1e-12)
    assert saved_by_cache(LARGE, PLAIN) == 0
    written = Figures(input_tokens=100, cache_write_tokens=100)
    assert saved_by_cache(written, SONNET) == pytest.approx(-0.000075, abs=1e-15)


def test_the_same_tokens_at_another_price_are_cached_there_too():
    split = [UsageRow(("a", "plain"), LARGE)]
    (row,) = priced_rows(split, BY_AGENT, price_of, SONNET)
    assert row.otherwise == pytest.approx(0.9 + 0.18 + 0.375 + 0.15, abs=1e-12)
    (row,) = priced_rows(split, BY_AGENT, price_of, PLAIN)
    assert row.otherwise == pytest.approx(1.0 + 0.02, abs=1e-12)
    (row,) = priced_rows(split, BY_AGENT, price_of)
    assert row.otherwise is None


def test_rows_are_put_together_over_models_and_the_dearest_comes_first():
    small = Figures(calls=1, input_tokens=10, cached_tokens=4, cost=NANO // 2)
    split = [
        UsageRow(("a", "sonnet"), LARGE),
        UsageRow(("b", "unheard"), small),
        UsageRow(("b", "plain"), LARGE + small),
        UsageRow(("a", "free"), Figures(calls=1, input_tokens=10)),
    ]
    b, a = priced_rows(split, BY_AGENT, price_of, PLAIN)
    assert (a.group, a.figures.input_tokens, a.not_priced) == (("a",), 1_000_010, frozenset())
    assert a.saved == pytest.approx(1.545, abs=1e-12)
    assert (b.group, b.figures.dollars, b.saved, b.not_priced) == (("b",), 2.0, 0, frozenset({"unheard"}))
    whole = together([b, a])
    assert whole.figures.dollars == 3.0 and whole.not_priced == {"unheard"}
    assert whole.saved == pytest.approx(1.545, abs=1e-12)
    assert whole.otherwise == pytest.approx(2.0 + 0.04 + 0.00003, abs=1e-12)
    assert together([]).otherwise is None


def test_rows_and_days_say_the_same():
    split = [
        UsageRow(("2026-11-02", "a", "plain"), LARGE),
        UsageRow(("2026-11-02", "a", "sonnet"), LARGE),
        UsageRow(("2026-11-03", "b", "plain"), LARGE),
    ]
    query = UsageQuery(by=("agent",), since=date(2026, 11, 1), until=date(2026, 11, 3))
    found = priced_days(split, query, price_of, first=date(2026, 11, 2), today=date(2026, 11, 9))
    assert [(row.group, row.figures.dollars) for row in found.rows] == [(("a",), 2.0), (("b",), 1.0)]
    money = {one.group: [None if each is None else each.dollars for _, each in one.days] for one in found.series}
    assert money == {("a",): [None, 2.0, 0.0], ("b",): [None, 0.0, 1.0]}


def test_the_hit_rate_is_a_share_of_the_input():
    assert LARGE.hit_rate == 0.6 and Figures().hit_rate == 0 and LARGE.tokens == 1_010_000
