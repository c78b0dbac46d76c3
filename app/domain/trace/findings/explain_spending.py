"""Rules about where a run's money and time went."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from app.domain.trace.findings.findings import Finding, Story
from app.domain.trace.waterfall import Span

MOST = 0.8
"""The share of the whole above which one step stands out."""
FEWEST_STEPS = 3
"""Steps below which one of them cannot help taking most."""
SMALL_COST = 0.01
"""US dollars below which it does not matter which step cost them."""
SMALL_MS = 10_000
"""Milliseconds below which it does not matter which step took them."""
RETRY_MS = 5_000
RETRY_SHARE = 0.3


def costly_step(story: Story) -> Iterator[Finding]:
    """One model call that cost most of what the run cost."""
    costs = [(returned.cost or 0.0, entry.seq, returned) for entry, returned in story.returned]
    whole = sum(cost for cost, _, _ in costs)
    if len(costs) < FEWEST_STEPS or whole < SMALL_COST:
        return
    cost, seq, returned = max(costs, key=lambda one: one[0])
    if cost >= MOST * whole:
        yield Finding(
            "costly_step",
            "warning",
            f"One of {len(costs)} model calls cost ${cost:.2f} of ${whole:.2f}, {cost / whole:.0%}: "
            f"{returned.usage.input_tokens:,} tokens in, {returned.usage.output_tokens:,} out.",
            "Look at what it was sent: a large result of the tool before it, or a long history.",
            seq,
        )


def long_step(story: Story) -> Iterator[Finding]:
    """One step that took most of the time; waits for people and retries are told elsewhere."""
    spans = [span for span in _undivided(story.spans) if span.end_ms is not None]
    if len(spans) < FEWEST_STEPS or story.busy_ms < SMALL_MS:
        return
    longest = max(spans, key=lambda span: (span.end_ms or 0.0) - span.start_ms)
    took = (longest.end_ms or 0.0) - longest.start_ms
    if took >= MOST * story.busy_ms:
        calls = f"One call of {'the model' if longest.kind == 'model' else longest.name}"
        what = f"“{longest.name}”" if longest.kind == "node" else calls
        yield Finding(
            "long_step",
            "hint",
            f"{what} took {took / 1000:.1f} s of {story.busy_ms / 1000:.1f} s, {took / story.busy_ms:.0%} of the time.",
            "Look at what it was asked for; the Waterfall shows it beside the other steps.",
            longest.seq,
        )


def _undivided(spans: Sequence[Span]) -> Iterator[Span]:
    """Calls, and nodes of a workflow that hold none and no other nodes."""
    for span, after in zip_longest(spans, spans[1:]):
        if span.kind in ("model", "tool") or (span.kind == "node" and not (after and after.depth > span.depth)):
            yield span


def slow_retries(story: Story) -> Iterator[Finding]:
    """Waits before failed model calls were made again, that took much of the time."""
    waits = [span for span in story.spans if span.kind == "retry" and span.end_ms is not None]
    waited = sum((span.end_ms or 0.0) - span.start_ms for span in waits)
    if waited < RETRY_MS or waited < RETRY_SHARE * story.busy_ms:
        return
    yield Finding(
        "slow_retries",
        "warning",
        f"{waited / 1000:.0f} s of {story.busy_ms / 1000:.0f} s went by waiting to try the model again "
        f"({len(waits)} {'retry' if len(waits) == 1 else 'retries'}).",
        "Pick another model, run fewer agents at once, or lower the number of retries.",
        waits[0].seq,
    )
