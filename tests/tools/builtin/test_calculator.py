"""Sums."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.tools.builtin.calculator import calculated, calculator
from tests.processor import at_work
from tests.tools.context import Context

ANY_NUMBER = st.floats() | st.integers() | st.integers(-(10**400), 10**400)


@pytest.mark.parametrize(
    ("operation", "x", "y", "answer"),
    [
        ("add", 5, 10, "5 + 10 = 15"),
        ("add", 5.0, 10.0, "5 + 10 = 15"),
        ("multiply", 15, 3, "15 * 3 = 45"),
        ("subtract", 5, -3, "5 - -3 = 8"),
        ("divide", 6, 3, "6 / 3 = 2"),
        ("divide", 10, 3, "10 / 3 = 3.3333333333333335"),
        ("divide", 1, 0, "Error: Division by zero"),
        ("divide", 0, -0.0, "Error: Division by zero"),
        ("power", 0, -1, "Error: Division by zero"),
        ("power", 2, 100, "2 ^ 100 = 1267650600228229401496703205376"),
        ("power", 2, 0.5, "2 ^ 0.5 = 1.4142135623730951"),
        ("power", -2, 2, "(-2) ^ 2 = 4"),
        ("power", -8, 0.5, "Error: (-8) ^ 0.5 is no real number"),
        ("power", 0, 0, "0 ^ 0 = 1"),
        ("power", 10, 10**9, "Error: The result of 10 ^ 1000000000 is too large"),
        ("power", -2, 10**400, "Error: The result of (-2) ^ 1e+400 is too large"),
        ("add", 0.1, 0.2, "0.1 + 0.2 = 0.3"),
        ("add", 9007199254740993, 1, "9007199254740993 + 1 = 9007199254740994"),
        ("multiply", 1e308, 1e308, "1e+308 * 1e+308 = 1e+616"),
        ("multiply", -0.0, 5, "0 * 5 = 0"),
        ("add", float("nan"), 1, "Error: Both numbers have to be finite"),
        ("add", 1, float("inf"), "Error: Both numbers have to be finite"),
    ],
)
def test_sums(operation: str, x: float, y: float, answer: str) -> None:
    assert calculated(operation, x, y) == answer


@given(st.sampled_from(["add", "subtract", "multiply", "divide", "power"]), ANY_NUMBER, ANY_NUMBER)
def test_any_two_numbers_have_an_answer_in_short_words(operation: str, x: float, y: float) -> None:
    answer = calculated(operation, x, y)
    assert answer.startswith("Error: ") or " = " in answer
    assert len(answer) < 300


async def test_a_model_may_write_numbers_as_text() -> None:
    output = await calculator.run({"operation": "add", "x": "5", "y": "9007199254740993"}, Context())
    assert output.parts[0].text == "5 + 9007199254740993 = 9007199254740998"


def test_the_model_is_told_of_plain_numbers() -> None:
    assert calculator.spec.parameters["properties"]["x"] == {"type": "number", "description": "The first number."}


def test_a_broken_power_of_a_number_of_thousands_of_digits_stops_nothing_else() -> None:
    with at_work() as work:
        answer = calculated("power", 10**3999 + 7, 2.5)
    assert work.seconds < 0.2
    assert answer == "1e+3999 ^ 2.5 = 3.162277660168379e+9997"
