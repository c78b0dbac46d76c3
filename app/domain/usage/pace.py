"""How fast a day's or a month's money goes: a straight line since it began, and no more than a projection."""

from dataclasses import dataclass
from datetime import datetime, timedelta

EARLY = 1 / 24
"""The share of the time before which no pace is told: one dear run in the first minutes says nothing of a day."""


@dataclass(frozen=True, slots=True)
class Pace:
    spent: float
    """US dollars."""
    allowed: float
    """The ceiling in US dollars, 0 for none."""
    began: datetime
    ends: datetime
    """When the next day or month begins."""
    now: datetime

    @property
    def left(self) -> float:
        """US dollars up to the ceiling."""
        return max(0.0, self.allowed - self.spent)

    @property
    def share(self) -> float:
        """What is used of the ceiling, 1 for all of it; 0 without one."""
        return self.spent / self.allowed if self.allowed else 0.0

    @property
    def by_the_end(self) -> float | None:
        """US dollars that it comes to at this pace; `None` while it is too early to tell."""
        passed = (self.now - self.began) / (self.ends - self.began)
        return self.spent / passed if passed >= EARLY else None

    @property
    def reached_at(self) -> datetime | None:
        """When the ceiling is reached at this pace; `None` where that is past the end, was already, or is not told."""
        if not self.left or not self.by_the_end or self.by_the_end < self.allowed:
            return None
        return self.began + timedelta(seconds=(self.now - self.began).total_seconds() * self.allowed / self.spent)
