"""When a failed model call is tried again, and after how long."""

from dataclasses import dataclass
from random import uniform

from app.domain.errors import FailureClass, ModelFailure


@dataclass(frozen=True)
class RetryRule:
    retries: int
    first_wait: float
    """Seconds before the first retry; each further one waits twice as long."""


RULES: dict[FailureClass, RetryRule] = {
    "rate_limit": RetryRule(retries=3, first_wait=30),
    "timeout": RetryRule(retries=2, first_wait=1),
    "network": RetryRule(retries=2, first_wait=1),
    "provider_error": RetryRule(retries=2, first_wait=1),
}
OVERLOADED = frozenset({503, 529})
LONGEST_WAIT = 180.0
JITTER = 0.1


def retry_wait(failure: ModelFailure, *, attempt: int, text_shown: bool, most_retries: int) -> float | None:
    """Seconds to wait before the next attempt, `None` when there is none.

    `attempt` counts from 1. Nothing is tried again after text was shown. What the provider asked for (Retry-After)
    goes before our own wait; a wait longer than three minutes is not waited for.
    """
    rule = _rule(failure)
    if rule is None or text_shown or most_retries == 0:
        return None
    allowed = rule.retries if failure.failure == "rate_limit" else min(rule.retries, most_retries)
    if attempt > allowed:
        return None
    wait = failure.retry_after
    if wait is None:
        wait = rule.first_wait * 2 ** (attempt - 1) * uniform(1, 1 + JITTER)  # noqa: S311  spreads retries, hides nothing
    return wait if wait <= LONGEST_WAIT else None


def _rule(failure: ModelFailure) -> RetryRule | None:
    if failure.failure == "model_unavailable" and failure.status in OVERLOADED:
        return RULES["provider_error"]
    return RULES.get(failure.failure)
