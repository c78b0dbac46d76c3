"""The operators of formulas."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from pydantic import JsonValue

from app.tools.builtin.formula_engine.values import (
    ARITHMETIC,
    Comparison,
    Scalar,
    bounded,
    calculated,
    compared,
    number,
    power,
    text,
)

Evaluate = Callable[[Mapping[str, JsonValue]], Scalar]
Operator = Callable[[Scalar, Scalar], Scalar]


def chained(operands: Sequence[Evaluate], signs: Sequence[str]) -> Evaluate:
    """`a - b + c`, from left to right."""
    first, steps = operands[0], [(OPERATORS[sign], operand) for sign, operand in zip(signs, operands[1:], strict=True)]

    def evaluate(row: Mapping[str, JsonValue]) -> Scalar:
        value = first(row)
        for operator, operand in steps:
            value = operator(value, operand(row))
        return value

    return evaluate


def percent(value: Scalar, count: int) -> Scalar:
    return number(value).scaleb(-2 * count, context=ARITHMETIC)


def signed(value: Scalar, *, negative: bool) -> Scalar:
    return -number(value) if negative else number(value)


def _arithmetic(apply: Callable[[Decimal, Decimal], Decimal]) -> Operator:
    def operate(left: Scalar, right: Scalar) -> Scalar:
        first, second = _operand(left), _operand(right)
        return calculated(lambda: apply(first, second))

    return operate


def _operand(value: Scalar) -> Decimal:
    """An empty cell counts as zero, as in spreadsheets."""
    return Decimal(0) if value is None or value == "" else number(value)


def _divide(left: Decimal, right: Decimal) -> Decimal:
    # 0 / 0 is a division by zero to people, though arithmetic calls it something else.
    return ARITHMETIC.divide(left if right else Decimal(1), right)


def _comparing(operator: Comparison) -> Operator:
    return lambda left, right: compared(left, operator, right)


_TIMES, _OVER, _POWER = _arithmetic(ARITHMETIC.multiply), _arithmetic(_divide), _arithmetic(power)
_MINUS = _arithmetic(ARITHMETIC.subtract)

OPERATORS: dict[str, Operator] = {
    "+": _arithmetic(ARITHMETIC.add),
    "-": _MINUS,
    "−": _MINUS,
    "*": _TIMES,
    "×": _TIMES,
    "/": _OVER,
    "÷": _OVER,
    "^": _POWER,
    "**": _POWER,
    "&": lambda left, right: bounded(text(left) + text(right)),
    "=": _comparing("="),
    "==": _comparing("="),
    "<>": _comparing("<>"),
    "!=": _comparing("<>"),
    "<": _comparing("<"),
    "<=": _comparing("<="),
    ">": _comparing(">"),
    ">=": _comparing(">="),
}
