import pytest

from app.domain.prompts import ValuePath
from app.domain.reading.expressions import BadExpression
from app.domain.workflows.bindings import Parted, holds, joined, parted, reads, value_of
from app.domain.workflows.document import Calculated, FixedValue, FoundValue, Template
from app.domain.workflows.renaming import with_names
from app.tools.expressions import JsonExpressions

NAMES = {
    "input": {"text": "Hi"},
    "draft": {"items": [{"name": "a", "n": 2}, {"name": "b", "n": 3}], "note": None},
    "review": {"score": "7", "good": True},
}


def value(binding):
    return value_of(binding, NAMES, JsonExpressions())


def names(binding):
    return [read.path.written for read in reads(binding, JsonExpressions())]


def test_a_fixed_value_is_what_it_is():
    assert value(FixedValue(value={"a": [1]})) == {"a": [1]}
    assert names(FixedValue(value="{{draft}}")) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{input.text}}, {{ draft.items[0].name }}!", "Hi, a!"),
        ("{{draft.items[-1]}}", '{"name": "b", "n": 3}'),
        ("{{draft.note ?? none yet}}.", "none yet."),
        ("{{gone.text ??}}.", "."),
        ("{{review.good}} {{review.score}}", "true 7"),
    ],
)
def test_a_template_is_filled_with_values(text, words):
    assert value(Template(text=text)) == words


def test_braces_in_a_value_stay_data():
    given = {"input": {"text": "{{secret}}"}, "secret": "x"}
    assert value_of(Template(text="{{input.text}}"), given, JsonExpressions()) == "{{secret}}"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("draft.items[?n > `2`].name", ["b"]),
        ("draft.note || review.score", "7"),
        ("draft.note ?? []", []),
        ("gone.x ?? null", None),
    ],
)
def test_a_path_finds_a_value_or_its_default(path, found):
    assert value(FoundValue(path=path)) == found


@pytest.mark.parametrize(
    ("formula", "came_to"),
    [("[review.score] * 2", 14), ("`draft.items[0].n` + 1 ?? 0", 3), ("gone ?? 5", 5), ("`draft.items[1].n` * 2", 6)],
)
def test_a_formula_is_calculated_over_paths(formula, came_to):
    assert value(Calculated(formula=formula)) == came_to


@pytest.mark.parametrize(
    "binding",
    [
        Template(text="{{draft.note}}"),
        Template(text="{{gone}}"),
        FoundValue(path="draft.note"),
        FoundValue(path="gone.x"),
        Calculated(formula="[gone.x] + 1"),
    ],
)
def test_what_is_missing_without_a_default_is_said(binding):
    with pytest.raises(BadExpression, match=r"is not there.*\?\?"):
        value(binding)


@pytest.mark.parametrize(
    ("formula", "true"),
    [
        ("[review.score] >= 7", True),
        ("0", False),
        ("[review.good]", True),
        ("draft ?? false", None),
        ("'FALSE'", False),
    ],
)
def test_a_condition_is_true_or_false(formula, true):
    if true is None:
        with pytest.raises(BadExpression, match="neither true nor false"):
            holds(formula, NAMES, JsonExpressions())
    else:
        assert holds(formula, NAMES, JsonExpressions()) is true


def test_the_names_that_are_read():
    assert names(Template(text="{{a.b[0]}} {{c ?? d}} {{a b}}")) == ["a.b[0]", "c"]
    assert names(FoundValue(path="a.b")) == ["a.b"]
    assert names(FoundValue(path="[length(a.x), b[?c > d].e | f, sort_by(g, &h), i.{j: k}]")) == ["a", "b", "g", "i"]
    assert names(Calculated(formula="IF([a.b] > round, TRUE, MAX(c))")) == ["a.b", "round", "c"]


@pytest.mark.parametrize("path", ["@.a", "*.a", "[0]", "a[", ""])
def test_a_path_that_begins_with_no_name_cannot_be_read(path):
    with pytest.raises(BadExpression):
        reads(FoundValue(path=path), JsonExpressions())


def test_a_default_is_json_behind_the_last_question_marks():
    assert parted('a ?? {"b": 1}') == Parted("a", {"b": 1}, has_default=True)
    assert parted("a[?b == '?? 1']") == Parted("a[?b == '?? 1']", None, has_default=False)
    assert reads(FoundValue(path="a.b ?? 1"), JsonExpressions())[0].has_default
    assert reads(FoundValue(path="a.b"), JsonExpressions())[0].path == ValuePath(name="a", steps=("b",))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Template(text="{{a.a}} {{ b ?? a }} a"), Template(text="{{a_2.a}} {{b ?? a}} a")),
        (FoundValue(path="a.a"), FoundValue(path="a_2.a")),
        (FoundValue(path="a[?a > `a`].a | a"), FoundValue(path="a_2[?a > `a`].a | a")),
        (FoundValue(path="{a: a, b: b.{a: a}}"), FoundValue(path="{a: a_2, b: b.{a: a}}")),
        (FoundValue(path="sort_by(a, &a)[0] || a"), FoundValue(path="sort_by(a_2, &a)[0] || a_2")),
        (FoundValue(path="[a, 'a', \"a\".b, (a | a), a]"), FoundValue(path="[a_2, 'a', a_2.b, (a_2 | a), a_2]")),
        (FoundValue(path='a."my a box"'), FoundValue(path='a_2."my a box"')),
        (FoundValue(path='a."x-a" || "a" || b."\\" a"'), FoundValue(path='a_2."x-a" || a_2 || b."\\" a"')),
        (FoundValue(path='{"a": a, "of a b": a}'), FoundValue(path='{"a": a_2, "of a b": a_2}')),
        (Calculated(formula="[a.a] + a & 'a' & MAX(a)"), Calculated(formula="[a_2.a] + a_2 & 'a' & MAX(a_2)")),
        (FoundValue(path='a[0] ?? "a"'), FoundValue(path='a_2[0] ?? "a"')),
        (Calculated(formula="`a.a` ?? 1"), Calculated(formula="`a_2.a` ?? 1")),
        (FoundValue(path="a." + "a" * 2_000), FoundValue(path="a." + "a" * 2_000)),
        (FixedValue(value="{{a}}"), FixedValue(value="{{a}}")),
    ],
)
def test_names_are_replaced_where_they_are_names(before, after):
    assert with_names(before, {"a": "a_2"}) == after


def test_what_did_not_come_to_a_join_is_null():
    values = {"a": FoundValue(path="review.score"), "b": FoundValue(path="gone.x"), "c": Template(text="{{gone ?? -}}")}
    assert joined(values, NAMES, JsonExpressions()) == {"a": "7", "b": None, "c": "-"}
