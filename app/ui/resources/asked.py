"""What the page is asked for, as its address says it, and where its numbers lead."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Literal, Self
from urllib.parse import urlencode

from app.domain.provenance import BACKGROUND_TITLES, PURPOSE_TITLES, variant_words
from app.domain.usage.query import Grouping, UsageQuery
from app.domain.values import Value
from app.ui.elements.addresses import RESOURCES, RUNS
from app.ui.elements.pager import address_with

By = Literal["model", "agent", "variant", "provider", "tool", "purpose", "background"]
Over = Literal["week", "month", "quarter", "this", "last"]
Of = Literal["money", "tokens"]
GROUPS: dict[By, tuple[Grouping, ...]] = {
    "model": ("model",),
    "agent": ("agent",),
    "variant": ("agent", "variant"),
    "provider": ("provider",),
    "tool": ("tool",),
    "purpose": ("purpose",),
    "background": ("background",),
}
OVER: dict[Over, str] = {
    "week": "7 days",
    "month": "30 days",
    "quarter": "90 days",
    "this": "This month",
    "last": "Last month",
}
OF: dict[Of, str] = {"money": "Money", "tokens": "Tokens"}
_DAYS: dict[Over, int] = {"week": 7, "month": 30, "quarter": 90}
Names = Mapping[str, tuple[str, str]]
"""By the id of each agent there is or was: its name and its slug."""
Span = tuple[date, date]


class ResourcesQuery(Value):
    """What an address says wrongly is left out, never refused."""

    by: By = "model"
    over: Over = "month"
    of: Of = "money"
    at: str = ""
    """The model at whose price the same tokens are told as well."""

    @classmethod
    def of_address(cls, parameters: Mapping[str, str]) -> Self:
        return cls(
            by=next((one for one in GROUPS if one == parameters.get("by")), "model"),
            over=next((one for one in OVER if one == parameters.get("over")), "month"),
            of=next((one for one in OF if one == parameters.get("of")), "money"),
            at=parameters.get("at", "")[:200],
        )

    @property
    def address(self) -> str:
        usual = type(self)()
        said = {name: getattr(self, name) for name in type(self).model_fields}
        return address_with(RESOURCES, {name: one for name, one in said.items() if one != getattr(usual, name)})

    def span(self, today: date) -> Span:
        """The first and the last day, both included."""
        if self.over == "this":
            return today.replace(day=1), today
        if self.over == "last":
            last = today.replace(day=1) - timedelta(days=1)
            return last.replace(day=1), last
        return today - timedelta(days=_DAYS[self.over] - 1), today

    def usage(self, span: Span) -> UsageQuery:
        return UsageQuery(by=GROUPS[self.by], since=span[0], until=span[1])

    def download(self, span: Span, form: Literal["csv", "json"], *, at: str) -> str:
        """What the API says of the same days, told apart the same way."""
        said = {"by": ",".join(GROUPS[self.by]), "since": str(span[0]), "until": str(span[1]), "at": at, "format": form}
        return f"/api/v1/usage?{urlencode({name: one for name, one in said.items() if one})}"


def runs_of(span: Span, **said: str) -> str:
    """The runs of these days, those that nobody talked to included: they cost as well."""
    days = {"from": span[0].isoformat(), "to": span[1].isoformat()}
    return address_with(RUNS, {**said, **days, "behind": "1", "sort": "cost"})


def named(by: By, group: tuple[str, ...], names: Names) -> tuple[str, dict[str, str]]:
    """What the group is called, and what an address of Runs says of it; nothing, where it is of no name."""
    first = group[0]
    if by in ("agent", "variant"):
        name, slug = names.get(first, (first, first))
        if by == "agent":
            return name or "No agent", {"agent": slug}
        return f"{name}, {variant_words(int(group[1]))}", {"agent": slug, "variant": group[1]}
    if by == "purpose":
        return next((title for one, title in PURPOSE_TITLES.items() if one == first), first), {"purpose": first}
    if by == "background":
        return BACKGROUND_TITLES[first == "true"], {"background": first}
    none = "No model of its own" if by in ("model", "provider") else "Not said"
    return first or none, {by: first} if first else {}
