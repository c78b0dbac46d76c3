"""A chart as SVG. Shapes of a series are one path; what is pointed at and focused are columns over them."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from app.ui.charts.chart import Chart, Series, axis_amount, finding, words_at
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.visible import visible

WIDTH, HEIGHT = 480, 168
"""In units of the drawing; the page shows one as a pixel or a little more, never less."""
_TOP, _RIGHT, _BOTTOM = 8, 52, 20
"""The figures of the grid stand at the right: of a narrow window the newest are seen, and the rest is scrolled to."""
_INNER, _TALL = WIDTH - _RIGHT, HEIGHT - _TOP - _BOTTOM
_MOST_MARKS = 96
"""Columns that are pointed at; what stands closer is told together."""
_LABEL = 56
"""How far apart labels stand at least."""
_PATTERNS = (
    "",
    "M0 6L6 0M-1 1L1 -1M5 7L7 5",
    "M0 3H6",
    "M1.5 1.5h2v2h-2z",
    "M3 0V6",
    "M0 0L6 6M0 6L6 0",
)
"""How each series is filled, the first one wholly."""


def drawing(chart: Chart) -> Html:
    """The SVG; every column has its figures in words and can be focused, one of them by Tab, the others by arrows."""
    top = _nice(_highest(chart))
    step = _INNER / max(1, len(chart.slots))
    shapes = _bars(chart, top, step) if chart.kind == "bars" else _lines(chart, top, step)
    return tag(
        "svg",
        tag("defs", *(_pattern(chart, number) for number in range(1, len(chart.series))), _hatch(chart)),
        *_grid(chart, top),
        *_labels(chart, step),
        *shapes,
        _unfinished(chart, step),
        *_marks(chart, step),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="group",
        aria_label=finding(chart),
        cls=f"chart-{chart.kind}",
    )


def legend(chart: Chart) -> Html:
    """What each colour and pattern is."""
    return tag("ul", *(_named(chart, number, one) for number, one in enumerate(chart.series)), cls="chart-legend")


def thinned(values: Sequence[float | None], columns: int) -> list[tuple[int, float | None]]:
    """Each place with its value, at most two for a column: its lowest and its highest, so that no spike is lost."""
    if len(values) <= 2 * columns:
        return list(enumerate(values))
    kept: list[tuple[int, float | None]] = []
    for _, group in groupby(enumerate(values), key=lambda one: one[0] * columns // len(values)):
        known = list(group)
        figures = [(place, value) for place, value in known if value is not None]
        if not figures:
            kept.append(known[0])
            continue
        kept += sorted({min(figures, key=lambda one: one[1]), max(figures, key=lambda one: one[1])})
    return kept


def _highest(chart: Chart) -> float:
    if chart.kind == "bars":
        return max((chart.stack(place) or 0 for place in range(len(chart.slots))), default=0)
    return max((value for one in chart.series for value in one.values if value is not None), default=0)


def _nice(highest: float) -> float:
    """The next of 1, 2, 4 and 6 times a power of ten: halves of them are short as well."""
    if highest <= 0:
        return 1
    power = 10.0 ** len(str(int(highest))) / 10 if highest >= 1 else 1.0
    while highest < power:
        power /= 10
    return next(power * one for one in (1, 2, 4, 6, 10) if highest <= power * one * 1.000001)


def _grid(chart: Chart, top: float) -> Iterator[Html]:
    half = () if top == 1 and chart.unit in ("count", "tokens") else (top / 2,)
    for value in (0.0, *half, top):
        y = _y(value, top)
        yield tag("path", d=f"M0 {y}H{_INNER}", cls="chart-grid")
        yield tag("text", axis_amount(value, chart.unit), x=str(_INNER + 6), y=f"{float(y) + 4:g}", aria_hidden="true")


def _labels(chart: Chart, step: float) -> Iterator[Html]:
    """From the newest back, as many as have room."""
    every = max(1, -(-_LABEL // max(1, int(step))))
    for place in range(len(chart.slots) - 1, -1, -every):
        middle = (place + 0.5) * step
        anchor = "end" if middle > _INNER - 24 else "start" if middle < 24 else "middle"
        x = {"end": _INNER, "start": 0}.get(anchor, middle)
        label = visible(chart.slots[place].label)
        yield tag("text", label, x=f"{x:.0f}", y=str(HEIGHT - 4), text_anchor=anchor, aria_hidden="true")


def _bars(chart: Chart, top: float, step: float) -> Iterator[Html]:
    width = max(1.0, min(step * 0.8, 40))
    floors = [0.0] * len(chart.slots)
    for number, one in enumerate(chart.series):
        pieces = []
        for place, value in enumerate(one.values):
            if value:
                x, low = (place + 0.5) * step - width / 2, float(_y(floors[place], top))
                floors[place] += value
                high = float(_y(floors[place], top))
                pieces.append(f"M{x:.1f} {low:g}V{min(high, low - 1):g}h{width:.1f}V{low:g}z")
        yield tag("path", d="".join(pieces), cls=f"chart-{number}", fill=_fill(chart, number))


def _lines(chart: Chart, top: float, step: float) -> Iterator[Html]:
    for number, one in enumerate(chart.series):
        pieces, dots = "", []
        drawn = thinned(one.values, _INNER)
        for known, group in groupby(drawn, key=lambda figure: figure[1] is not None):
            points = [f"{(place + 0.5) * step:.1f} {_y(value or 0, top)}" for place, value in group] if known else []
            if len(points) == 1:
                x, y = points[0].split()
                dots.append(tag("circle", cx=x, cy=y, r="3", cls=f"chart-{number}"))
            elif points:
                pieces += f"M{'L'.join(points)}"
        yield joined(tag("path", d=pieces, cls=f"chart-{number}", fill="none"), *dots)


def _unfinished(chart: Chart, step: float) -> Html:
    if not (chart.unfinished and chart.slots):
        return Html("")
    x, fill = (len(chart.slots) - 1) * step, f"url(#{chart.name}-hatch)"
    return tag("rect", x=f"{x:.1f}", y=str(_TOP), width=f"{step:.1f}", height=str(_TALL), fill=fill, cls="chart-so-far")


def _marks(chart: Chart, step: float) -> Iterator[Html]:
    together = -(-len(chart.slots) // _MOST_MARKS) or 1
    for first in range(0, len(chart.slots), together):
        last = min(first + together, len(chart.slots)) - 1
        words = words_at(chart, first, last)
        width = step * (last - first + 1)
        column = tag("path", d=f"M{first * step:.1f} {_TOP}h{width:.1f}v{_TALL}h-{width:.1f}z")
        said = {"data_key": f"{chart.name}-{first}", "cls": "chart-mark"}
        stop = "0" if last == len(chart.slots) - 1 else "-1"
        if together == 1 and (href := chart.slots[first].href):
            yield tag("a", tag("title", words), column, tabindex=stop, href=href, **said)
        else:
            yield tag("g", tag("title", words), column, tabindex=stop, role="img", **said)


def _named(chart: Chart, number: int, one: Series) -> Html:
    shape = (
        tag("rect", x="1", y="1", width="16", height="10", cls=f"chart-{number}", fill=_fill(chart, number))
        if chart.kind == "bars"
        else tag("path", d="M0 6H18", cls=f"chart-{number}", fill="none")
    )
    swatch = tag("svg", shape, viewBox="0 0 18 12", aria_hidden="true", cls=f"chart-{chart.kind}")
    label = visible(one.label)
    return tag("li", swatch, tag("a", label, href=one.href) if one.href else tag("span", label))


def _fill(chart: Chart, number: int) -> str | None:
    return f"url(#{chart.name}-{number})" if number else None


def _pattern(chart: Chart, number: int) -> Html:
    lines = tag("path", d=_PATTERNS[number])
    said = {"id": f"{chart.name}-{number}", "patternUnits": "userSpaceOnUse", "cls": f"chart-pattern chart-{number}"}
    return tag("pattern", tag("rect", width="6", height="6"), lines, width="6", height="6", **said)


def _hatch(chart: Chart) -> Html:
    if not chart.unfinished:
        return Html("")
    said = {"id": f"{chart.name}-hatch", "patternUnits": "userSpaceOnUse"}
    return tag("pattern", tag("path", d="M0 5L5 0"), width="5", height="5", **said)


def _y(value: float, top: float) -> str:
    return f"{_TOP + _TALL * (1 - min(value, top) / top):.1f}"
