"""A failed model call waits to be tried again: what went wrong, the seconds that are left, and two buttons."""

from datetime import datetime

from nicegui import ui

from app.domain.errors import FailureClass
from app.domain.failure_words import failure_words
from app.domain.values import now
from app.engine.run.live_run import LiveRun


def decide_retry(live: LiveRun, action: str) -> None:
    """Do what a card's button said; raises `Conflict` when the run waits no more."""
    if action == "give-up":
        live.give_up()
    else:
        live.retry_now()


class RetryCard(ui.element, component="retry_card.js"):
    """Its buttons do `retry-now` and `give-up`; the seconds are counted down in the browser."""

    def __init__(self, failure: FailureClass, text: str, *, attempt: int, retry_at: datetime) -> None:
        super().__init__()
        self._props["title"] = failure_words(failure).title
        self._props["text"] = text
        self._props["attempt"] = attempt
        self._props["ms"] = max(0.0, (retry_at - now()).total_seconds() * 1000)
