"""What was read out of a file of another program, and a count of all that was not taken of it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue, ValidationError
from pydantic_core import from_json

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.evals.cases import MOST_CASES, CaseContent
from app.domain.evals.scorers import Check, Checks, Judge, Scorer
from app.domain.events import Entry
from app.domain.unpacked import values_in
from app.export.limits import LARGEST_DATASET
from app.export.words import json_bytes, one_line

MOST_VALUES = 2_000_000
MOST_DEEP = 60
MOST_CHECKS = 100
"""Of one case."""
MOST_TOLD = 200
"""Kinds of things that are named; more are counted."""

Fields = dict[str, JsonValue]


class ReceivedCase(NamedTuple):
    content: CaseContent
    record: tuple[Entry, ...] = ()
    """Recorded calls of tools."""


class Left:
    """What was not taken, each kind with how often it was met."""

    def __init__(self) -> None:
        self._found: Counter[str] = Counter()

    def out(self, what: str, times: int = 1) -> None:
        self._found[one_line(what, 160)] += times

    @contextmanager
    def reading(self, told: JsonValue, place: str, *, what: str) -> Iterator[Fields]:
        """The object at that place, out of which is popped what is taken: the rest is left out of each such `what`."""
        fields = dict(table(told, place))
        yield fields
        for name, value in fields.items():
            if value not in (None, "", [], {}):
                self.out(f"the field “{one_line(name, 60)}” of {what}")

    def sentences(self) -> tuple[str, ...]:
        """`Not taken: 3 × assertions of the type javascript, as code in a file is never run.`"""
        found = [f"Not taken: {count:,} × {what}." for what, count in self._found.most_common(MOST_TOLD)]
        if more := len(self._found) - len(found):
            found.append(f"Not taken: {more:,} more kinds of things.")
        return tuple(found)


@dataclass
class Received:
    cases: list[ReceivedCase] = field(default_factory=list)
    scorers: tuple[Scorer, ...] = ()
    primary: str = ""
    notes: tuple[str, ...] = ()
    """A sentence for each kind of thing that was not taken, and for what one has to know."""
    artifacts: dict[str, bytes] = field(default_factory=dict)
    """By sha256: the contents that the cases name."""
    name: str = ""
    """What the dataset is called there; only our own format says it."""
    description: str = ""


class Draft:
    """A dataset as it is read; refuses what is more than one dataset holds."""

    def __init__(self, judge: str) -> None:
        """`judge`: the model that answers questions about answers; empty where none was chosen."""
        self.left = Left()
        self.judge = judge
        self.cases: list[ReceivedCase] = []
        self._expected = self._size = 0
        self._scorers: dict[str, Scorer] = {}
        self._notes: dict[str, None] = {}

    def add(self, place: str, fields: dict[str, object], record: Sequence[Entry] = ()) -> None:
        """One more case, of these fields."""
        self.expect(place, 1 if len(self.cases) >= self._expected else 0)
        try:
            content = CaseContent.model_validate(fields)
        except ValidationError as error:
            raise unfit(place, error) from error
        if not content.input.strip() and not content.attachments:
            self.left.out("cases without a message")
            return
        if (size := self._size + len(content.model_dump_json())) > LARGEST_DATASET:
            raise TooLarge(f"{place}: the cases come to more than {LARGEST_DATASET // 1024**2} MiB. Split the file.")
        self._size = size
        self.cases.append(ReceivedCase(content, tuple(record)))

    def expect(self, place: str, cases: int) -> None:
        """Raises `TooLarge` where there are more than one dataset holds, before they are made."""
        self._expected += cases
        if self._expected > MOST_CASES:
            raise TooLarge(f"{place}: a dataset has at most {MOST_CASES:,} cases. Split the file.")

    def score_by(self, scorer: Scorer) -> None:
        """What the dataset is scored by; one of each name."""
        self._scorers.setdefault(scorer.name, scorer)

    def ask_judge(self, criterion: str) -> bool:
        """Have a model say whether answers do that; whether there is one to ask."""
        if self.judge:
            self.score_by(Judge(model=self.judge, criteria=(criterion,)))
            self.note(f"The scorer “judge” asks {self.judge}, which may cost money: see its criteria before you start.")
        return bool(self.judge)

    def note(self, sentence: str) -> None:
        self._notes[sentence] = None

    def received(self) -> Received:
        if any(case.content.checks for case in self.cases):
            self.score_by(Checks())
        return Received(self.cases, tuple(self._scorers.values()), notes=(*self._notes, *self.left.sentences()))


def checks_of(found: Sequence[Check]) -> tuple[Check, ...]:
    """Each once, under a name of its own."""
    names: Counter[str] = Counter()
    named: list[Check] = []
    for check in {check.digest: check for check in found}.values():
        names[check.name] += 1
        name = f"{check.name[:50]} {names[check.name]}" if names[check.name] > 1 else check.name
        named.append(check.model_copy(update={"name": name}))
    return tuple(named)


def parsed(written: bytes, place: str) -> JsonValue:
    """The JSON at that place of a file; raises `WorkbenchError` in words."""
    if values_in(written, MOST_VALUES) == MOST_VALUES:
        raise TooLarge(f"{place}: there are more than {MOST_VALUES:,} values in it. Split the file.")
    try:
        value: JsonValue = from_json(written, allow_inf_nan=False)
    except ValueError as error:
        raise WorkbenchError(f"{place}: this is no JSON: {one_line(str(error))}.") from error
    check_depth(value, place)
    return value


def lines_of(content: bytes, name: str) -> Iterator[tuple[str, JsonValue]]:
    """The values of JSON Lines, each with its place; empty lines are passed over."""
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if line.strip():
            place = f"{name}, line {number}"
            yield place, parsed(line, place)


def check_depth(value: JsonValue, place: str) -> None:
    level: list[JsonValue] = [value]
    for _ in range(MOST_DEEP):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise WorkbenchError(f"{place}: this is nested more than {MOST_DEEP} levels deep.")


def _inside(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def table(told: JsonValue, place: str) -> Fields:
    if not isinstance(told, dict):
        raise WorkbenchError(f"{place}: here belongs an object of names and values, not {_kind(told)}.")
    return told


def rows(told: JsonValue, place: str) -> list[JsonValue]:
    """A list; what is not there is an empty one."""
    if told is None:
        return []
    if not isinstance(told, list):
        raise WorkbenchError(f"{place}: here belongs a list, not {_kind(told)}.")
    return told


def words(told: JsonValue) -> str:
    """A value as text: what is no text as JSON writes it."""
    if told is None:
        return ""
    return told if isinstance(told, str) else json_bytes(told).decode()


def unfit(place: str, error: ValidationError) -> WorkbenchError:
    """Says what does not fit, and where."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(map(str, fault["loc"]))
    return WorkbenchError(f"{place}: {where + ': ' if where else ''}{fault['msg'].removeprefix('Value error, ')}.")


def _kind(told: JsonValue) -> str:
    return {list: "a list", dict: "an object", str: "a text", type(None): "nothing"}.get(type(told), f"{told!r:.40}")
