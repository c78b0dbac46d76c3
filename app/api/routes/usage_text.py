"""Figures as Prometheus reads them: https://prometheus.io/docs/instrumenting/exposition_formats/; and as a table."""

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.domain.histograms import LAST_BUCKET, upper_ms
from app.domain.usage.figures import Cell, Figures, UsageKey
from app.export.words import guarded

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "agent_playground_"
EDGES = range(0, LAST_BUCKET + 1, 5)
"""Four buckets a decade are told, of those that are kept."""
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Metric:
    """A counter: its name behind the prefix, what it is, and its values by one more label, which may be empty."""

    name: str
    help: str
    values: Callable[[Figures], Mapping[str, float]]
    label: str = ""


def _ended(figures: Figures) -> Mapping[str, float]:
    return {status: count for status, count in figures.endings.items() if status != "running"}


def _tokens(figures: Figures) -> Mapping[str, float]:
    kinds = ("input", "cached", "output", "reasoning")
    return {kind: getattr(figures, f"{kind}_tokens") for kind in kinds}


COUNTERS = (
    Metric("runs_total", "Runs that began.", lambda one: {"": one.runs}),
    Metric("runs_ended_total", "Runs that ended, by how.", _ended, "status"),
    Metric("run_failures_total", "Runs that failed, by the class of the error.", lambda one: one.failures, "class"),
    Metric("queued_messages_total", "Messages that waited for the run before them.", lambda one: {"": one.queued}),
    Metric("model_calls_total", "Model calls, further attempts included.", lambda one: {"": one.calls}),
    Metric("model_retries_total", "Further attempts at model calls.", lambda one: {"": one.retries}),
    Metric("model_failures_total", "Model calls that failed, by class.", lambda one: one.call_failures, "class"),
    Metric("tokens_total", "Tokens; cached are part of input, reasoning of output.", _tokens, "kind"),
    Metric("cost_dollars_total", "US dollars, as far as prices are known.", lambda one: {"": one.dollars}),
    Metric("unpriced_calls_total", "Model calls of which no price is known.", lambda one: {"": one.unpriced}),
    Metric("tool_calls_total", "Tool calls.", lambda one: {"": one.tool_calls}),
    Metric("tool_failures_total", "Tool calls that failed.", lambda one: {"": one.tool_failures}),
)
HISTOGRAMS = (
    ("run_seconds", "How long runs took.", "durations", ("agent",)),
    ("queue_seconds", "How long messages waited for the run before them.", "waits", ("agent",)),
    ("answer_seconds", "How long models took to the end of an answer.", "times", ("model", "provider")),
    ("first_token_seconds", "How long they took to the first token.", "first_token_times", ("model", "provider")),
    ("tool_seconds", "How long tool calls took.", "tool_times", ("tool",)),
)
"""Each with few labels, as each set of labels has all the buckets."""


def csv_text(rows: Sequence[Mapping[str, JsonValue]], by: Sequence[str]) -> str:
    """A line for each row of an answer: what it is of, and its single numbers."""
    single = [name for name, said in rows[0].items() if not isinstance(said, dict)] if rows else []
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow((*by, *single))
    for row in rows:
        of = row["of"] if isinstance(row["of"], dict) else {}
        numbers = ("" if row[name] is None else row[name] for name in single)
        writer.writerow((*(guarded(str(of[name])) for name in by), *numbers))
    return table.getvalue()


def prometheus_text(cells: Iterable[Cell], slugs: Mapping[str, str], *, live: int, waiting: int) -> str:
    """`slugs` by the id of an agent; `live` are the runs that go on, `waiting` the messages in queues.

    Ends with a line break, as it has to.
    """
    groups = _summed((_labels(key, slugs), figures) for key, figures in cells)
    lines = [*_head("live_runs", "Runs that go on now.", "gauge"), f"{PREFIX}live_runs {live}"]
    lines += [*_head("waiting_messages", "Messages in queues now.", "gauge"), f"{PREFIX}waiting_messages {waiting}"]
    for metric in COUNTERS:
        lines += [*_head(metric.name, metric.help, "counter"), *_counted(metric, groups)]
    for name, help_text, counts, kept in HISTOGRAMS:
        fewer = _summed((tuple(pair for pair in labels if pair[0] in kept), one) for labels, one in groups.items())
        lines += [*_head(name, help_text, "histogram"), *_timed(name, counts, fewer)]
    return "\n".join(lines) + "\n"


def _labels(key: UsageKey, slugs: Mapping[str, str]) -> Labels:
    named = {"agent": slugs.get(key.agent, key.agent), "purpose": key.purpose}
    of = {"tool": key.tool} if key.tool else {"model": key.model, "provider": key.provider}
    return tuple((named | of).items())


def _summed(pairs: Iterable[tuple[Labels, Figures]]) -> dict[Labels, Figures]:
    groups: defaultdict[Labels, Figures] = defaultdict(Figures)
    for labels, figures in pairs:
        groups[labels] = groups[labels] + figures
    return dict(groups)


def _head(name: str, help_text: str, kind: str) -> tuple[str, str]:
    return f"# HELP {PREFIX}{name} {help_text}", f"# TYPE {PREFIX}{name} {kind}"


def _counted(metric: Metric, groups: Mapping[Labels, Figures]) -> Iterator[str]:
    for labels, figures in groups.items():
        for said, value in metric.values(figures).items():
            if value:
                more = ((metric.label, said),) if metric.label else ()
                yield f"{PREFIX}{metric.name}{_said(labels + more)} {value}"


def _timed(name: str, counts: str, groups: Mapping[Labels, Figures]) -> Iterator[str]:
    for labels, figures in groups.items():
        buckets: Mapping[int, int] = getattr(figures, counts)
        if not buckets:
            continue
        for edge in EDGES[:-1]:
            below = sum(count for bucket, count in buckets.items() if bucket <= edge)
            yield f"{PREFIX}{name}_bucket{_said((*labels, ('le', f'{upper_ms(edge) / 1000:.6g}')))} {below}"
        number = sum(buckets.values())
        seconds = sum(upper_ms(bucket - 0.5) * count for bucket, count in buckets.items()) / 1000
        yield f"{PREFIX}{name}_bucket{_said((*labels, ('le', '+Inf')))} {number}"
        yield f"{PREFIX}{name}_sum{_said(labels)} {seconds:.6g}"
        yield f"{PREFIX}{name}_count{_said(labels)} {number}"


def _said(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
