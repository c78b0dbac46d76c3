"""What a chart shows, and the same in words: what it finds, what stands at each place, and its table."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.domain.values import size
from app.export.words import guarded
from app.ui.elements.format import count, dollars, duration, head, percent
from app.ui.elements.visible import visible

Unit = Literal["count", "tokens", "ms", "dollars", "bytes", "share"]
Kind = Literal["bars", "lines"]
MOST_SERIES = 6
"""Colours with patterns that one tells apart."""


@dataclass(frozen=True)
class Slot:
    """One place along the bottom: a day, an hour, a bucket."""

    label: str
    """Short, for the axis: `18 Nov`."""
    words: str = ""
    """In full; the label where empty."""
    href: str = ""
    """What a click on it opens."""

    @property
    def said(self) -> str:
        return self.words or self.label


@dataclass(frozen=True)
class Series:
    label: str
    values: Sequence[float | None]
    """One for each slot; `None` where nothing is known, which is not 0: the days before the first run."""
    href: str = ""
    """What a click on its name opens."""
    which: str = ""
    """What an address says behind that of a slot so that it opens what the figure there counts: `status=failed`."""


@dataclass(frozen=True)
class Chart:
    name: str
    """In ids, `data-chart` and the name of its file: letters, digits and `-`."""
    title: str
    unit: Unit
    slots: Sequence[Slot]
    series: Sequence[Series]
    """At most `MOST_SERIES`; `with_others` sees to it."""
    kind: Kind = "bars"
    """Bars stand on one another; lines do not."""
    axis: str = "Day"
    """What a slot is."""
    unfinished: bool = False
    """Whether the last slot is still going on."""
    finding: str = ""
    """What it says in one sentence; made from the figures where empty."""

    @property
    def known(self) -> bool:
        """Whether there is any figure."""
        return any(value is not None for one in self.series for value in one.values)

    def stack(self, place: int) -> float | None:
        """The sum of all series there, `None` where none is known."""
        known = [value for one in self.series if (value := one.values[place]) is not None]
        return sum(known) if known else None


def amount(value: float | None, unit: Unit) -> str:
    """The figure as a person reads it, as exact as it is of use; an en dash where it is not known."""
    if value is None:
        return "–"
    match unit:
        case "count" | "tokens":
            return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
        case "ms":
            return duration(value) if value else "0 ms"
        case "dollars":
            return dollars(value)
        case "bytes":
            return size(round(value))
        case "share":
            return percent(value)


def axis_amount(value: float, unit: Unit) -> str:
    """The figure as short as it stands beside a line of the grid."""
    match unit:
        case "count" | "tokens":
            return count(round(value)) if value >= 1 or not value else f"{value:g}"
        case "ms":
            return f"{value:g} ms" if value < 1000 else f"{value / 1000:g} s"
        case "dollars":
            return f"${value:,g}"
        case "bytes":
            return size(round(value)).replace(".0 ", " ")
        case "share":
            return amount(value, unit)


def finding(chart: Chart) -> str:
    """`Cost: $3.10 in all, most on 18 Nov ($1.20)`, or of lines where each stands and how high it went."""
    if chart.finding:
        return visible(chart.finding)
    if not chart.known:
        return f"{chart.title}: no figures yet"
    places = range(len(chart.slots))
    if chart.kind == "bars":
        sums = [(value, place) for place in places if (value := chart.stack(place)) is not None]
        top, at = max(sums, key=lambda one: one[0])
        whole = f"{chart.title}: {amount(sum(value for value, _ in sums), chart.unit)} in all"
        return visible(f"{whole}, most {chart.slots[at].said} ({amount(top, chart.unit)})" if top else whole)
    return visible(f"{chart.title}: " + "; ".join(_line_finding(chart, one) for one in chart.series))


def _line_finding(chart: Chart, one: Series) -> str:
    known = [(value, place) for place, value in enumerate(one.values) if value is not None]
    if not known:
        return f"{one.label} not known"
    top, at = max(known, key=lambda figure: figure[0])
    last = f"{one.label} {amount(known[-1][0], chart.unit)}"
    return last if top == known[-1][0] else f"{last}, highest {amount(top, chart.unit)} ({chart.slots[at].said})"


def words_at(chart: Chart, first: int, last: int) -> str:
    """What stands in the slots from first to last, exactly: `18 Nov: demo 3, gpt 12`."""
    so_far = " (so far)" if chart.unfinished and last == len(chart.slots) - 1 else ""
    where = chart.slots[first].said if first == last else f"{chart.slots[first].said} to {chart.slots[last].said}"
    figures = []
    for one in chart.series:
        known = [value for value in one.values[first : last + 1] if value is not None]
        low, high = (amount(min(known), chart.unit), amount(max(known), chart.unit)) if known else ("–", "–")
        figures.append(f"{head(one.label, 40)} {low if low == high else f'{low} to {high}'}")
    whole = chart.stack(first) if chart.kind == "bars" and len(chart.series) > 1 and first == last else None
    together = f", together {amount(whole, chart.unit)}" if whole is not None else ""
    return visible(f"{where}{so_far}: {', '.join(figures)}{together}")


def csv_text(chart: Chart) -> str:
    """The same table for other programs; figures bare, nothing where they are not known."""
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(guarded(cell) for cell in (chart.axis, *(one.label for one in chart.series)))
    for place, slot in enumerate(chart.slots):
        figures = (one.values[place] for one in chart.series)
        writer.writerow((guarded(slot.said), *("" if value is None else f"{value:.12g}" for value in figures)))
    return table.getvalue()


def with_others(series: Sequence[Series], *, most: int = MOST_SERIES) -> tuple[Series, ...]:
    """The largest by their sums, and what the rest come to as `others`."""
    ranked = sorted(series, key=lambda one: -sum(value or 0 for value in one.values))
    if len(ranked) <= most:
        return tuple(ranked)
    rest = [
        None if all(value is None for value in values) else sum(value or 0 for value in values)
        for values in zip(*(one.values for one in ranked[most - 1 :]), strict=True)
    ]
    return (*ranked[: most - 1], Series(f"{len(ranked) - most + 1} others", rest))
