"""Trajectories side by side."""

from collections.abc import Sequence

import pytest

from app.domain.messages import Usage
from app.domain.trace import CallView, Decision, TrajectoryStep, align, trajectory
from tests.traces import BEGAN, the_sum


def act(*calls: tuple[str, dict[str, object]] | str) -> TrajectoryStep:
    """A step that calls tools; none for the last words."""
    pairs = [(call, {}) if isinstance(call, str) else call for call in calls]
    views = tuple(CallView(f"c{n}", name, dict(arguments), asked_seq=0) for n, (name, arguments) in enumerate(pairs))
    decision = Decision("act" if calls else "respond", "", "", 0, BEGAN, Usage(), 0.0, 0.0)
    return TrajectoryStep(1, (), decision, views)


def row(*columns: Sequence[TrajectoryStep]) -> list[str]:
    return [step.verdict for step in align(columns)]


ADD, OTHER_ADD = ("add", {"x": 1}), ("add", {"x": 2})


def test_runs_that_did_the_same_are_the_same_step_by_step():
    steps = trajectory(the_sum())
    aligned = align([steps, trajectory(the_sum())])
    assert [step.verdict for step in aligned] == ["same", "same", "same"]
    assert [step.number for step in aligned] == [1, 2, 3]
    assert aligned[0].columns[0] == steps[0]
    assert [[call.name for call in step.calls] for step in aligned[0].columns if step] == [["calculator"]] * 2


@pytest.mark.parametrize(
    ("left", "right", "verdicts"),
    [
        ([act(ADD), act()], [act(OTHER_ADD), act()], ["other_arguments", "same"]),
        ([act(ADD), act()], [act("read"), act()], ["other_tool", "same"]),
        ([act(ADD), act()], [act("read"), act(ADD), act()], ["extra", "same", "same"]),
        ([act("read"), act(ADD), act()], [act(ADD), act()], ["missing", "same", "same"]),
        ([act()], [act(ADD), act()], ["extra", "same"]),
        ([act(ADD), act(ADD), act()], [act()], ["missing", "missing", "same"]),
        ([act(ADD, "read")], [act("read", ADD)], ["same"]),
        ([act(ADD, "read")], [act(ADD)], ["other_tool"]),
        ([act(ADD, OTHER_ADD)], [act(OTHER_ADD, ADD)], ["same"]),
        ([act(ADD)], [], ["missing"]),
        ([], [act(ADD)], ["extra"]),
        ([], [], []),
    ],
)
def test_a_difference_has_a_name(left, right, verdicts):
    assert row(left, right) == verdicts


def test_last_words_never_stand_beside_a_call():
    assert row([act()], [act(ADD)]) == ["missing", "extra"] or row([act()], [act(ADD)]) == ["extra", "missing"]


def test_an_extra_step_of_a_third_column_leaves_the_others_as_they_were():
    aligned = align([[act(ADD), act()], [act(ADD), act()], [act("read"), act(ADD), act()]])
    assert [step.verdicts for step in aligned] == [
        (None, None, "extra"),
        ("same", "same", "same"),
        ("same", "same", "same"),
    ]
    assert aligned[0].columns[:2] == (None, None)


def test_two_columns_with_the_same_extra_step_share_its_row():
    aligned = align([[act()], [act("read"), act()], [act("read"), act()]])
    assert [step.verdicts for step in aligned] == [(None, "extra", "extra"), ("same", "same", "same")]


def test_the_greatest_difference_names_the_row():
    [first, _] = align([[act(ADD), act()], [act(OTHER_ADD), act()], [act("read"), act()]])
    assert (first.verdicts, first.verdict) == (("same", "other_arguments", "other_tool"), "other_tool")


def test_a_row_is_found_by_its_leftmost_step():
    aligned = align([[act(ADD)], [act("read")], [act(ADD), act("read")]])
    assert [step.verdicts for step in aligned] == [("same", "other_tool", "same"), (None, None, "extra")]


def test_every_step_of_every_column_is_there_once_and_in_order():
    columns = [[act(name) for name in names] + [act()] for names in ("abcd", "bxd", "aacdd", "")]
    aligned = align(columns)
    for place, column in enumerate(columns):
        assert [step.columns[place] for step in aligned if step.columns[place]] == column


def test_no_column_and_one_column_are_fine():
    assert align([]) == []
    assert row([act(ADD), act()]) == ["same", "same"]


def test_very_long_runs_are_put_side_by_side_by_their_place():
    long = [act(("add", {"x": number})) for number in range(1000)]
    aligned = align([long, [act("read"), *long[1:-1]]])
    assert len(aligned) == 1000
    assert [aligned[place].verdict for place in (0, 1, -1)] == ["other_tool", "same", "missing"]
    shifted = align([long, [act("read"), *long]])
    assert [shifted[place].verdict for place in (0, 1, -1)] == ["other_tool", "other_arguments", "extra"]
