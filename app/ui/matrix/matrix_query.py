"""What of a matrix is shown, as its address says it: `/matrix/abc?show=regression&tag=vip&pin=3,17`."""

from collections.abc import Mapping
from typing import Self

from app.domain.evals.matrix import FLAGS, Flag, MatrixFilter
from app.domain.values import Value
from app.ui.elements.addresses import matrix_address
from app.ui.elements.pager import address_with, counted

PAGE_SIZE = 50
MOST_PINS = 50


class MatrixQuery(Value):
    """What an address says wrongly is left out, never refused."""

    flag: Flag | None = None
    tag: str = ""
    scorer: str = ""
    text: str = ""
    all_rows: bool = False
    """Whether cases in which nothing differs are shown too."""
    pins: tuple[int, ...] = ()
    """The numbers of cases that are shown first, and always."""
    column: int = 1
    """Counts from 0: the one that a narrow window shows."""
    page: int = 1

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """The query of an address."""
        pins = (counted(one) for one in parameters.get("pin", "").split(",")[:MOST_PINS])
        return cls(
            flag=next((flag for flag in FLAGS if flag == parameters.get("show")), None),
            tag=parameters.get("tag", ""),
            scorer=parameters.get("scorer", ""),
            text=parameters.get("q", "")[:200],
            all_rows=parameters.get("all") == "1",
            pins=tuple(dict.fromkeys(pin for pin in pins if pin is not None)),
            column=(counted(parameters.get("column", "")) or 2) - 1,
            page=counted(parameters.get("page", "")) or 1,
        )

    def address(self, experiment_id: str) -> str:
        """The address that says this; what is as usual is not mentioned."""
        said = {
            "show": self.flag or "",
            "tag": self.tag,
            "scorer": self.scorer,
            "q": self.text,
            "all": "1" if self.all_rows else "",
            "pin": ",".join(map(str, self.pins)),
            "column": "" if self.column == 1 else str(self.column + 1),
            "page": "" if self.page == 1 else str(self.page),
        }
        return address_with(matrix_address(experiment_id), said)

    def filter(self, *, columns: int) -> MatrixFilter:
        """With one column nothing differs, so all is shown."""
        return MatrixFilter(
            flag=self.flag,
            tag=self.tag,
            text=self.text,
            only_different=columns > 1 and not self.all_rows,
            pinned=frozenset(self.pins),
        )

    def pinned(self, number: int) -> Self:
        """With that case pinned, or no longer."""
        pins = tuple(pin for pin in self.pins if pin != number)
        return self.model_copy(update={"pins": pins if len(pins) < len(self.pins) else (*pins, number)})

    @property
    def offset(self) -> int:
        return (self.page - 1) * PAGE_SIZE
