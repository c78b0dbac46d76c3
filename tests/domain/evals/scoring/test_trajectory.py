"""Calls that were made against those that are expected."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.evals.scorers import Trajectory
from app.domain.evals.scoring.opinion import NotScored
from app.domain.evals.scoring.trajectory import common_subsequence, judge_trajectory, largest_matching
from tests.cases import acted, wants

RELATIONS = ("same_order", "any_order", "at_least_in_order", "at_least", "nothing_but")
FITS = st.integers(0, 5).flatmap(
    lambda width: st.lists(st.lists(st.booleans(), min_size=width, max_size=width), max_size=5)
)


def named(names: str) -> list[tuple[str, dict]]:
    return [(name, {}) for name in names]


@pytest.mark.parametrize(
    ("made", "expected", "holding"),
    [
        ("AB", "AB", RELATIONS),
        ("BA", "AB", ("any_order", "at_least", "nothing_but")),
        ("AXB", "AB", ("at_least_in_order", "at_least")),
        ("BXA", "AB", ("at_least",)),
        ("A", "AB", ("nothing_but",)),
        ("AA", "A", ("at_least_in_order", "at_least")),
        ("", "A", ("nothing_but",)),
        ("", "", RELATIONS),
        ("A", "", ("at_least_in_order", "at_least")),
        ("ADCA", "ABCA", ()),
    ],
)
def test_the_five_relations(made, expected, holding):
    evidence = acted(*named(made), expected=list(expected))
    assert tuple(one for one in RELATIONS if judge_trajectory(Trajectory(relation=one), evidence).value) == holding


def test_pairs_are_a_largest_matching_and_not_the_first_that_fits():
    expected = [wants("search", {"q": "x"}), wants("search", {"q": "x", "page": 2})]
    evidence = acted(("search", {"q": "x", "page": 2}), ("search", {"q": "x"}), expected=expected)
    for relation in ("at_least", "any_order", "nothing_but"):
        assert judge_trajectory(Trajectory(relation=relation, arguments="contain"), evidence).value == 1.0


@pytest.mark.parametrize(
    ("scorer", "made", "expected", "fits"),
    [
        (Trajectory(arguments="equal"), {"a": 1.0}, {"a": 1}, True),
        (Trajectory(arguments="equal"), {"a": True}, {"a": 1}, False),
        (Trajectory(arguments="equal"), {"a": 1, "b": 2}, {"a": 1}, False),
        (Trajectory(arguments="contain"), {"a": 1, "b": 2}, {"a": 1}, True),
        (Trajectory(arguments="contain"), {"a": {"x": 1, "y": 2}}, {"a": {"x": 1}}, True),
        (Trajectory(arguments="contain"), {"b": 2}, {"a": 1}, False),
        (Trajectory(arguments="fields", fields=("a",)), {"a": 1, "b": 2}, {"a": 1, "b": 3}, True),
        (Trajectory(arguments="fields", fields=("a",)), {"b": 2}, {"a": 1}, False),
        (Trajectory(arguments="ignore"), {"z": 1}, {"a": 1}, True),
        (Trajectory(arguments="equal", per_tool={"my-tool": "ignore"}), {"z": 1}, {"a": 1}, True),
        (Trajectory(arguments="equal"), {"z": 1}, None, True),
    ],
)
def test_the_ways_to_compare_arguments(scorer, made, expected, fits):
    evidence = acted(("my_tool", made), expected=[wants("my-tool", expected)])
    assert judge_trajectory(scorer, evidence).value == float(fits)


def test_three_of_four_calls_get_partial_credit():
    evidence = acted(*named("ABC"), expected=list("ABCD"))
    assert judge_trajectory(Trajectory(graded=True), evidence).value == pytest.approx(6 / 7)
    assert judge_trajectory(Trajectory(), evidence).value == 0.0
    assert judge_trajectory(Trajectory(graded=True), acted(expected=())).value == 1.0


def test_failed_and_denied_calls_count_by_a_switch_and_the_reason_says_so():
    evidence = acted(("A", {}, "error"), ("A", {}), ("B", {}, "denied"), expected=["A"])
    opinion = judge_trajectory(Trajectory(relation="same_order"), evidence)
    assert opinion.value == 1.0
    assert "Failed or denied and not counted: 2." in opinion.reason
    assert judge_trajectory(Trajectory(relation="same_order", count_failed=True), evidence).value == 0.0


@pytest.mark.parametrize(
    ("relation", "made", "expected", "reason"),
    [
        ("at_least_in_order", named("AC"), ["A", "B", "C"], "B is expected after A in step 1, and not called."),
        ("same_order", named("AXB"), ["A", "B"], "Step 2 calls X({}), not expected."),
        ("nothing_but", named("AX"), ["A", "B"], "Step 2 calls X({}), not expected."),
        ("at_least_in_order", named("BA"), ["A", "B"], "Step 2 calls A, which is expected first."),
        ("at_least", [], ["A"], "A is expected as one of 1 calls, and not called."),
        (
            "at_least", [("s", {"q": "x", "page": 1})], [wants("s", {"q": "x", "page": 2})],
            "Step 1 calls s with page = 1, expected 2.",
        ),
        ("at_least", [("s", {})], [wants("s", {"q": "x"})], 'Step 1 calls s without q, expected "x".'),
    ],
)  # fmt: skip
def test_the_reason_names_the_first_difference_by_step(relation, made, expected, reason):
    opinion = judge_trajectory(Trajectory(relation=relation), acted(*made, expected=expected))
    assert opinion.reason.startswith(reason)


@pytest.mark.parametrize(
    ("made", "expected", "reason"),
    [
        ({"path": "/b", "mode": "r"}, {"path": "/a"}, 'Step 1 calls read with path = "/b", expected "/a".'),
        ({"mode": "r"}, {"path": "/a"}, 'Step 1 calls read without path, expected "/a".'),
        ({"path": "/b"}, {"mode": "r"}, 'Step 1 calls read with path = "/b", not expected.'),
    ],
)
def test_a_wrong_call_fails_though_one_of_the_fields_that_count_is_on_neither_side(made, expected, reason):
    opinion = judge_trajectory(
        Trajectory(arguments="fields", fields=("query", "path")),
        acted(("read", made), expected=[wants("read", expected)]),
    )
    assert opinion.value == 0.0
    assert opinion.reason.startswith(reason)


def test_a_case_that_names_no_calls_is_not_scored_and_one_that_names_none_is():
    with pytest.raises(NotScored, match="names no expected calls"):
        judge_trajectory(Trajectory(), acted(expected=None))
    assert judge_trajectory(Trajectory(relation="same_order"), acted(*named("A"), expected=())).value == 0.0


@given(FITS)
def test_no_other_choice_of_pairs_is_larger(fits):
    width = len(fits[0]) if fits else 0
    pairs = largest_matching(fits)
    assert len(set(pairs.values())) == len(pairs)
    assert all(fits[one][other] for one, other in pairs.items())
    slots = [*range(width), *([None] * len(fits))]
    best = max(
        (sum(other is not None and fits[one][other] for one, other in enumerate(chosen))
         for chosen in permutations(slots[: max(width, len(fits))] if width >= len(fits) else slots, len(fits))),
        default=0,
    ) if len(fits) <= 4 and width <= 4 else len(pairs)  # fmt: skip
    assert len(pairs) == best


@given(FITS)
def test_pairs_in_order_are_in_order_and_never_more_than_those_in_any(fits):
    pairs = common_subsequence(fits, len(fits[0]) if fits else 0)
    assert all(fits[one][other] for one, other in pairs.items())
    assert list(pairs) == sorted(pairs)
    assert list(pairs.values()) == sorted(set(pairs.values()))
    assert len(pairs) <= len(largest_matching(fits))


@given(st.text("ABC", max_size=6), st.text("ABC", max_size=6))
def test_the_relations_imply_one_another(made, expected):
    evidence = acted(*named(made), expected=list(expected))
    holds = {one: judge_trajectory(Trajectory(relation=one), evidence).value == 1.0 for one in RELATIONS}
    assert not holds["same_order"] or (holds["any_order"] and holds["at_least_in_order"])
    assert not holds["any_order"] or (holds["at_least"] and holds["nothing_but"])
    assert not holds["at_least_in_order"] or holds["at_least"]
    graded = judge_trajectory(Trajectory(relation="any_order", graded=True), evidence).value
    assert 0 <= graded <= 1
    assert (graded == 1) == holds["any_order"]


def test_hundreds_of_calls_are_compared_in_a_moment():
    made = [("t", {"n": number % 7}) for number in range(200)]
    expected = [wants(name, arguments) for name, arguments in reversed(made)]
    assert judge_trajectory(Trajectory(relation="any_order"), acted(*made, expected=expected)).value == 1.0
    with pytest.raises(NotScored, match="more than 1,000 calls"):
        judge_trajectory(Trajectory(), acted(*named("A" * 1001), expected=["A"]))
