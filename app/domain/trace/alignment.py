"""Trajectories side by side: which steps of several runs belong together, and how they differ."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.domain.trace.trajectory import TrajectoryStep
from app.domain.workflows.document import MOST_NODES

Verdict = Literal["same", "other_arguments", "other_tool", "extra", "missing"]

_WORST_FIRST: tuple[Verdict, ...] = ("other_tool", "missing", "extra", "other_arguments", "same")
_GAP = 3
_COSTS: dict[Verdict, int] = {"same": 0, "other_arguments": 1, "other_tool": 4}
"""Two steps with other tools stand side by side (4) rather than each alone (2 gaps: 6)."""
_NEVER = 2 * _GAP + 1
_MOST_PAIRS = 40_000
"""Above, steps are put side by side by their place: comparing each with each would take too long."""

Traits = tuple[str, str]
"""The names of a step's tools, empty for last words, and all arguments."""

Row = tuple[TrajectoryStep | None, ...]


@dataclass(frozen=True, slots=True)
class AlignedStep:
    number: int
    """Counts from 1."""
    columns: Row
    """By column: the step, with its `calls`; `None` where that run has none here."""
    verdicts: tuple[Verdict | None, ...]
    """By column: compared with the first column, which is `same` as itself; `None` where both have no step here."""
    verdict: Verdict
    """The greatest difference among the columns."""


def align(trajectories: Sequence[Sequence[TrajectoryStep]]) -> list[AlignedStep]:
    """The steps of all columns in rows. A step is an answer of the model: its calls side by side, or the last words.

    Rows are chosen so that as little as possible differs: a call that one run makes more gets a row of its own, and
    what follows still stands beside what it is to be compared with. Nodes that ran beside each other stand in the order
    of their workflow, whichever came first.
    """
    columns = [_in_order(one) for one in trajectories]
    rows: list[Row] = [(step,) for step in columns[0]] if columns else []
    for width, column in enumerate(columns[1:], start=1):
        rows = _joined(rows, column, width)
    return [_aligned(number, row) for number, row in enumerate(rows, start=1)]


def _in_order(steps: Sequence[TrajectoryStep]) -> Sequence[TrajectoryStep]:
    return sorted(steps, key=lambda step: step.node.place if step.node is not None else ((MOST_NODES, 0),))


def compared(one: TrajectoryStep, other: TrajectoryStep) -> Verdict:
    """`same`, `other_arguments` or `other_tool`; calls of one step ran side by side, so their order does not count."""
    ours, theirs = _traits(one), _traits(other)
    if ours[0] != theirs[0]:
        return "other_tool"
    return "same" if ours == theirs else "other_arguments"


def _aligned(number: int, row: Row) -> AlignedStep:
    verdicts = tuple(_beside(row[0], step) for step in row)
    worst = next(verdict for verdict in _WORST_FIRST if verdict in verdicts)
    return AlignedStep(number, row, verdicts, worst)


def _beside(first: TrajectoryStep | None, step: TrajectoryStep | None) -> Verdict | None:
    if first is None:
        return None if step is None else "extra"
    return "missing" if step is None else compared(first, step)


def _joined(rows: list[Row], column: Sequence[TrajectoryStep], width: int) -> list[Row]:
    """The rows with one more column; `width` is how many they have."""
    joined: list[Row] = []
    leftmost = [next(step for step in row if step is not None) for row in rows]
    for place, index in _pairs(leftmost, column):
        row = (None,) * width if place is None else rows[place]
        joined.append((*row, None if index is None else column[index]))
    return joined


def _pairs(left: Sequence[TrajectoryStep], right: Sequence[TrajectoryStep]) -> list[tuple[int | None, int | None]]:
    """Which step belongs beside which, in order, at the least cost (Needleman-Wunsch)."""
    if len(left) * len(right) > _MOST_PAIRS:
        return _by_place(len(left), len(right))
    ours, theirs = [_traits(step) for step in left], [_traits(step) for step in right]
    costs = _least_costs(ours, theirs)
    pairs: list[tuple[int | None, int | None]] = []
    i, j = len(left), len(right)
    while i or j:
        if i and j and costs[i][j] == costs[i - 1][j - 1] + _cost(ours[i - 1], theirs[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif j and costs[i][j] == costs[i][j - 1] + _GAP:
            j -= 1
            pairs.append((None, j))
        else:
            i -= 1
            pairs.append((i, None))
    return pairs[::-1]


def _least_costs(left: Sequence[Traits], right: Sequence[Traits]) -> list[list[int]]:
    """By how many steps of each side are placed: the least that differs."""
    costs = [[_GAP * j for j in range(len(right) + 1)]]
    for i, step in enumerate(left, start=1):
        above, line = costs[-1], [_GAP * i]
        for j, other in enumerate(right, start=1):
            gap = (above[j] if above[j] < line[-1] else line[-1]) + _GAP
            beside = above[j - 1] + _cost(step, other)
            line.append(beside if beside < gap else gap)
        costs.append(line)
    return costs


def _cost(one: Traits, other: Traits) -> int:
    if one == other:
        return _COSTS["same"]
    if one[0] == other[0]:
        return _COSTS["other_arguments"]
    return _COSTS["other_tool"] if one[0] and other[0] else _NEVER


def _by_place(left: int, right: int) -> list[tuple[int | None, int | None]]:
    return [(place if place < left else None, place if place < right else None) for place in range(max(left, right))]


def _traits(step: TrajectoryStep) -> Traits:
    if step.node is not None:
        return f"node {step.node.call_id}", json.dumps(step.node.inputs, sort_keys=True)
    calls = sorted((call.name, json.dumps(call.arguments, sort_keys=True)) for call in step.calls)
    return "\n".join(name for name, _ in calls), "\n".join(arguments for _, arguments in calls)
