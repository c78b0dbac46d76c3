"""The model calls of a run that failed, and what came of each: whether it was tried again, when, and by whose wish."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from app.domain.errors import FailureClass
from app.domain.events import Entry, ModelCalled, ModelFailed, RunFinished

AttemptOutcome = Literal["waits", "tried again", "given up", "last"]


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    seq: int
    at: datetime
    attempt: int
    """Counts from 1."""
    failure: FailureClass
    text: str
    retry_at: datetime | None
    """When it was to be tried again; `None` when it was not."""
    outcome: AttemptOutcome
    ended_at: datetime | None = None
    """When the waiting was over."""

    @property
    def waited(self) -> float | None:
        """Seconds until it was tried again or given up."""
        return None if self.ended_at is None else (self.ended_at - self.at).total_seconds()


def follow_attempt(attempts: list[FailedAttempt], entry: Entry) -> None:
    """Take the entry, the next of the run, into its failed attempts."""
    match entry.event:
        case ModelFailed() as failed:
            outcome: AttemptOutcome = "last" if failed.retry_at is None else "waits"
            attempts.append(
                FailedAttempt(
                    entry.seq, entry.at, failed.attempt, failed.failure, failed.text, failed.retry_at, outcome
                )
            )
        case ModelCalled() if attempts and attempts[-1].outcome == "waits":
            attempts[-1] = replace(attempts[-1], outcome="tried again", ended_at=entry.at)
        case RunFinished() if attempts and attempts[-1].outcome == "waits":
            attempts[-1] = replace(attempts[-1], outcome="given up", ended_at=entry.at)
        case _:
            pass
