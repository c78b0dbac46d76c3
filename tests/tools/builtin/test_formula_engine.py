"""Formulas over rows."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.errors import ToolError
from app.tools.builtin.formula_engine.compiler import Formula
from app.tools.builtin.formula_engine.grammar import parse
from app.tools.builtin.formula_engine.kit import formula_engine__evaluate
from app.tools.builtin.formula_engine.values import FormulaError
from tests.processor import at_work
from tests.tools.builtin.using import told_by

ROWS: list[dict[str, Any]] = [
    {"name": "John", "amount": 1500, "region": "West", "unit price": "$1,200.50"},
    {"name": "Jane", "amount": "2,000", "region": "East", "unit price": "12%"},
    {"name": "Bob", "amount": 1200, "region": "West", "unit price": "n/a"},
]


async def evaluated(formula: str, rows: object = ROWS, **arguments: object) -> Any:
    return json.loads(await told_by(formula_engine__evaluate, formula=formula, rows=rows, **arguments))


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=SUM(amount)", 4700), ("COUNT()", 3), ("COUNT(*)", 3), ('COUNTIF(region, "west")', 2),
        ('=COUNTIF(amount,">1300")', 2), ('SUMIF(region; "We*"; amount)', 2700),
        ("AVERAGE(amount * 2) / 2", 1566.6666666666667),
        ("MEDIAN(amount)", 1500), ("MAX(name)", "John"), ("MIN(amount, 7)", 7), ("SUM([Unit Price])", 1200.62),
        ("-2^2", 4), ("2^3^2", 64), ("1+2*3-4/5", 6.2), ("50%+5%", 0.55), ("0.1+0.2", 0.3),
        ("2^0.5", 1.4142135623730951),
        ("ROUND(2.5)", 3), ("ROUND(-2.345, 2)", -2.35), ("ROUND(1234, -2)", 1200), ("MOD(-3, 2)", 1), ("ABS(-1)", 1),
        ('IF(1 > 2, "a", "b")', "b"), ("AND(1, 1 = 1, NOT(FALSE))", True), ('IFERROR(1/0, "none")', "none"),
        ('OR("a" = "A", 1/0)', True), ('CONCAT("a", 1, TRUE) & "!"', "a1TRUE!"), ('MID("abcdef", 2, 3)', "bcd"),
        ('LEFT("abc", 2) & RIGHT("abc")', "abc"), ('TRIM("  a  b ")', "a b"), ('LEN(UPPER("ß"))', 2),
        ("'it''s'", "it's"),
        ("DATE(2024, 14, 1)", "2025-02-01"), ('DAYS("2024-03-05", "March 1 2024")', 4), ('"2" + 1', 3), ("----1", 1),
    ],
)  # fmt: skip
async def test_a_total_is_one_value(formula: str, value: object):
    assert (await evaluated(formula))["value"] == value


MIXED: list[dict[str, Any]] = [{"v": 1}, {"v": 2}, {"v": "a"}, {"v": None}, {"v": ""}, {"v": True}, {"v": False}]


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("COUNT(v)", 2), ("COUNTA(v)", 5), ("COUNT(*)", 7), ("COUNT(v, 5, TRUE)", 4), ("SUM(v)", 3),
        ("SUM(v, TRUE)", 4),
        ("AVERAGE(v)", 1.5), ("MAX(v)", 2), ("MIN(v)", 1), ("MEDIAN(v)", 1.5), ("MIN(v, FALSE)", 0),
        ("COUNTIF(v, 1)", 1), ("COUNTIF(v, TRUE)", 1), ('COUNTIF(v, ">0")', 2), ('COUNTIF(v, "<>1")', 6),
        ('COUNTIF(v, "false")', 1), ("SUMIF(v, TRUE)", 0),
    ],
)  # fmt: skip
async def test_what_is_a_number_in_a_column_is_what_spreadsheets_say(formula: str, value: object):
    assert (await evaluated(formula, MIXED))["value"] == value


async def test_what_is_left_out_of_a_column_is_told():
    told = (await evaluated("COUNT(v)", MIXED))["notes"]
    assert told == ["COUNT left out 'a' (row 3), no number, TRUE (row 6), no number, FALSE (row 7), no number."]


async def test_a_group_by_gives_one_value_for_each_group():
    result = await evaluated("=SUM(amount)", group_by="region")
    assert [(group["region"], group["value"]) for group in result["groups"]] == [("West", 2700), ("East", 2000)]
    assert "'2,000' as 2000" in result["notes"][0]


async def test_columns_outside_of_totals_make_a_new_column():
    sized = await evaluated('=IF(amount > 1400, "big", "small")', column="size")
    assert [row["size"] for row in sized["rows"]] == ["big", "big", "small"]
    shares = await evaluated("amount / SUM(amount)", group_by=["region"])
    assert [row["result"] for row in shares["rows"]] == [0.5555555555555556, 1, 0.4444444444444444]


async def test_a_row_without_a_value_is_told_and_spares_the_others():
    result = await evaluated("[unit price] * 2")
    assert [row["result"] for row in result["rows"]] == [2401, 0.24, None]
    assert result["failed_count"] == 1 and "Row 3 has no value: 'n/a', which is no number." in result["notes"]
    assert "SUM left out 'n/a' (row 3), no number." in (await evaluated("SUM([unit price])"))["notes"]


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("SUM(amount", r"Position 11: the end of the formula stands where .*'\)'.* is expected"),
        ("1 + * 2", r"Position 5: '\*' stands where a value is expected: 1 \+ ⟨here⟩\* 2"),
        ("name @ 2", "Position 6: '@' stands where"),
        ('name & "x', "no closing quote"),
        ("SUM(amt)", "Position 5: .*no column 'amt'. Did you mean 'amount'"),
        ("SUME(1)", "Position 1: there is no function SUME. Did you mean SUM"),
        ("LEFT(name, 1, 2)", "LEFT takes 1 to 2 arguments, not 3"),
        ("__import__('os')", "no function __IMPORT__"),
        ("name.__class__", "Position 5"),
        ("", "empty"),
        ("1/0", "division by zero"),
        ("10^400", "too large"),
        ("(-8)^0.5", "no real result"),
        ("(" * 41 + "1" + ")" * 41, "brackets"),
        ("1+" * 1001 + "1", "characters"),
    ],
)
async def test_a_formula_that_cannot_be_told_names_the_place_and_the_reason(formula: str, complaint: str):
    with pytest.raises(ToolError, match=complaint):
        await evaluated(formula)


async def test_the_work_and_the_texts_of_a_formula_are_bounded():
    rows = [{"n": number} for number in range(20_000)]
    with pytest.raises(ToolError, match="too much work"):
        await evaluated("+".join(["n"] * 300), rows)
    with pytest.raises(ToolError, match="32,767 is the most"):
        await evaluated('SUBSTITUTE(MAX(t), "x", "yyyy") & MAX(t)', [{"t": "x" * 8_000}])


@pytest.mark.parametrize("formula", ["n ^ 2.5", "POWER(n, 2.5)"])
def test_a_broken_power_of_a_number_of_thousands_of_digits_stops_nothing_else(formula: str):
    power = Formula(parse(formula), ["n"])
    row = {"n": 10**3999 + 7}
    with at_work() as work, pytest.raises(FormulaError, match="too large"):
        power.value(row)
    assert work.seconds < 0.2


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from("()+-*/^%&=<>,;\"'[] 12.aSUMIFx"), max_size=30))
def test_any_text_is_a_formula_or_a_complaint(text: str):
    try:
        formula = Formula(parse(text), ["a", "x"])
        formula.enter([{"a": 1, "x": "t"}], [1])
        formula.value({"a": 1, "x": "t"})
    except (ToolError, FormulaError) as error:
        assert str(error)
