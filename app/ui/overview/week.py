"""The last seven days against the seven before: runs, money, failures, the usual time; and all fourteen as bars."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from app.domain.provenance import BEHIND
from app.domain.usage.figures import NOTHING, Figures
from app.domain.usage.query import UsageQuery, UsageSeries
from app.ui.charts.chart import Chart, Series, Slot
from app.ui.charts.chart_view import ChartView
from app.ui.charts.tables import tile
from app.ui.conversation.figures import NEAR
from app.ui.elements.addresses import RESOURCES, RUNS
from app.ui.elements.format import dollars, duration, percent, plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, joined, tag
from app.workbench import Workbench

DAYS = 7
OFTEN = 0.1
"""The share of failed runs from which on it is said with a warning, where it also doubled."""


@dataclass(frozen=True, slots=True)
class Week:
    """Runs are those that lists show; money is that of all of them, experiments and judges included."""

    runs: Figures = NOTHING
    money: Figures = NOTHING

    def __add__(self, other: "Week") -> "Week":
        return Week(self.runs + other.runs, self.money + other.money)


@dataclass(frozen=True, slots=True)
class Weeks:
    days: tuple[tuple[date, Week | None], ...] = ()
    """Fourteen, the last one is today; `None` before the first day of which anything is known."""

    @property
    def this(self) -> Week:
        return sum((one for _, one in self.days[DAYS:] if one), Week())

    @property
    def last(self) -> Week:
        return sum((one for _, one in self.days[:DAYS] if one), Week())

    @property
    def began(self) -> str:
        """The first of the last seven days."""
        return self.days[DAYS][0].isoformat()

    @property
    def first_day(self) -> str:
        """The first of all fourteen."""
        return self.days[0][0].isoformat()


class WeekFigures:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._tiles = LiveHtml().classes("fill")
        self._chart = ChartView().classes("overview-chart")
        self._chart.visible = False

    async def look(self) -> None:
        """Show the figures of these days as they are kept; no run is looked at."""
        usage = await asyncio.to_thread(lambda: self._workbench.usage)
        daily = await usage.daily(UsageQuery(days=2 * DAYS, by=("purpose",)))
        if self._tiles.is_deleted:
            return
        weeks = weeks_of(daily)
        self._tiles.show(tiles(weeks, self._workbench.preferences.get().day_cost))
        self._chart.visible = bool(weeks.this.runs or weeks.last.runs)
        if self._chart.visible:
            self._chart.show_chart(runs_chart(weeks))


def weeks_of(daily: Sequence[UsageSeries]) -> Weeks:
    """The sums of series by purpose, day by day."""
    days: dict[date, Week | None] = {}
    for series in daily:
        behind = series.group[0] in BEHIND
        for day, figures in series.days:
            before = days.setdefault(day, None)
            if figures is not None:
                days[day] = (before or Week()) + Week(NOTHING if behind else figures, figures)
    return Weeks(tuple(sorted(days.items(), key=lambda one: one[0])))


def runs_chart(weeks: Weeks) -> Chart:
    """The runs of each day, those that failed apart; a click on a day opens them."""
    slots = [
        Slot(f"{day.day} {day:%b}", f"{day:%a} {day.day} {day:%b}", _runs(day.isoformat(), to=day.isoformat()))
        for day, _ in weeks.days
    ]
    runs = [one.runs if one else None for _, one in weeks.days]
    failed = [one.failed if one is not None else None for one in runs]
    others = [one.runs - one.failed if one is not None else None for one in runs]
    opens = _runs(weeks.first_day, status="failed")
    both = (Series("Others", others), Series("Failed", failed, opens, "status=failed"))
    return Chart("overview-runs", "Runs of 14 days", "count", slots, both, unfinished=True)


def tiles(weeks: Weeks, ceiling: float) -> Html:
    """Four figures, each with the week before and the runs behind it. `ceiling` is of a day, in US dollars, or 0."""
    if not weeks.days or (not weeks.this.money and not weeks.last.money):
        return tag("p", "Nothing was run in the last 14 days. Figures appear with the first answer.", cls="muted")
    this, last = weeks.this.runs, weeks.last.runs
    since = weeks.began
    shares = [week.failed / week.runs if week.runs else 0.0 for week in (this, last)]
    figures = (
        _tile("Runs", f"{this.runs:,}", f"{last.runs:,}", _runs(since)),
        _money(weeks, f"{RESOURCES}?over=week", ceiling),
        _tile(
            "Failures",
            joined(f"{this.failed:,} ", tag("small", percent(shares[0]))),
            f"{last.failed:,} ({percent(shares[1])})",
            _runs(since, status="failed"),
            warn=this.failed > 1 and shares[0] > max(2 * shares[1], OFTEN),
        ),
        _tile(
            "Usual time of a run",
            joined("about ", duration(this.duration_ms(0.5))) if this.durations else "–",
            duration(last.duration_ms(0.5)),
            _runs(since, sort="duration_ms"),
        ),
    )
    return joined(tag("div", *figures, cls="tiles"), tag("p", *_what_counts(weeks.this), cls="faint"))


def _what_counts(week: Week) -> Iterator[str]:
    """Why the runs here are others than those of Resources, or of a list."""
    if behind := week.money.runs - week.runs.runs:
        yield f"The money is also that of {plural(behind, 'run')} of experiments, judges and tries. "
    yield "Deleted runs count, imported ones do not."


def _money(weeks: Weeks, address: str, ceiling: float) -> Html:
    money, before, today = weeks.this.money, weeks.last.money, weeks.days[-1][1] or Week()
    spent = today.money.dollars
    of_day = f"today {dollars(spent)}" + (f" of {dollars(ceiling)}" if ceiling else "")
    value = dollars(money.dollars, unpriced=bool(money.unpriced_runs))
    old = dollars(before.dollars, unpriced=bool(before.unpriced_runs))
    return _tile("Money", value, f"{old}; {of_day}", address, warn=bool(ceiling) and spent >= NEAR * ceiling)


def _tile(title: str, value: str, before: str, address: str, *, warn: bool = False) -> Html:
    testid = f"overview-{title.split(maxsplit=1)[0].lower()}"
    return tile(title, value, f"before: {before}", address, testid=testid, warn=warn)


def _runs(since: str, **said: str) -> str:
    return f"{RUNS}?{urlencode({'from': since, **said})}"
