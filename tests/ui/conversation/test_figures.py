import pytest

from app.domain.agents import Limits
from app.domain.events import Entry, Event, Forked, ModelReturned
from app.domain.messages import Usage
from app.domain.values import now
from app.ui.conversation.figures import Figures, ceiling, middle, token_ceiling


def figures(*events: Event) -> Figures:
    sums = Figures()
    for seq, event in enumerate(events):
        sums.take(Entry(run_id="run", seq=seq, at=now(), event=event))
    return sums


def returned(cost: float | None = 0.25, first_token_ms: float | None = 20) -> ModelReturned:
    return ModelReturned(
        call_id="call",
        usage=Usage(input_tokens=10, output_tokens=5),
        cost=cost,
        finish_reason="stop",
        first_token_ms=first_token_ms,
        total_ms=200,
    )


def test_answers_add_up() -> None:
    sums = figures(returned(), returned(first_token_ms=None))
    assert (sums.tokens, sums.cost, sums.unpriced) == (30, 0.5, False)
    assert (sums.latencies, sums.first_tokens) == ([200, 200], [20])


def test_an_unpriced_answer_is_remembered() -> None:
    assert figures(returned(), returned(cost=None)).unpriced


def test_what_a_fork_copied_does_not_count() -> None:
    sums = figures(returned(cost=None), Forked(run_id="other", seq=1, prefix_digest="0"), returned())
    assert (sums.tokens, sums.cost, sums.unpriced, sums.latencies) == (15, 0.25, False, [200])


def test_the_tightest_ceiling_is_shown() -> None:
    of_run = ceiling(Limits(run_cost=1, day_cost=10), run_cost=0.9, day_cost=2)
    assert of_run is not None
    assert of_run.words == "90 % of $1 a run"
    assert of_run.near
    of_day = ceiling(Limits(run_cost=1, day_cost=10), run_cost=0.1, day_cost=7.9)
    assert of_day is not None
    assert of_day.words == "79 % of $10 a day"
    assert not of_day.near


def test_a_session_and_all_agents_have_ceilings_too() -> None:
    limits = Limits(run_cost=1, day_cost=10, session_cost=2)
    of_session = ceiling(limits, run_cost=0.1, day_cost=1, session_cost=1.8)
    assert of_session is not None and of_session.words == "90 % of $2 a session"
    of_all = ceiling(limits, run_cost=0.1, day_cost=4, session_cost=0.1, all_day=5)
    assert of_all is not None and of_all.words == "80 % of $5 a day for all agents" and of_all.near
    of_month = ceiling(limits, run_cost=0.1, day_cost=4, all_day=5, month_cost=45, all_month=50)
    assert of_month is not None and of_month.words == "90 % of $50 a month for all agents"


def test_tokens_have_a_share_where_they_have_a_limit() -> None:
    assert token_ceiling(Limits(), 500) is None
    used = token_ceiling(Limits(run_tokens=1000), 800)
    assert used is not None and used.near and used.words == "80 % of 1,000 tokens a run"


def test_no_ceiling_is_no_share() -> None:
    assert ceiling(Limits(run_cost=0, day_cost=0), run_cost=1, day_cost=1) is None


@pytest.mark.parametrize(("values", "expected"), [([], None), ([3], 3), ([1, 9, 2], 2)])
def test_the_median_of_nothing_is_nothing(values: list[float], expected: float | None) -> None:
    assert middle(values) == expected
