"""The stretches of time that are looked at: the hour and the day by the rows of just those, longer ones by days."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, get_args

from app.domain.usage.figures import Figures
from app.domain.usage.query import UsageQuery
from app.domain.values import now
from app.ui.charts.chart import Slot
from app.ui.elements.addresses import RUNS, edge_text
from app.ui.elements.format import clock
from app.workbench import Workbench

Span = Literal["hour", "day", "week", "month"]
SPANS: tuple[Span, ...] = get_args(Span)
_STEPS = {"hour": (timedelta(minutes=1), 60), "day": (timedelta(minutes=30), 48)}
_DAYS = {"week": 7, "month": 30}


@dataclass(frozen=True)
class Seen:
    """What was found of a span."""

    axis: str
    """What one slot is."""
    slots: tuple[Slot, ...]
    figures: tuple[Figures | None, ...]
    """Of each slot; `None` before the first run of all."""
    since: datetime | date
    """The moment, or the day, at which it begins."""


async def seen(workbench: Workbench, span: Span) -> Seen:
    """Of runs by when they began, experiments and all others; the last slot is going on."""
    if span in _STEPS:
        step, count = _STEPS[span]
        steps = await workbench.recent_usage.steps(step, count, until=now())
        slots = tuple(_time_slot(began, step) for began, _ in steps)
        return Seen("Time", slots, tuple(figures for _, figures in steps), steps[0][0])
    (whole,) = await workbench.usage.daily(UsageQuery(days=_DAYS[span]))
    slots, since = tuple(_day_slot(day) for day, _ in whole.days), whole.days[0][0]
    return Seen("Day", slots, tuple(figures for _, figures in whole.days), since)


def slot_now(span: Span) -> object:
    """What is another one once the last slot is."""
    return now().timestamp() // _STEPS[span][0].total_seconds() if span in _STEPS else now().astimezone().date()


def _time_slot(began: datetime, step: timedelta) -> Slot:
    return Slot(clock(began), f"{began.astimezone():%a} {clock(began)}", _runs(began, began + step))


def _day_slot(day: date) -> Slot:
    return Slot(f"{day.day} {day:%b}", f"{day:%a} {day.day} {day:%b}", _runs(day, day))


def _runs(first: datetime | date, last: datetime | date) -> str:
    return f"{RUNS}?from={edge_text(first)}&to={edge_text(last)}&behind=1"
