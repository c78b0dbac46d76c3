"""Money and tokens of some days as tiles, a chart, a table and words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import urlencode

from app.domain.models import Price
from app.domain.trace import RunRow
from app.domain.usage.figures import Figures
from app.domain.usage.pricing import PricedRow
from app.domain.usage.query import UsageSeries
from app.ui.charts.chart import Chart, Series, Slot, Unit, with_others
from app.ui.charts.tables import plain_table, tile
from app.ui.conversation.figures import NEAR
from app.ui.elements.addresses import run_address
from app.ui.elements.format import count, dollars, duration, head, percent, plural, short_moment
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.visible import visible
from app.ui.resources.asked import Names, ResourcesQuery, Span, named, runs_of

MOST_ROWS = 20


@dataclass(frozen=True)
class Looked:
    """What was found of an address."""

    query: ResourcesQuery
    span: Span
    today: date
    names: Names
    whole: PricedRow
    rows: Sequence[PricedRow]
    series: Sequence[UsageSeries]
    price: Price | None
    """Of the query's `at`."""


def tiles_view(looked: Looked) -> Html:
    """Four sums, each with its runs."""
    whole, figures = looked.whole, looked.whole.figures
    known = [day for one in looked.series[:1] for day, sums in one.days if sums is not None]
    a_day = figures.dollars / max(1, len(known))
    money = dollars(figures.dollars, unpriced=bool(figures.unpriced))
    reasoning = f"tokens; {count(figures.reasoning_tokens)} for reasoning"
    unpriced = f"{plural(figures.unpriced_runs, 'run')} in part unpriced" if figures.unpriced_runs else "all priced"
    return tag(
        "div",
        _tile("Money", money, f"{dollars(a_day)} a day", looked),
        _tile("Input", count(figures.input_tokens), f"tokens; {_cached_words(whole)}", looked),
        _tile("Output", count(figures.output_tokens), reasoning, looked),
        _tile("Runs", f"{figures.runs:,}", unpriced, looked),
        cls="tiles",
    )


def _tile(title: str, value: str, note: str, looked: Looked) -> Html:
    return tile(title, value, note, runs_of(looked.span), testid=f"resources-{title.lower()}")


def _cached_words(whole: PricedRow) -> str:
    if not whole.figures.cached_tokens:
        return "none from a cache"
    saved = f"saved {dollars(whole.saved)}" if whole.saved >= 0 else f"cost {dollars(-whole.saved)} more"
    but = f", without {plural(len(whole.not_priced), 'unpriced model')}" if whole.not_priced else ""
    return f"{percent(whole.figures.hit_rate)} from caches, which {saved}{but}"


def unpriced_view(looked: Looked) -> Html:
    """How many runs have no price, and which are free by rule."""
    runs = looked.whole.figures.unpriced_runs
    free = "Models on this machine and the demo are free by rule. Deleted runs count, imported ones do not."
    if not runs:
        return tag("p", free, cls="faint")
    link = tag("a", plural(runs, "run"), href=runs_of(looked.span, unpriced="1"), data_testid="unpriced-runs")
    words = f" asked models of which nobody said what they cost. That is in no sum here. {free}"
    return tag("p", link, words, cls="faint")


def chart(looked: Looked) -> Chart:
    """Day by day, the dearest at the bottom."""
    by, of = looked.query.by, looked.query.of
    unit: Unit = "count" if by == "tool" else "dollars" if of == "money" else "tokens"
    days = [day for day, _ in looked.series[0].days] if looked.series else []
    slots = [Slot(f"{day.day} {day:%b}", f"{day:%a} {day.day} {day:%b}", runs_of((day, day))) for day in days]
    title = f"{'Calls' if by == 'tool' else looked.query.of.capitalize()} by {by}"
    series = with_others([_series(looked, one, unit) for one in looked.series])
    unfinished = looked.span[1] == looked.today
    return Chart(f"resources-{by}-{of}", title, unit, slots, series, unfinished=unfinished)


def _series(looked: Looked, one: UsageSeries, unit: Unit) -> Series:
    label, said = named(looked.query.by, one.group, looked.names)
    values = [None if figures is None else _amount(figures, unit) for _, figures in one.days]
    return Series(label, values, runs_of(looked.span, **said), urlencode(said))


def _amount(figures: Figures, unit: Unit) -> float:
    return figures.dollars if unit == "dollars" else figures.tokens if unit == "tokens" else figures.tool_calls


def table_view(looked: Looked) -> Html:
    """A row for each group; a click anywhere in it opens its runs."""
    by, shown = looked.query.by, looked.rows[:MOST_ROWS]
    if not shown:
        return tag("p", "No tool was called in these days.", cls="muted")
    heads = ["Tool", "Calls", "Failed", "Half took at most"]
    if by != "tool":
        heads = [by.capitalize(), "Runs", "Calls", "Input", "Cached", "Output", "Reasoning", "Cost"]
        heads += [f"At {head(looked.query.at, 40)}"] if looked.price else []
    rows = (_row(looked, one) for one in shown)
    left = len(looked.rows) - len(shown)
    more = tag("p", f"And {left:,} more: the files have them all.", cls="muted") if left else ""
    return joined(plain_table(f"Sums by {by}", heads, rows, testid="resources-rows", cls="of-links"), more)


def _row(looked: Looked, row: PricedRow) -> Iterator[Html]:
    label, said = named(looked.query.by, row.group, looked.names)
    label, key, figures = visible(label), f"row-{'-'.join(row.group)}", row.figures
    yield tag("a", label, href=runs_of(looked.span, **said), data_key=key) if said else joined(label)
    if looked.query.by == "tool":
        numbers = [f"{figures.tool_calls:,}", f"{figures.tool_failures:,}", duration(figures.tool_ms(0.5))]
    else:
        cached = f"{count(figures.cached_tokens)} ({percent(figures.hit_rate)})" if figures.cached_tokens else "0"
        numbers = [f"{figures.runs:,}", f"{figures.calls:,}", count(figures.input_tokens), cached]
        numbers += [count(figures.output_tokens), count(figures.reasoning_tokens)]
        numbers += [dollars(figures.dollars, unpriced=bool(figures.unpriced))]
        numbers += [] if row.otherwise is None else [dollars(row.otherwise)]
    yield from map(joined, numbers)


def what_if_view(looked: Looked) -> Html:
    """The same tokens at another model's price, in a sentence."""
    at, figures, otherwise = visible(head(looked.query.at, 80)), looked.whole.figures, looked.whole.otherwise
    if not at:
        return tag("p", "Choose a model to see what the same tokens cost at its prices of today.", cls="muted")
    if looked.price is None or otherwise is None:
        return tag("p", f"Nobody said what {at} costs, so there is nothing to compare.", cls="mark-warn")
    more = otherwise - figures.dollars
    against = (
        f"{dollars(abs(more))} {'more' if more > 0 else 'less'} than the {dollars(figures.dollars)} that they cost"
    )
    words = f" at {at}: {against if abs(more) >= 5e-10 else 'as much as they cost'}."
    part = " What they cost is known in part only." if figures.unpriced else ""
    prices = f" The prices of {at} are those of today; what the tokens cost was told when they were used."
    note = " Another model may count the same text as more or fewer tokens, and answer at another length."
    return tag("p", tag("strong", dollars(otherwise)), words, part, tag("span", prices, note, cls="faint"))


def dearest_view(dearest: Sequence[RunRow], ceilings: Mapping[str, float], now: datetime) -> Html:
    """`ceilings`: by agent, what a run of it may cost, in US dollars."""
    if not dearest:
        return tag("p", "No run of these days cost anything.", cls="muted")
    rows = (_dear_run(row, ceilings.get(row.agent.id, 0.0), now) for row in dearest)
    note = tag("p", "What each has cost itself; what it started stands for itself.", cls="faint")
    heads = ("Run", "Agent", "Model", "Began", "Cost")
    return joined(plain_table("Dearest runs", heads, rows, testid="dearest-runs"), note)


def _dear_run(row: RunRow, ceiling: float, now: datetime) -> Iterator[Html]:
    request = visible(head(row.request, 60)) or "(no text)"
    yield tag("a", request, href=run_address(row.run_id), data_key=f"run-{row.run_id}")
    yield joined(f"{visible(row.agent.name)}, {row.agent.variant_mark}")
    yield joined(visible(row.model))
    yield joined(short_moment(row.started_at, now))
    share = row.cost / ceiling if ceiling else 0.0
    of = f" {percent(share)} of its ceiling" if ceiling else ""
    yield joined(
        dollars(row.cost, unpriced=row.unpriced), tag("small", of, cls="mark-warn" if share >= NEAR else "faint")
    )
