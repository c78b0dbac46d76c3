"""What stands out in a run, found by rules: no model is asked, and the same run always says the same."""

from collections.abc import Callable, Iterator, Sequence

from app.domain.events import Entry, RunStarted
from app.domain.trace.findings.explain_answers import (
    cache_lost,
    context_trimmed,
    cut_off,
    empty_answer,
    ended_by_error,
    limit_reached,
    prompt_changed,
)
from app.domain.trace.findings.explain_nodes import most_rounds, node_failed
from app.domain.trace.findings.explain_spending import costly_step, long_step, slow_retries
from app.domain.trace.findings.explain_tools import (
    alternating_calls,
    denied,
    error_ignored,
    invalid_arguments,
    repeated_call,
    slow_tool,
    unknown_tool,
)
from app.domain.trace.findings.findings import Finding, Severity, Story

Rule = Callable[[Story], Iterator[Finding]]
RULES: tuple[Rule, ...] = (
    ended_by_error,
    limit_reached,
    cut_off,
    empty_answer,
    unknown_tool,
    node_failed,
    most_rounds,
    error_ignored,
    repeated_call,
    alternating_calls,
    invalid_arguments,
    costly_step,
    slow_retries,
    prompt_changed,
    cache_lost,
    long_step,
    slow_tool,
    context_trimmed,
    denied,
)
_WORST_FIRST: tuple[Severity, ...] = ("problem", "warning", "hint")


def explain(entries: Sequence[Entry], *, before: RunStarted | None = None) -> list[Finding]:
    """What stands out, the worst first; nothing for a run in which all went well.

    `before` is the beginning of the run before it in the same session. Reads the whole trace several times: a long one
    belongs into a worker thread.
    """
    story = Story(entries, before)
    found = [finding for rule in RULES for finding in rule(story)]
    said = {finding.rule for finding in found}
    if "long_step" in said:
        found = [finding for finding in found if finding.rule != "slow_tool"]
    return sorted(found, key=lambda finding: (_WORST_FIRST.index(finding.severity), finding.seq))
