"""What a person is told when something on a page fails in a way nobody foresaw."""

import time
from math import inf

from app.domain.errors import WorkbenchError
from app.ui.elements import addresses
from app.ui.elements.notices import notify, notify_with_link

QUIET = 6.0
"""Seconds that it stands on the page, and is not said again: a timer would cover the page with it."""
_FAILED = "Something in the app itself failed. What is stored is safe; reload the page if it does not go on."


class Unforeseen:
    """What a person is told when something on a page fails in a way nobody foresaw; the log has the rest."""

    def __init__(self) -> None:
        self._words = ""
        self._said = -inf

    def tell(self, error: Exception) -> None:
        words = str(error) if isinstance(error, WorkbenchError) else _FAILED
        if words == self._words and time.monotonic() - self._said < QUIET:
            return
        self._words, self._said = words, time.monotonic()
        if isinstance(error, WorkbenchError):
            notify(words)
            return
        address = f"{addresses.SETTINGS}?section=data"
        notify_with_link(words, "Report a problem", address, testid="unforeseen", symbol="error", bad=True)
