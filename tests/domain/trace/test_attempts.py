from datetime import UTC, datetime, timedelta

from app.domain.agents import Parameters
from app.domain.events import Entry, Event, ModelCalled, ModelFailed, RunFinished
from app.domain.trace.attempts import FailedAttempt, follow_attempt

BEGAN = datetime(2026, 11, 21, 12, tzinfo=UTC)


def failed_attempts(*events: Event) -> list[FailedAttempt]:
    """Of a run with one event each second."""
    attempts: list[FailedAttempt] = []
    for seq, event in enumerate(events):
        follow_attempt(attempts, Entry(run_id="run", seq=seq, at=BEGAN + timedelta(seconds=seq), event=event))
    return attempts


def called(attempt: int = 1) -> ModelCalled:
    return ModelCalled(call_id=f"m{attempt}", model="m/m", parameters=Parameters(), message_count=1, attempt=attempt)


def failed(attempt: int = 1, *, again: bool = True) -> ModelFailed:
    retry_at = BEGAN + timedelta(seconds=30) if again else None
    return ModelFailed(call_id=f"m{attempt}", failure="rate_limit", text="429", attempt=attempt, retry_at=retry_at)


def test_a_call_that_failed_waits_until_it_is_tried_again() -> None:
    [attempt] = failed_attempts(called(), failed())
    assert attempt.outcome == "waits"
    assert attempt.waited is None


def test_the_attempts_of_a_call_are_told_apart() -> None:
    found = failed_attempts(called(), failed(), called(2), failed(2, again=False), RunFinished(status="failed"))
    assert [(attempt.attempt, attempt.outcome, attempt.waited) for attempt in found] == [
        (1, "tried again", 1.0),
        (2, "last", None),
    ]


def test_a_run_that_ends_while_it_waits_was_given_up() -> None:
    [attempt] = failed_attempts(called(), failed(), RunFinished(status="failed"))
    assert (attempt.outcome, attempt.waited) == ("given up", 1.0)
