"""Which runs a list shows, as its address says it: `/runs?status=failed&agent=writer&page=2`."""

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Self, get_args
from urllib.parse import urlencode

from app.domain.trace import RunFilter, RunStatus, SortKey
from app.domain.values import Value
from app.ui.addresses import RUNS

PAGE_SIZE = 50
STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)
SORT_KEYS: tuple[SortKey, ...] = get_args(SortKey)


class RunsQuery(Value):
    """A filter, an order and a page. What an address says wrongly is left out, never refused."""

    text: str = ""
    agent: str = ""
    model: str = ""
    status: RunStatus | None = None
    first_day: date | None = None
    """The local day from which on runs are shown."""
    last_day: date | None = None
    """The local day up to which runs are shown, itself included."""
    sort: SortKey = "started_at"
    descending: bool = True
    page: int = 1
    """Counts from 1."""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """The query of an address."""
        return cls(
            text=parameters.get("q", "")[:200],
            agent=parameters.get("agent", ""),
            model=parameters.get("model", ""),
            status=next((status for status in STATUSES if status == parameters.get("status")), None),
            first_day=day_of(parameters.get("from", "")),
            last_day=day_of(parameters.get("to", "")),
            sort=next((key for key in SORT_KEYS if key == parameters.get("sort")), "started_at"),
            descending=parameters.get("order") != "asc",
            page=_number(parameters.get("page", "")),
        )

    @property
    def address(self) -> str:
        """The address that says this; what is as usual is not mentioned."""
        said = {
            "q": self.text,
            "agent": self.agent,
            "model": self.model,
            "status": self.status or "",
            "from": self.first_day.isoformat() if self.first_day else "",
            "to": self.last_day.isoformat() if self.last_day else "",
            "sort": "" if self.sort == "started_at" else self.sort,
            "order": "" if self.descending else "asc",
            "page": "" if self.page == 1 else str(self.page),
        }
        query = urlencode({name: value for name, value in said.items() if value})
        return f"{RUNS}?{query}" if query else RUNS

    @property
    def filter(self) -> RunFilter:
        return RunFilter(
            text=self.text.strip(),
            agent=self.agent,
            model=self.model,
            status=self.status,
            since=_midnight(self.first_day),
            until=_last_moment(self.last_day),
        )

    @property
    def filtered(self) -> bool:
        """True when it leaves runs out."""
        return self.filter != RunFilter()

    @property
    def offset(self) -> int:
        return (self.page - 1) * PAGE_SIZE

    def sorted_by(self, key: SortKey) -> Self:
        """By that key, largest first; the other way round when it is already so."""
        descending = not self.descending if key == self.sort else True
        return self.model_copy(update={"sort": key, "descending": descending, "page": 1})


def day_of(text: str) -> date | None:
    """The day that `2026-11-21` names, `None` for anything else."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    # The edges of the calendar have no midnight in every time zone.
    return day if 1970 <= day.year <= 9000 else None


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time()).astimezone() if day else None


def _last_moment(day: date | None) -> datetime | None:
    return datetime.combine(day, time.max).astimezone() if day else None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) <= 6 and int(text) > 0 else 1
