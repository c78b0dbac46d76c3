"""Which runs a list shows, as its address says it: `/runs?status=failed&agent=writer&page=2`."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from math import isfinite
from typing import Self, get_args

from app.domain.errors import FailureClass
from app.domain.evals.scores import LONGEST_LABEL, Rating
from app.domain.provenance import PURPOSE_TITLES, WORKING_COPY
from app.domain.trace import RunFilter, RunKind, RunStatus, SortKey
from app.domain.usage.days import midnight
from app.ui.elements.addresses import RUNS, edge_text
from app.ui.elements.pager import address_with, counted

PAGE_SIZE = 50
FAILURES: tuple[FailureClass, ...] = get_args(FailureClass)
RATINGS: tuple[Rating, ...] = get_args(Rating)
MARKS: dict[str, str] = {"good": "Rated good", "bad": "Rated bad", "noted": "With a note", "voted": "Voted for"}
"""What people say of runs, and runs are chosen by: a rating, or one of the fields of a `RunKind`."""
STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)
SORT_KEYS: tuple[SortKey, ...] = get_args(SortKey)
TYPED = frozenset({"text", "min_cost", "max_cost", "min_seconds", "max_seconds", "first_day", "last_day"})
"""What is typed, and so comes in pieces."""


class RunsQuery(RunKind):
    """A filter, an order and a page. What an address says wrongly is left out, never refused."""

    min_seconds: float | None = None
    max_seconds: float | None = None
    first_day: datetime | date | None = None
    """The local day, or the moment, from which on runs are shown."""
    last_day: datetime | date | None = None
    """The local day up to which runs are shown, itself included; or the moment before which they began."""
    behind: bool = False
    """Whether also runs of experiments, judges and tries are shown."""
    background: bool | None = None
    """True for jobs only, False for all others."""
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
            variant=_variant(parameters.get("variant", "")) if parameters.get("agent") else None,
            model=parameters.get("model", ""),
            provider=parameters.get("provider", "")[:200],
            tool=parameters.get("tool", "")[:200],
            purpose=next((one for one in PURPOSE_TITLES if one == parameters.get("purpose")), None),
            unpriced=parameters.get("unpriced") == "1",
            status=next((status for status in STATUSES if status == parameters.get("status")), None),
            failure=next((failure for failure in FAILURES if failure == parameters.get("error")), None),
            rating=next((rating for rating in RATINGS if rating == parameters.get("rating")), None),
            tag=parameters.get("tag", "")[:LONGEST_LABEL],
            noted=parameters.get("noted") == "1",
            voted=parameters.get("voted") == "1",
            min_cost=amount_of(parameters.get("min_cost", "")),
            max_cost=amount_of(parameters.get("max_cost", "")),
            min_seconds=amount_of(parameters.get("min_seconds", "")),
            max_seconds=amount_of(parameters.get("max_seconds", "")),
            first_day=edge_of(parameters.get("from", "")),
            last_day=edge_of(parameters.get("to", "")),
            behind=parameters.get("behind") == "1",
            background={"true": True, "false": False}.get(parameters.get("background", "")),
            sort=next((key for key in SORT_KEYS if key == parameters.get("sort")), "started_at"),
            descending=parameters.get("order") != "asc",
            page=counted(parameters.get("page", "")) or 1,
        )

    @property
    def address(self) -> str:
        """The address that says this; what is as usual is not mentioned."""
        said = {
            "q": self.text,
            "agent": self.agent,
            "variant": "" if self.variant is None else str(self.variant),
            "model": self.model,
            "provider": self.provider,
            "tool": self.tool,
            "purpose": self.purpose or "",
            "unpriced": "1" if self.unpriced else "",
            "status": self.status or "",
            "error": self.failure or "",
            "rating": self.rating or "",
            "tag": self.tag,
            "noted": "1" if self.noted else "",
            "voted": "1" if self.voted else "",
            "min_cost": amount_text(self.min_cost),
            "max_cost": amount_text(self.max_cost),
            "min_seconds": amount_text(self.min_seconds),
            "max_seconds": amount_text(self.max_seconds),
            "from": edge_text(self.first_day) if self.first_day else "",
            "to": edge_text(self.last_day) if self.last_day else "",
            "behind": "1" if self.behind else "",
            "background": "" if self.background is None else str(self.background).lower(),
            "sort": "" if self.sort == "started_at" else self.sort,
            "order": "" if self.descending else "asc",
            "page": "" if self.page == 1 else str(self.page),
        }
        return address_with(RUNS, said)

    @property
    def filter(self) -> RunFilter:
        said = {name: getattr(self, name) for name in RunKind.model_fields}
        if not self.agent:
            said["variant"] = None  # it is one of an agent's
        return RunFilter(
            **{**said, "text": self.text.strip()},
            behind=self.behind,
            background=self.background,
            min_ms=_milliseconds(self.min_seconds),
            max_ms=_milliseconds(self.max_seconds),
            since=_begins(self.first_day),
            until=_ends(self.last_day),
        )

    @property
    def filtered(self) -> bool:
        """True when it leaves runs out."""
        return self.filter != RunFilter()

    @property
    def offset(self) -> int:
        return (self.page - 1) * PAGE_SIZE

    @property
    def unfiltered(self) -> Self:
        """All runs, in the same order."""
        return type(self)(sort=self.sort, descending=self.descending)

    def changed(self, before: Self) -> frozenset[str]:
        """The fields that say something else than before; the page is one only where nothing else is."""
        fields = frozenset(name for name in type(self).model_fields if getattr(self, name) != getattr(before, name))
        return fields - {"page"} or fields

    def sorted_by(self, key: SortKey) -> Self:
        """By that key, largest first; the other way round when it is already so."""
        descending = not self.descending if key == self.sort else True
        return self.model_copy(update={"sort": key, "descending": descending, "page": 1})


def _variant(text: str) -> int | None:
    return WORKING_COPY if text == str(WORKING_COPY) else counted(text)


def _begins(edge: datetime | date | None) -> datetime | None:
    return edge if edge is None or isinstance(edge, datetime) else midnight(edge)


def _ends(edge: datetime | date | None) -> datetime | None:
    """The last moment of which runs are shown."""
    if edge is None:
        return None
    return (edge if isinstance(edge, datetime) else midnight(edge + timedelta(days=1))) - timedelta(microseconds=1)


def edge_of(text: str) -> datetime | date | None:
    """The day that `2026-11-21` names, or the moment that `2026-11-21T09:30Z` does; `None` for anything else."""
    if "T" not in text:
        return day_of(text)
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if day_of(moment.date().isoformat()) else None


def day_of(text: str) -> date | None:
    """The day that `2026-11-21` names, `None` for anything else."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    # The edges of the calendar have no midnight in every time zone.
    return day if 1970 <= day.year <= 9000 else None


def amount_of(text: str) -> float | None:
    """The amount that `0.25` names, `None` for anything that is none, and for less than nothing."""
    try:
        amount = float(text)
    except ValueError:
        return None
    return amount if isfinite(amount) and 0 <= amount <= 1e9 else None


def amount_text(amount: float | None) -> str:
    """The amount as it is written, without an exponent; empty for none."""
    return "" if amount is None else f"{amount:.6f}".rstrip("0").rstrip(".")


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000
