"""What the addresses of the pages of evals say. What one says wrongly is left out, never refused."""

from collections.abc import Mapping
from typing import Literal, Self, TypeVar, get_args

from app.domain.values import Value
from app.ui.elements.addresses import EVALS, dataset_address
from app.ui.elements.pager import address_with, counted

Listed = Literal["datasets", "experiments"]
Part = Literal["cases", "scorers", "experiments"]
Name = TypeVar("Name", bound=str)


class EvalsQuery(Value):
    show: Listed = "datasets"
    text: str = ""
    page: int = 1
    """Counts from 1."""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """The query of an address."""
        return cls(show=_one_of(get_args(Listed), parameters), text=_text(parameters), page=_page(parameters))

    @property
    def address(self) -> str:
        """The address that says this; what is as usual is not mentioned."""
        show = "" if self.show == "datasets" else self.show
        return address_with(EVALS, {"show": show, "q": self.text, "page": _said_page(self.page)})


class DatasetQuery(Value):
    slug: str
    show: Part = "cases"
    text: str = ""
    tag: str = ""
    page: int = 1

    @classmethod
    def of(cls, slug: str, parameters: Mapping[str, str]) -> Self:
        """The query of an address."""
        show = _one_of(get_args(Part), parameters)
        return cls(slug=slug, show=show, text=_text(parameters), tag=parameters.get("tag", ""), page=_page(parameters))

    @property
    def address(self) -> str:
        """The address that says this; what is as usual is not mentioned."""
        said = {"show": "" if self.show == "cases" else self.show, "q": self.text, "tag": self.tag}
        return address_with(dataset_address(self.slug), {**said, "page": _said_page(self.page)})


def _one_of(names: tuple[Name, ...], parameters: Mapping[str, str]) -> Name:
    return next((one for one in names if one == parameters.get("show")), names[0])


def _text(parameters: Mapping[str, str]) -> str:
    return parameters.get("q", "")[:200]


def _page(parameters: Mapping[str, str]) -> int:
    return counted(parameters.get("page", "")) or 1


def _said_page(page: int) -> str:
    return "" if page == 1 else str(page)
