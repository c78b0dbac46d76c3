"""The charts of how runs and models did, over one stretch of time."""

from collections import Counter
from collections.abc import Callable, Iterator

from app.domain.errors import FailureClass
from app.domain.failure_words import WORDS
from app.domain.usage.figures import Figures
from app.ui.charts.chart import Chart, Kind, Series, Unit, with_others
from app.ui.elements.addresses import RUNS, edge_text
from app.ui.monitoring.spans import Seen

NAMES = ("runs", "answers", "first-tokens", "errors", "calls", "tools", "queued", "waits")
"""Of the charts, in their order."""
_QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


def figure_charts(seen: Seen) -> tuple[Chart, ...]:
    """One for each of `NAMES`."""
    return (
        _chart(seen, "runs", "Runs begun", "count", *_endings(seen)),
        _times(seen, "answers", "Time of an answer, about", Figures.answer_ms),
        _times(seen, "first-tokens", "Time to the first token, about", Figures.first_token_ms),
        _chart(seen, "errors", "Runs that failed, by error", "count", *_errors(seen)),
        _chart(
            seen,
            "calls",
            "Model calls in vain, and tried again",
            "count",
            _series(seen, "Came to no end", lambda one: sum(one.call_failures.values())),
            _series(seen, "Further attempts", lambda one: one.retries),
            lines=True,
        ),
        _chart(
            seen,
            "tools",
            "Tool calls",
            "count",
            _series(seen, "Went well", lambda one: one.tool_calls - one.tool_failures),
            _series(seen, "Failed", lambda one: one.tool_failures),
        ),
        _chart(
            seen,
            "queued",
            "Messages that waited in a queue",
            "count",
            _series(seen, "Waited", lambda one: one.queued),
        ),
        _times(seen, "waits", "Time in the queue, about", Figures.wait_ms),
    )


def _endings(seen: Seen) -> Iterator[Series]:
    yield _series(seen, "Completed", lambda one: one.endings.get("completed", 0), which="status=completed")
    yield _series(seen, "Failed", lambda one: one.failed, which="status=failed")
    yield _series(seen, "Stopped or limited", _broken_off)
    yield _series(seen, "Without an end yet", lambda one: max(0, one.runs - _over(one)))


def _errors(seen: Seen) -> tuple[Series, ...]:
    found = Counter[str]()
    for figures in seen.figures:
        found.update(figures.failures if figures else {})
    return with_others([_error(seen, name, words.title) for name, words in WORDS.items() if found[name]]) or (
        _series(seen, "No errors", lambda _: 0),
    )


def _error(seen: Seen, name: FailureClass, title: str) -> Series:
    return _series(seen, title, lambda one: one.failures.get(name, 0), which=f"error={name}")


def _times(seen: Seen, name: str, title: str, quantile: Callable[[Figures, float], float | None]) -> Chart:
    series = (
        Series(label, [None if one is None else quantile(one, share) for one in seen.figures])
        for label, share in _QUANTILES
    )
    return _chart(seen, name, title, "ms", *series, lines=True)


def _chart(seen: Seen, name: str, title: str, unit: Unit, *series: Series, lines: bool = False) -> Chart:
    kind: Kind = "lines" if lines else "bars"
    return Chart(f"monitoring-{name}", title, unit, seen.slots, series, kind, seen.axis, unfinished=True)


def _series(seen: Seen, label: str, number: Callable[[Figures], float], *, which: str = "") -> Series:
    values = [None if one is None else number(one) for one in seen.figures]
    return Series(label, values, _runs(seen, which) if which else "", which)


def _runs(seen: Seen, which: str) -> str:
    """Those of the time that is looked at."""
    return f"{RUNS}?{which}&from={edge_text(seen.since)}&behind=1"


def _broken_off(figures: Figures) -> int:
    return figures.endings.get("cancelled", 0) + figures.endings.get("limited", 0)


def _over(figures: Figures) -> int:
    return figures.endings.get("completed", 0) + figures.failed + _broken_off(figures)
