"""Which background runs the list shows, as its address says it: `/jobs?show=running&page=2`."""

from collections.abc import Mapping
from typing import Literal, Self, get_args
from urllib.parse import urlencode

from app.domain.values import Value
from app.ui.elements.addresses import JOBS

Shown = Literal["all", "running", "finished"]
SHOWN: tuple[Shown, ...] = get_args(Shown)
PAGE_SIZE = 25


class JobsQuery(Value):
    """A choice and a page. What an address says wrongly is left out, never refused."""

    show: Shown = "all"
    page: int = 1
    """Counts from 1."""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """The query of an address."""
        page = parameters.get("page", "")
        number = int(page) if page.isascii() and page.isdigit() and len(page) <= 6 else 1
        show: Shown = next((one for one in SHOWN if one == parameters.get("show")), "all")
        return cls(show=show, page=max(1, number))

    @property
    def address(self) -> str:
        """The address that says this; what is as usual is not mentioned."""
        said = {"show": "" if self.show == "all" else self.show, "page": "" if self.page == 1 else str(self.page)}
        query = urlencode({name: value for name, value in said.items() if value})
        return f"{JOBS}?{query}" if query else JOBS

    @property
    def live(self) -> bool | None:
        """True for runs that go on, False for those that ended, `None` for all."""
        return None if self.show == "all" else self.show == "running"

    @property
    def offset(self) -> int:
        return (self.page - 1) * PAGE_SIZE
