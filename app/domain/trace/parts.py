"""The parts of a run that have spans of their own, such as the runs that it started: laid into its spans as a tree."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from app.domain.trace.waterfall import Span


@dataclass(frozen=True, slots=True)
class SpanPart:
    """Spans that belong together, and the parts below some of them."""

    key: str
    """What tells it from the other parts of its tree: of a run its id."""
    began: datetime
    spans: Sequence[Span]
    parts: Mapping[int, Sequence["SpanPart"]] = field(default_factory=dict)
    """By the entry of the span that each hangs below."""


@dataclass(frozen=True, slots=True)
class LaidSpan:
    """A span of a tree, in milliseconds since the whole began."""

    span: Span
    depth: int
    """0 for those of the whole itself that are within no node."""
    part: str
    """The key of the part that it is of."""


def laid(whole: SpanPart) -> list[LaidSpan]:
    """All spans of the tree: behind each one those of the parts below it."""
    return list(_laid(whole, whole.began, depth=0))


def _laid(part: SpanPart, began: datetime, *, depth: int) -> Iterator[LaidSpan]:
    later = (part.began - began).total_seconds() * 1000
    for span in part.spans:
        end = None if span.end_ms is None else span.end_ms + later
        yield LaidSpan(replace(span, start_ms=span.start_ms + later, end_ms=end), depth + span.depth, part.key)
        for below in part.parts.get(span.seq, ()):
            yield from _laid(below, began, depth=depth + span.depth + 1)
