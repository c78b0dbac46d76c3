"""Paths and formulas over JSON."""

import pytest

from app.domain.reading.expressions import BadExpression
from app.tools.expressions import JsonExpressions

ORDER = {"items": [{"price": 2.5, "count": 4}, {"price": 1, "count": 1}], "unit price": "1,200", "name": "A"}


@pytest.mark.parametrize(
    ("path", "found"),
    [("items[0].price", 2.5), ("items[?count > `1`].price", [2.5]), ("length(items)", 2), ("nothing.there", None)],
)
def test_a_path_finds_what_is_there(path, found):
    assert JsonExpressions().find(ORDER, path) == found


@pytest.mark.parametrize(
    ("formula", "value"),
    [("=[unit price] * 2", 2400), ('=IF(name = "a", 1, 0)', 1), ("=1 + 0.1", 1.1), ('=UPPER(name) & "!"', "A!")],
)
def test_a_formula_is_calculated_over_fields(formula, value):
    assert JsonExpressions().calculate(formula, ORDER) == value


def test_what_cannot_be_read_or_calculated_is_said_in_words():
    expressions = JsonExpressions()
    for path, words in (("items[", "cannot be read"), ("x" * 2_001, "2,000 is the most"), ("abs(name)", "fit the")):
        with pytest.raises(BadExpression, match=words):
            expressions.find(ORDER, path)
    for formula, words in (("=1 +", "Position"), ("=price", "price"), ("=1 / 0", "division by zero")):
        with pytest.raises(BadExpression, match=words):
            expressions.calculate(formula, ORDER)


def test_an_expression_that_makes_too_much_is_given_up():
    with pytest.raises(BadExpression, match="too much"):
        JsonExpressions().find([1] * 1000, "[@, @][]" + " | [@, @][]" * 20)
