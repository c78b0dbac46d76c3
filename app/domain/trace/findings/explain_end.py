"""The rule about a run that failed: how far it came, and from where it can go on without being paid for again."""

from collections.abc import Iterator

from app.domain.trace.findings.findings import Finding, Story
from app.domain.trace.fork_points import fork_points
from app.domain.trace.trajectory import step_number


def ended_by_error(story: Story) -> Iterator[Finding]:
    """A failed run of which steps are whole: they need not be made again. Of another, its error says it all."""
    if story.end is None or story.end.status != "failed":
        return
    place = max(fork_points(story.entries), default=1) - 1
    kept = step_number(story.entries, place)
    if not kept:
        return
    steps = "step 1 is" if kept == 1 else f"the {kept} steps before are"
    last = next((call for call in reversed(story.calls) if call.result is not None), None)
    after = f", right after {last.name} failed" if last is not None and last.result and last.result.failed else ""
    yield Finding(
        "ended_by_error",
        "problem",
        f"The run broke off in step {kept + 1}{after}; {steps} whole.",
        "Run on from there: nothing before it is paid for again, and what came back can be edited.",
        place,
    )
