"""What a person is told when something on a page fails in a way nobody foresaw; the log has the rest."""

import time
from math import inf

from app.domain.errors import WorkbenchError
from app.ui.addresses import SETTINGS
from app.ui.components.notices import told, told_with_link

QUIET = 10.0
"""Seconds in which a page says it once: what fails again and again, as a timer does, would cover the page."""
_WORDS = "Something in the app itself failed. What is stored is safe; reload the page if it does not go on."


class Unforeseen:
    """One page's."""

    def __init__(self) -> None:
        self._said = -inf

    def tell(self, error: Exception) -> None:
        if time.monotonic() - self._said < QUIET:
            return
        self._said = time.monotonic()
        if isinstance(error, WorkbenchError):
            told(str(error))
            return
        address = f"{SETTINGS}?section=data"
        told_with_link(_WORDS, "Report a problem", address, testid="unforeseen", symbol="error", bad=True)
