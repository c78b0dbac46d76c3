"""The time since a run began, without the pause between a run and a fork of it."""

from bisect import bisect_right
from datetime import datetime

from app.domain.events import Entry


class RunClock:
    """A fork's own entries follow its copied prefix at once, however much later it was made."""

    def __init__(self) -> None:
        self._from: list[int] = []
        self._began: list[datetime] = []

    def begin(self, entry: Entry) -> None:
        """Count from the first entry of the run on."""
        self._from.append(entry.seq)
        self._began.append(entry.at)

    def fork(self, entry: Entry, last: datetime) -> None:
        """Count from the time of the last copied entry on, at the entry that ends the copied prefix."""
        self._from.append(entry.seq)
        self._began.append(entry.at - (last - self._began[-1]))

    def began(self, seq: int) -> datetime | None:
        """When the run began, as the times around that entry are counted; `None` before the first entry."""
        place = max(0, bisect_right(self._from, seq) - 1)
        return self._began[place] if self._began else None
