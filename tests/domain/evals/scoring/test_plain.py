"""Scorers that need neither a model nor a file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.evals.evidence import Evidence
from app.domain.evals.scorers import (
    Checks,
    Contains,
    Cost,
    Exact,
    JsonMatch,
    Latency,
    Numeric,
    Regex,
    Steps,
)
from app.domain.evals.scoring.json_values import difference, last_number, same
from app.domain.evals.scoring.opinion import NotScored, Opinion, passes
from app.domain.evals.scoring.plain import PlainScorer, judge_plainly
from app.tools.expressions import JsonExpressions
from tests.cases import acted, answered, case
from tests.traces import asked, called, finished, returned, said, started, trace_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


def judged(scorer: PlainScorer, evidence: Evidence) -> Opinion:
    return judge_plainly(scorer, evidence, JsonExpressions())


def value(scorer: PlainScorer, answer: str, reference: object = None) -> float:
    return judged(scorer, answered(answer, reference)).value


@pytest.mark.parametrize(
    ("scorer", "answer", "reference", "holds"),
    [
        (Exact(), "  Rome \n", "Rome", True),
        (Exact(ignore_space=False), "Rome ", "Rome", False),
        (Exact(), "rome", "Rome", False),
        (Exact(ignore_case=True), "STRASSE", "straße", True),
        (Exact(), "cafe\u0301", "caf\u00e9", True),
        (Exact(), "42", 42, True),
        (Exact(), "true", True, True),
        (Exact(), "Paris", ["Rome", "Paris"], True),
        (Exact(), "Berlin", ["Rome", "Paris"], False),
        (Exact(), '```json\n{"a": 1.0}\n```', {"a": 1}, True),
        (Exact(), '{"a": true}', {"a": 1}, False),
        (Exact(), "no json", {"a": 1}, False),
        (Contains(texts=("a", "B")), "AB", None, True),
        (Contains(texts=("a", "z")), "ab", None, False),
        (Contains(texts=("a", "z"), mode="any"), "ab", None, True),
        (Contains(texts=("sorry",), mode="none"), "Sorry, no.", None, False),
        (Contains(texts=("sorry",), mode="none", ignore_case=False), "Sorry, no.", None, True),
        (Contains(), "The answer is 45.", "45", True),
        (Contains(), "a and b", ["a", "b"], True),
        (Regex(pattern=r"\d{4}-\d{2}"), "on 2026-11-23", None, True),
        (Regex(pattern=r"\d{4}-\d{2}", whole=True), "on 2026-11", None, False),
        (Regex(pattern=r"a|on .*", whole=True), "on 2026-11", None, True),
        (Regex(), "abc", "^a.c$", True),
        (Numeric(), "It is 1,234.50 dollars.", 1234.5, True),
        (Numeric(), "Between 3 and 4.", 3, False),
        (Numeric(tolerance=0.5), "4.5", 4, True),
        (Numeric(tolerance=0.4), "4.5", 4, False),
        (Numeric(relative=0.01), "101", 100, True),
        (Numeric(tolerance=0.1), "0.3", 0.2, True),
        (Numeric(path="total"), '{"total": "7"}', 7, True),
        (Numeric(path="total"), "seven", 7, False),
        (Numeric(path="total"), f'{{"total": {"3" * 400}}}', 42, False),
        (Numeric(), "It is 9 200.", "1 200", False),
        (Numeric(), "Le total est de 1\u202f200 €", 1200, True),
        (Numeric(), "12%", "12%", True),
        (JsonMatch(), '{"a": 1, "b": 2}', {"a": 1}, True),
        (JsonMatch(extra_keys=False), '{"a": 1, "b": 2}', {"a": 1}, False),
        (JsonMatch(paths=("a", "b.c")), '{"a": 1, "b": {"c": 2}, "d": 9}', {"a": 1, "b": {"c": 2}, "d": 3}, True),
        (JsonMatch(expected={"items[0].n": 2}, tolerance=0.1), '{"items": [{"n": 2.05}]}', None, True),
        (JsonMatch(tolerance=0.1), f'{{"a": {"3" * 400}}}', {"a": 42.5}, False),
        (JsonMatch(tolerance=2), f'{{"a": 1{"0" * 400}}}', {"a": 10**400 + 1}, True),
        (JsonMatch(), "hello", {"a": 1}, False),
        (JsonMatch(), '{"a": [1, 2]}', '{"a": [1, 2]}', True),
    ],
)  # fmt: skip
def test_a_scorer_says_yes_or_no(scorer, answer, reference, holds):
    assert value(scorer, answer, reference) == float(holds)


def test_the_value_of_a_json_match_is_the_share_of_its_paths():
    opinion = judged(JsonMatch(paths=("a", "b", "c", "d")), answered('{"a": 1, "b": 5}', {"a": 1, "b": 2, "c": 3}))
    assert opinion == (0.5, "2 of 4 paths. b: It is 5, expected 2. And 1 more.")


@pytest.mark.parametrize(
    ("scorer", "evidence", "reason"),
    [
        (Exact(), answered("Rome and more", "Rome or less"), 'from character 6 on: "and more", expected "or less".'),
        (Exact(), answered('{"a": {"b": [1]}}', {"a": {"b": [2]}}), "a.b[0] is 1, expected 2."),
        (JsonMatch(), answered("{}", {"a": 1}), "a is nothing, expected 1."),
        (Contains(texts=("x",)), answered("y"), '"x" is missing.'),
        (Numeric(), answered("about 41", 42), "The answer says 41, expected 42."),
        (Latency(most_seconds=0.1), answered("y"), "0.50 s, at most 0.1 s."),
        (Cost(most_usd=0.25), answered("y"), "0.5000 US$, at most 0.25 US$."),
        (Steps(most_steps=1, most_calls=0), acted(("look", {})), "2 steps, at most 1; 1 calls of tools, at most 0."),
    ],
)
def test_the_reason_names_what_differs(scorer, evidence, reason):
    opinion = judged(scorer, evidence)
    assert opinion.value == 0.0
    assert opinion.reason.endswith(reason)


@pytest.mark.parametrize(
    ("scorer", "evidence", "way_out"),
    [
        (Exact(), answered("x"), "names no reference. Write one"),
        (Contains(), answered("x"), "names no reference"),
        (Contains(), answered("x", {"a": 1}), "Use a scorer of the type json"),
        (Regex(), answered("x"), "names no reference"),
        (Regex(pattern="("), answered("x"), "cannot be read"),
        (Regex(pattern=r"(?=a)a"), answered("a"), "look-around"),
        (Regex(pattern=r"(a)\1"), answered("aa"), "back-references"),
        (Regex(pattern=r"((a{99}){99}){99}"), answered("aa"), "too large"),
        (Regex(pattern="[0-9]{50}"), answered("a" * 20_000), "this pattern reads 9,"),
        (Numeric(), answered("4", "four"), "no number"),
        (JsonMatch(), answered("{}", "not json"), "Write it as JSON"),
        (JsonMatch(paths=("a[",)), answered("{}", {}), "cannot be read"),
        (Steps(), answered("x"), "names no bound"),
    ],
)
def test_what_cannot_be_said_is_not_scored_and_names_the_way_out(scorer, evidence, way_out):
    with pytest.raises(NotScored, match=way_out.replace("(", r"\(")):
        judged(scorer, evidence)


def test_a_cost_that_nobody_knows_is_not_scored_unless_what_is_known_is_too_much():
    trace = trace_of(started(), asked("x"), called("a"), said("y"), returned("a", cost=None), finished())
    with pytest.raises(NotScored, match="Nobody said what demo/agent costs"):
        judged(Cost(), Evidence(case(), (trace,)))
    dear = trace_of(started(), called("a"), returned("a", cost=None), called("b"), returned("b"), finished())
    assert judged(Cost(), Evidence(case(), (dear,))).value == 0.0


def test_what_a_case_asks_of_its_own_answers_is_scored_by_the_share_that_holds():
    checks = [Contains(texts=("Rome",)), Regex(pattern=r"\d"), Steps(most_steps=3)]
    opinion = judged(Checks(), answered("It is Rome.", checks=checks))
    assert opinion == (pytest.approx(2 / 3), "2 of 3 checks hold. regex: The pattern is not found in the answer.")
    half = JsonMatch(expected={"a": 1, "b": 2}, threshold=0.5)
    assert judged(Checks(), answered('{"a": 1}', checks=[half])).value == 1.0
    for checks, why in (((), "asks nothing"), ((Exact(),), "names no reference")):
        with pytest.raises(NotScored, match=why):
            judged(Checks(), answered("x", checks=checks))


def test_zero_is_a_score_and_a_share_passes_at_its_threshold():
    assert value(Exact(), "x", "y") == 0.0
    assert passes(JsonMatch(threshold=0.7), 7 / 10)
    assert passes(JsonMatch(threshold=0.8), 0.1 + 0.7)
    assert not passes(JsonMatch(threshold=0.7), 0.69)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3 then 4", 4), ("-5", -5), ("5-3", 3), ("−2.5", -2.5), ("1.234,5 EUR", 1234.5), ("$1,200", 1200),
        ("-$3", -3), ("1e3", 1000), ("v1.2.3 has 7", 7), ("the end.", None), ("12.", 12), ("x2", None), (".5", 0.5),
        ("1 200.50", 1200.5), ("-1\u00a0234\u00a0567,5 €", -1234567.5), ("1\u2009000\u2009000", 1e6), ("1'200", 1200),
        ("1’200 CHF", 1200), ("1 200.", 1200), ("1 200.1.1 has 7", 7), ("1 200, 300", 300), ("1 2000", 2000),
        ("1\n200", 200), ("0 200", 200), ("2.5 100", 100), ("in 2024 200 people", 200), ("in 2024 1 200", 1200),
        ("Apollo 11 384,400 km", 384_400), ("Formula 1 300,000", 300_000), ("Windows 11 400,000,000 users", 4e8),
        ("Scores: 90 85 100", 100), ("1 2 300", 300), ("10 20 30 100", 100), ("Top 5 100.000.000", 1e8),
        ("12\u00a0345,678 kg", 12_345.678), ("12'345,678", 12_345.678), ("1 234 567,125", 1_234_567.125),
        ("1 20", 20), ("1" + " 000" * 6, 1e18), ("100" + " 200" * 7, 200), (" 200" * 50_000, 200),
        ("1e999 or 6", 6), ("12345" + "." * 9_998, 12345), ("7" + "." * 20_000, 7),
    ],
)  # fmt: skip
def test_the_last_number_is_read_as_people_write_it(text, number):
    assert last_number(text) == number


@given(JSON)
def test_whatever_is_json_is_the_same_as_itself(document):
    assert same(document, json.loads(json.dumps(document)))


@given(JSON, JSON, st.booleans())
def test_what_differs_is_not_the_same_and_the_reverse(one, other, extra_keys):
    assert same(one, other, extra_keys=extra_keys) == (difference(one, other, extra_keys=extra_keys) is None)


@given(JSON, JSON)
def test_to_be_the_same_needs_no_order(one, other):
    assert same(one, other) == same(other, one)


@given(st.text(max_size=40), st.text(max_size=40))
def test_an_exact_answer_contains_its_reference(answer, reference):
    if value(Exact(ignore_space=False), answer, reference):
        assert value(Contains(), answer, reference)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 10), st.floats(0, 10))
def test_more_tolerance_never_takes_a_yes_back(number, reference, less, more):
    near = Numeric(tolerance=min(less, more)), Numeric(tolerance=max(less, more))
    first, second = (value(scorer, json.dumps(number), reference) for scorer in near)
    assert first <= second
