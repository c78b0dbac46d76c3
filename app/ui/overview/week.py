"""The last seven days against the seven before: runs, money, failures, the usual time; and fourteen days as bars."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from urllib.parse import urlencode

from app.domain.provenance import BEHIND
from app.domain.usage.figures import NOTHING, Figures
from app.domain.usage.query import UsageQuery, UsageRow
from app.ui.conversation.figures import NEAR
from app.ui.elements.addresses import RUNS
from app.ui.elements.format import dollars, duration, percent
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, joined, tag
from app.workbench import Workbench

DAYS = 7


@dataclass(frozen=True, slots=True)
class Week:
    """Runs are those that lists show; money is that of all of them, experiments and judges included."""

    runs: Figures = NOTHING
    money: Figures = NOTHING

    def __add__(self, other: "Week") -> "Week":
        return Week(self.runs + other.runs, self.money + other.money)


@dataclass(frozen=True, slots=True)
class Weeks:
    this: Week
    last: Week
    today: Week


class WeekFigures:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._tiles = LiveHtml().classes("fill")

    async def look(self) -> None:
        """Show the figures of these days as they are kept; no run is looked at."""
        usage = await asyncio.to_thread(lambda: self._workbench.usage)
        rows = await usage.rows(UsageQuery(days=2 * DAYS, by=("day", "purpose")))
        if not self._tiles.is_deleted:
            today = datetime.now().astimezone().date()
            self._tiles.show(tiles(weeks_of(rows, today), today, self._workbench.preferences.get().day_cost))


def weeks_of(rows: Sequence[UsageRow], today: date) -> Weeks:
    """The sums of rows by day and purpose."""
    this, last, of_today = Week(), Week(), Week()
    began = today - timedelta(days=DAYS - 1)
    for row in rows:
        day, purpose = row.group
        one = Week(NOTHING if purpose in BEHIND else row.figures, row.figures)
        if date.fromisoformat(day) >= began:
            this += one
        else:
            last += one
        if day == today.isoformat():
            of_today += one
    return Weeks(this, last, of_today)


def tiles(weeks: Weeks, today: date, ceiling: float) -> Html:
    """Four figures, each with the week before and the runs behind it. `ceiling` is of a day, in US dollars, or 0."""
    if not weeks.this.money and not weeks.last.money:
        return tag("p", "Nothing was run in the last 14 days. Figures appear with the first answer.", cls="muted")
    this, last = weeks.this.runs, weeks.last.runs
    since = (today - timedelta(days=DAYS - 1)).isoformat()
    shares = [week.failed / week.runs if week.runs else 0.0 for week in (this, last)]
    figures = (
        _tile("Runs", f"{this.runs:,}", f"{last.runs:,}", _runs(since)),
        _money(weeks, _runs(since, sort="cost", behind="1"), ceiling),
        _tile(
            "Failures",
            joined(f"{this.failed:,} ", tag("small", percent(shares[0]))),
            f"{last.failed:,} ({percent(shares[1])})",
            _runs(since, status="failed"),
            warn=this.failed > 1 and shares[0] > 2 * shares[1],
        ),
        _tile(
            "Usual time of a run",
            joined("about ", duration(this.duration_ms(0.5))) if this.durations else "–",
            duration(last.duration_ms(0.5)),
            _runs(since, sort="duration_ms"),
        ),
    )
    return tag("div", *figures, cls="overview-tiles")


def _money(weeks: Weeks, address: str, ceiling: float) -> Html:
    money, before, spent = (one.money for one in (weeks.this, weeks.last, weeks.today))
    of_day = f"today {dollars(spent.dollars)}" + (f" of {dollars(ceiling)}" if ceiling else "")
    unpriced = bool(money.unpriced_runs)
    value = joined(dollars(money.dollars, unpriced=unpriced), " ", tag("small", of_day))
    near = bool(ceiling) and spent.dollars >= NEAR * ceiling
    return _tile("Money", value, dollars(before.dollars, unpriced=bool(before.unpriced_runs)), address, warn=near)


def _tile(title: str, value: str, before: str, address: str, *, warn: bool = False) -> Html:
    words = joined(tag("dt", title), tag("dd", value))
    return tag(
        "a",
        tag("dl", words),
        tag("span", f"before: {before}", cls="faint"),
        href=address,
        cls="overview-tile is-warn" if warn else "overview-tile",
        data_testid=f"overview-{title.split(maxsplit=1)[0].lower()}",
    )


def _runs(since: str, **said: str) -> str:
    return f"{RUNS}?{urlencode({'from': since, **said})}"
