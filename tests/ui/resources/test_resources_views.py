"""Ceilings and sums in words."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from app.domain.agents import Limits, PromptBehaviour, new_agent
from app.domain.models import Price
from app.domain.trace import run_row
from app.domain.trace.model_tallies import NANO
from app.domain.usage.figures import NOTHING, Figures
from app.domain.usage.pace import Pace
from app.domain.usage.pricing import PricedRow
from app.domain.usage.query import UsageSeries
from app.ui.charts.chart import finding, words_at
from app.ui.resources.asked import ResourcesQuery
from app.ui.resources.ceilings import agents_view, ceilings_view, dearest_sessions, paces
from app.ui.resources.figures import (
    MOST_ROWS,
    Looked,
    chart,
    dearest_view,
    table_view,
    tiles_view,
    unpriced_view,
    what_if_view,
)
from tests.e2e.apps import workbench_on
from tests.traces import the_sum

BEGAN = datetime(2026, 11, 2, tzinfo=UTC).astimezone().replace(hour=0)
DAY = date(2026, 11, 23)
NASTY = "<img src=x onerror=alert(1)>"
GPT = Figures(
    runs=3, calls=4, input_tokens=2_000_000, cached_tokens=500_000, output_tokens=30_000, reasoning_tokens=12_000,
    cost=5 * NANO,
)  # fmt: skip
ODD = Figures(runs=1, calls=1, input_tokens=10, output_tokens=2, unpriced=1, unpriced_runs=1)


def day(spent: float, *, allowed: float = 10.0, hours: float = 6) -> Pace:
    return Pace(spent, allowed, BEGAN, BEGAN + timedelta(days=1), BEGAN + timedelta(hours=hours))


def local(moment: str) -> datetime:
    return datetime.fromisoformat(moment).astimezone()


def looked(*rows: PricedRow, query: ResourcesQuery | None = None, **more: object) -> Looked:
    whole = PricedRow((), sum((row.figures for row in rows), NOTHING), sum(row.saved for row in rows))
    said = {
        "query": query or ResourcesQuery(),
        "span": (DAY - timedelta(days=1), DAY),
        "today": DAY,
        "names": {},
        "whole": whole,
        "rows": rows,
        "series": [UsageSeries(row.group, ((DAY - timedelta(days=1), None), (DAY, row.figures))) for row in rows],
        "price": None,
    }
    return Looked(**{**said, **more})


BOTH = looked(PricedRow(("openai/gpt",), GPT, saved=1.25), PricedRow((NASTY,), ODD))


def test_a_ceiling_warns_from_80_percent_on():
    below, at = ceilings_view(day(7.99), day(0)), ceilings_view(day(8.0), day(0))
    assert "is-warn" not in below and "$7.99<small> of $10.00, 80 %" in below
    assert 'class="ceiling is-warn" data-testid="ceiling-day"' in at and at.count("is-warn") == 1
    assert "is-warn" not in ceilings_view(day(900, allowed=0), day(900, allowed=0))


def test_what_is_left_and_when_it_is_reached_is_said_as_a_projection():
    shown = ceilings_view(day(5), day(2))
    assert "$5.00 left. At this pace it is reached about 12:00." in shown
    assert "$8.00 left. At this pace it comes to about $8.00." in shown
    assert shown.count(">projection<") == 2
    assert "It is reached: calls that cost money are held back." in ceilings_view(day(10), day(0))
    early = ceilings_view(day(5, hours=0.5), day(1, allowed=0, hours=0.5))
    assert early.count("too early to tell") == 2 and "projection<" not in early and "without a ceiling" in early
    assert 'href="/settings?section=budgets"' in shown


@pytest.mark.parametrize(
    ("moment", "day_ends", "month_ends"),
    [
        ("2026-12-01 00:00", "2026-12-02", "2027-01-01"),
        ("2026-12-31 23:59", "2027-01-01", "2027-01-01"),
        ("2028-02-29 12:00", "2028-03-01", "2028-03-01"),
        ("2026-01-31 06:00", "2026-02-01", "2026-02-01"),
    ],
)
async def test_a_day_and_a_month_without_runs_end_when_the_next_one_begins(
    tmp_path: Path, moment: str, day_ends: str, month_ends: str
):
    async with workbench_on(tmp_path) as workbench:
        of_day, of_month = paces(workbench, local(moment))
    assert (of_day.spent, of_day.ends) == (0, local(day_ends))
    assert (of_month.spent, of_month.began.day, of_month.ends) == (0, 1, local(month_ends))
    shown = ceilings_view(of_day, of_month)
    assert "$10.00 left. " in shown and "projection" not in shown and "is reached" not in shown


def test_agents_have_their_ceilings_with_what_is_left_today():
    limits = Limits(run_cost=1, session_cost=2, day_cost=5)
    agents = [new_agent(NASTY, PromptBehaviour(limits=limits), taken_slugs=set())]
    shown = agents_view(agents, {agents[0].id: ("s1", 1.7)}, 1.0)
    assert "<img" not in shown and "tab=limits" in shown
    assert '$2.00; <a href="/playground/s1"' in shown and 'class="mark-warn">$0.30 left' in shown
    assert "$5.00; <span>$4.00 left" in shown
    assert "And 3 agents more" in agents_view(agents * 15, {}, 0)
    assert agents_view([], {}, 0) == ""


async def test_of_agents_with_a_ceiling_the_dearest_session_of_late_is_found(tmp_path: Path):
    async with workbench_on(tmp_path) as workbench:
        wary = PromptBehaviour(limits=Limits(session_cost=2))
        payer = new_agent("Payer", wary, taken_slugs=workbench.agents.slugs())
        await workbench.agents.create(payer)
        for agent in (payer, workbench.agents.by_slug("assistant")):
            for cost in (0.5, 1.7, 0.2):
                session = await workbench.chat.new_session(agent.id)
                said = {"run_id": f"{agent.slug}-{cost}", "session_id": session.id, "cost": cost}
                await workbench.rows.save(run_row(the_sum(), alive=False).model_copy(update=said))
        found = dearest_sessions(workbench, workbench.agents.all())
        assert {agent: cost for agent, (_, cost) in found.items()} == {payer.id: 1.7}
        assert workbench.sessions.get(found[payer.id][0]).agent_id == payer.id


def test_sums_say_what_caches_saved_and_what_has_no_price():
    shown = tiles_view(BOTH)
    assert "$5.00 + unpriced" in shown and "$5.00 a day" in shown  # one day is known
    assert "25 % from caches, which saved $1.25" in shown and "12.0k for reasoning" in shown
    assert "1 run in part unpriced" in shown
    words = unpriced_view(BOTH)
    assert ">1 run</a> asked models" in words and "unpriced=1" in words and "free by rule" in words
    assert "nobody said" not in unpriced_view(looked(PricedRow(("m",), GPT)))
    dearer = looked(PricedRow(("m",), GPT, saved=-0.5), whole=PricedRow((), GPT, -0.5, frozenset({"odd"})))
    assert "which cost $0.50 more, without 1 unpriced model" in tiles_view(dearer)


def test_bars_stand_on_one_another_and_lead_to_the_runs_of_their_day():
    drawn = chart(BOTH)
    assert finding(drawn) == "Money by model: $5.00 in all, most Mon 23 Nov ($5.00)"
    assert drawn.slots[1].href == "/runs?from=2026-11-23&to=2026-11-23&behind=1&sort=cost"
    assert "model=openai%2Fgpt&from=2026-11-22&to=2026-11-23" in drawn.series[0].href
    assert drawn.unfinished and drawn.series[0].values == [None, 5.0]
    tokens = chart(looked(*BOTH.rows, query=ResourcesQuery(of="tokens")))
    assert "openai/gpt 2,030,000" in words_at(tokens, 1, 1)


def test_rows_are_links_and_what_is_left_out_is_counted():
    shown = table_view(BOTH)
    assert "<img" not in shown and "500.0k (25 %)" in shown and "unpriced" in shown
    assert 'href="/runs?model=openai%2Fgpt&amp;from=' in shown
    many = looked(*(PricedRow((f"m{number}",), GPT) for number in range(MOST_ROWS + 3)))
    assert "And 3 more" in table_view(many)
    tools = looked(
        PricedRow(("add",), Figures(tool_calls=4, tool_failures=1, tool_times={40: 4})), query=ResourcesQuery(by="tool")
    )
    shown = table_view(tools)
    assert "tool=add" in shown and 'data-head="Calls">4</td>' in shown and 'data-head="Failed">1</td>' in shown
    assert "No tool was called" in table_view(looked(query=ResourcesQuery(by="tool")))


def test_the_same_tokens_at_another_price_are_said_in_a_sentence():
    query, price = ResourcesQuery(at="openai/mini"), Price(input=1e-6, output=2e-6)

    def said(otherwise: float | None, figures: Figures = GPT, price: Price | None = price) -> str:
        return what_if_view(looked(query=query, whole=PricedRow((), figures, otherwise=otherwise), price=price))

    assert "$3.00</strong> at openai/mini: $2.00 less than the $5.00 that they cost." in said(3.0)
    assert "$7.50</strong> at openai/mini: $2.50 more than" in said(7.5)
    assert "The prices of openai/mini are those of today" in said(3.0)
    assert "as much as they cost" in said(5.0)
    assert "known in part only" in said(1.0, GPT + ODD)
    assert "Nobody said what openai/mini costs" in said(None, price=None)
    assert "Choose a model" in what_if_view(BOTH)


def test_the_dearest_runs_say_how_near_their_ceiling_they_came():
    row = run_row(the_sum(), alive=False).model_copy(update={"cost": 0.8, "request": NASTY})
    shown = dearest_view([row], {row.agent.id: 1.0}, BEGAN)
    assert 'class="mark-warn"> 80 % of its ceiling' in shown and "<img" not in shown
    assert "of its ceiling" not in dearest_view([row], {}, BEGAN)
    assert "No run of these days cost anything" in dearest_view([], {}, BEGAN)
