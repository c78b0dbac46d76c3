"""Sums for a model that should not do them in its head."""

from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import Annotated, Literal

from pydantic import WithJsonSchema

from app.tools.function.tool import tool

Operation = Literal["add", "subtract", "multiply", "divide", "power"]
# Whole numbers stay whole, however long they are, and the model is still told of one type.
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]

SYMBOLS: dict[Operation, str] = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "^"}
DIGITS = 50
"""Exact up to here; longer results are rounded to a float's precision."""
FLOAT_DIGITS = 16
_BASE = Context(prec=2 * DIGITS)
"""Digits of a base that count: with thousands of them, a broken power takes seconds, in which all else stands still."""
SMALLEST_FLOAT, LARGEST_FLOAT = 1e-300, 1e300


@tool(title="Calculator", icon="calculate", idempotent=True)
async def calculator(operation: Operation, x: Number, y: Number) -> str:
    """Calculate with two numbers.

    Returns the whole sum, for example "5 + 10 = 15". For longer sums call it once per operation.

    Args:
        operation: What to do with the numbers: x + y, x - y, x * y, x / y, or x to the power of y.
        x: The first number.
        y: The second number.
    """
    return calculated(operation, x, y)  # which is over before a thread would have begun


def calculated(operation: Operation, x: int | float, y: int | float) -> str:
    """The sum, or why there is none."""
    left, right = _decimal(x), _decimal(y)
    if not (left.is_finite() and right.is_finite()):
        return "Error: Both numbers have to be finite"
    if _divides_by_zero(operation, left, right):
        return "Error: Division by zero"
    arithmetic = Context(prec=DIGITS)
    try:
        answer = _answer(arithmetic, operation, left, right)
    except Overflow:
        return f"Error: The result of {_sum(operation, left, right)} is too large"
    except InvalidOperation:
        return f"Error: {_sum(operation, left, right)} is no real number"
    shown = _rounded(answer) if arithmetic.flags[Inexact] else _text(answer)
    return f"{_sum(operation, left, right)} = {shown}"


def _decimal(number: int | float) -> Decimal:
    """The number as it was written: 0.1 is a tenth."""
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))


def _answer(arithmetic: Context, operation: Operation, x: Decimal, y: Decimal) -> Decimal:
    match operation:
        case "add":
            return arithmetic.add(x, y)
        case "subtract":
            return arithmetic.subtract(x, y)
        case "multiply":
            return arithmetic.multiply(x, y)
        case "divide":
            return arithmetic.divide(x, y)
        case "power":
            return arithmetic.power(_BASE.plus(x), y) if y else Decimal(1)


def _divides_by_zero(operation: Operation, x: Decimal, y: Decimal) -> bool:
    return (operation == "divide" and y.is_zero()) or (operation == "power" and x.is_zero() and y < 0)


def _sum(operation: Operation, x: Decimal, y: Decimal) -> str:
    """The left side of the equation."""
    base = f"({_text(x)})" if operation == "power" and x < 0 else _text(x)
    return f"{base} {SYMBOLS[operation]} {_text(y)}"


def _rounded(number: Decimal) -> str:
    """A number that goes on for ever, to the precision that other calculators show."""
    nearest = float(number)
    if SMALLEST_FLOAT < abs(nearest) < LARGEST_FLOAT:
        return _text(Decimal(repr(nearest)))
    return _text(Context(prec=FLOAT_DIGITS).plus(number))


def _text(number: Decimal) -> str:
    """Plain digits, or powers of ten where those would be unreadable."""
    if number.is_zero():
        return "0"
    short = number.normalize(Context(prec=len(number.as_tuple().digits)))
    if -20 < short.adjusted() < DIGITS:
        return f"{short:f}"
    return f"{Context(prec=FLOAT_DIGITS).plus(short).normalize():e}"
