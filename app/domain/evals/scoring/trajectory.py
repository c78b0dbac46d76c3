"""The calls of tools that were made against those that the case expects: five relations, four ways with arguments.

Where the order counts, pairs are a longest common subsequence, else a largest matching: who takes the first call that
fits misses pairs that there are.
"""

from collections import deque
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from app.domain.evals.cases import ExpectedCall
from app.domain.evals.evidence import Evidence, MadeCall
from app.domain.evals.scorers import ArgumentMatch, Trajectory
from app.domain.evals.scoring.json_values import same, shown
from app.domain.evals.scoring.opinion import NotScored, Opinion

MOST_CALLS = 1_000
Pairs = Mapping[int, int]
"""By place of an expected call: the place of the call that was made for it."""


def judge_trajectory(scorer: Trajectory, evidence: Evidence) -> Opinion:
    """Whether the relation holds, or F1 of the paired calls; the reason has both, and the first difference by step.

    For more than some 60 calls in a thread: each is compared with each.
    """
    expected = evidence.case.expected_calls
    if expected is None:
        raise NotScored("The case names no expected calls. Write some, or none on purpose, or leave this scorer out.")
    made = [call for call in evidence.calls if scorer.count_failed or not call.failed]
    if max(len(made), len(expected)) > MOST_CALLS:
        raise NotScored(f"There are more than {MOST_CALLS:,} calls, too many to be compared.")
    comparison = Comparison(scorer, made, expected)
    f1 = 2 * len(comparison.pairs) / (len(made) + len(expected)) if made or expected else 1.0
    left_out = len(evidence.calls) - len(made)
    words = [
        "Holds." if comparison.holds else comparison.first_difference,
        f"{len(comparison.pairs)} of {len(expected)} expected calls, {len(made)} made (F1 {f1:.2f}).",
        f"Failed or denied and not counted: {left_out}." if left_out else "",
    ]
    return Opinion(f1 if scorer.graded else float(comparison.holds), " ".join(word for word in words if word))


class Comparison:
    """The calls of one try, paired."""

    def __init__(self, scorer: Trajectory, made: Sequence[MadeCall], expected: Sequence[ExpectedCall]) -> None:
        self._scorer, self._made, self._expected = scorer, made, expected
        self._ways = {_name(name): way for name, way in scorer.per_tool.items()}
        names = [_name(call.name) for call in made]
        self._fits = [
            [name == wanted_name and self._fit(call, wanted) for name, call in zip(names, made, strict=True)]
            for wanted, wanted_name in ((one, _name(one.name)) for one in expected)
        ]
        in_order = scorer.relation in ("same_order", "at_least_in_order")
        self.pairs: Pairs = common_subsequence(self._fits, len(made)) if in_order else largest_matching(self._fits)

    @property
    def holds(self) -> bool:
        found, made, expected = len(self.pairs), len(self._made), len(self._expected)
        match self._scorer.relation:
            case "same_order" | "any_order":
                return found == made == expected
            case "at_least_in_order" | "at_least":
                return found == expected
            case "nothing_but":
                return found == made

    @property
    def first_difference(self) -> str:
        """The first call that is missing, or that is one too many, and where."""
        taken = set(self.pairs.values())
        missing = next((place for place in range(len(self._expected)) if place not in self.pairs), None)
        extra = next((place for place in range(len(self._made)) if place not in taken), None)
        match self._scorer.relation:
            case "at_least_in_order" | "at_least":
                extra = None
            case "nothing_but":
                missing = None
            case "same_order" | "any_order":
                pass
        if missing is not None:
            return self._missing(missing, taken)
        return self._extra(extra) if extra is not None else "Holds."

    def _missing(self, place: int, taken: set[int]) -> str:
        wanted, others = self._expected[place], [at for at in range(len(self._made)) if at not in taken]
        misplaced = next((at for at in others if self._fits[place][at]), None)
        if misplaced is not None:
            return f"Step {self._made[misplaced].step} calls {_words(wanted)}, which is expected {self._turn(place)}."
        near = next((at for at in others if _name(self._made[at].name) == _name(wanted.name)), None)
        if near is not None and wanted.arguments is not None:
            return f"Step {self._made[near].step} calls {wanted.name} {self._other_argument(near, wanted.arguments)}."
        return f"{_words(wanted)} is expected {self._turn(place)}, and not called."

    def _turn(self, place: int) -> str:
        """Where a call is expected that was not made there."""
        before = next((self.pairs[one] for one in range(place - 1, -1, -1) if one in self.pairs), None)
        in_order = self._scorer.relation in ("same_order", "at_least_in_order")
        if not in_order:
            return f"as one of {len(self._expected)} calls"
        return "first" if before is None else f"after {self._made[before].name} in step {self._made[before].step}"

    def _extra(self, place: int) -> str:
        call = self._made[place]
        return f"Step {call.step} calls {_words(ExpectedCall(name=call.name, arguments=call.arguments))}, not expected."

    def _other_argument(self, place: int, wanted: Mapping[str, JsonValue]) -> str:
        made = self._made[place].arguments
        way = self._way(self._made[place].name)
        either = [*wanted, *(name for name in made if name not in wanted)]
        names = either if way != "fields" else [name for name in self._scorer.fields if name in either]
        for name in names:
            if name not in made:
                return f"without {name}, expected {shown(wanted[name])}"
            if name not in wanted:
                return f"with {name} = {shown(made[name])}, not expected"
            if not same(made[name], wanted[name], extra_keys=way == "contain"):
                return f"with {name} = {shown(made[name])}, expected {shown(wanted[name])}"
        return "too, but another call stands for it"

    def _fit(self, call: MadeCall, wanted: ExpectedCall) -> bool:
        """Whether the arguments do, of calls of the same tool."""
        if wanted.arguments is None:
            return True
        match self._way(call.name):
            case "ignore":
                return True
            case "equal":
                return same(call.arguments, wanted.arguments)
            case "contain":
                return same(call.arguments, wanted.arguments, extra_keys=True)
            case "fields":
                fields = self._scorer.fields
                made = {name: call.arguments[name] for name in fields if name in call.arguments}
                return same(made, {name: wanted.arguments[name] for name in fields if name in wanted.arguments})

    def _way(self, tool: str) -> ArgumentMatch:
        return self._ways.get(_name(tool), self._scorer.arguments)


def common_subsequence(fits: Sequence[Sequence[bool]], width: int) -> Pairs:
    """As many pairs as there can be that are in one order on both sides; of several such ways, the earliest."""
    height = len(fits)
    most = [[0] * (width + 1) for _ in range(height + 1)]
    for one in range(height - 1, -1, -1):
        line, below = most[one], most[one + 1]
        for other in range(width - 1, -1, -1):
            skipped = max(below[other], line[other + 1])
            line[other] = max(below[other + 1] + 1, skipped) if fits[one][other] else skipped
    pairs: dict[int, int] = {}
    one = other = 0
    while one < height and other < width:
        if fits[one][other] and most[one][other] == most[one + 1][other + 1] + 1:
            pairs[one] = other
            one, other = one + 1, other + 1
        elif most[one + 1][other] >= most[one][other + 1]:
            one += 1
        else:
            other += 1
    return pairs


def largest_matching(fits: Sequence[Sequence[bool]]) -> Pairs:
    """As many pairs as there can be, in whatever order, by augmenting paths."""
    pairs: dict[int, int] = {}
    partners: dict[int, int] = {}
    for one in range(len(fits)):
        _augment(one, fits, pairs, partners)
    return pairs


def _augment(start: int, fits: Sequence[Sequence[bool]], pairs: dict[int, int], partners: dict[int, int]) -> None:
    """Find a partner for `start`, moving others to new ones where that is needed."""
    came_from: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        one = waiting.popleft()
        for other, fit in enumerate(fits[one]):
            if not fit or other in came_from:
                continue
            came_from[other] = one
            if other in partners:
                waiting.append(partners[other])
                continue
            free: int | None = other
            while free is not None:
                left = came_from[free]
                before = pairs.get(left)
                pairs[left], partners[free] = free, left
                free = before
            return


def _name(name: str) -> str:
    """A tool's name; `-` and `_` are the same in it."""
    return name.replace("-", "_")


def _words(call: ExpectedCall) -> str:
    return call.name if call.arguments is None else f"{call.name}({shown(call.arguments)})"
