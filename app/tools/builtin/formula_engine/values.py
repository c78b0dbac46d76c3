"""The values of formulas: numbers are decimal and exact to 34 digits, the rest is text, true or false, and nothing."""

import json
from collections.abc import Callable
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Literal

from pydantic import JsonValue

from app.domain.reading.numbers import number_in, plain

Scalar = Decimal | str | bool | None
Comparison = Literal["=", "<>", "<", "<=", ">", ">="]
LONGEST_TEXT = 32_767
"""Characters, as in a spreadsheet's cell."""
ARITHMETIC = Context(prec=34, Emax=300, Emin=-300, traps=[DivisionByZero, InvalidOperation, Overflow])
_BASE = Context(prec=2 * ARITHMETIC.prec)
"""Digits of a base that count: with thousands of them, a broken power takes seconds, in which all else stands still."""


class FormulaError(Exception):
    """A value could not be calculated; the message says why, in a few words without a full stop."""


def cell(value: JsonValue) -> Scalar:
    """A cell of a row as formulas see it."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        number = number_in(value)
        return str(value) if number is None else number
    return json.dumps(value, ensure_ascii=False)


def out(value: Scalar) -> JsonValue:
    return plain(value) if isinstance(value, Decimal) else value


def number(value: Scalar, where: str = "") -> Decimal:
    """The value as a number; text that spells one counts. Raises `FormulaError`."""
    found = number_or_none(value)
    if found is None:
        raise FormulaError(f"{where + ' is ' if where else ''}{shown(value)}, which is no number")
    return found


def number_or_none(value: Scalar) -> Decimal | None:
    if isinstance(value, Decimal):
        return value
    if isinstance(value, bool):
        return Decimal(int(value))
    return number_in(value)


def text(value: Scalar) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(plain(value)) if isinstance(value, Decimal) else value


def bounded(words: str) -> str:
    if len(words) > LONGEST_TEXT:
        raise FormulaError(f"a text has {len(words):,} characters, {LONGEST_TEXT:,} is the most")
    return words


def truth(value: Scalar) -> bool:
    """Numbers other than zero are true; so is the text TRUE. Raises `FormulaError` for other texts."""
    if value is None:
        return False
    if isinstance(value, bool):
        return value
    if isinstance(value, Decimal):
        return not value.is_zero()
    if value.strip().lower() in ("true", "false", ""):
        return value.strip().lower() == "true"
    raise FormulaError(f"{shown(value)} is neither TRUE nor FALSE")


def compared(left: Scalar, operator: Comparison, right: Scalar) -> bool:
    """As numbers where both are or spell one, else as text without regard to case; nothing equals empty text."""
    numbers = number_or_none(left), number_or_none(right)
    if numbers[0] is not None and numbers[1] is not None:
        return _holds((numbers[0] > numbers[1]) - (numbers[0] < numbers[1]), operator)
    first, second = text(left).strip().casefold(), text(right).strip().casefold()
    return _holds((first > second) - (first < second), operator)


def shown(value: Scalar) -> str:
    if value is None or value == "":
        return "empty"
    return repr(value[:40]) if isinstance(value, str) else text(value)


def power(base: Decimal, exponent: Decimal) -> Decimal:
    return ARITHMETIC.power(_BASE.plus(base), exponent)


def calculated(operation: Callable[[], Decimal]) -> Decimal:
    """What a calculation comes to. Raises `FormulaError` where it comes to nothing."""
    try:
        return operation()
    except DivisionByZero as error:
        raise FormulaError("division by zero") from error
    except Overflow as error:
        raise FormulaError("the number gets too large") from error
    except InvalidOperation as error:
        raise FormulaError("the calculation has no real result") from error


def _holds(order: int, operator: Comparison) -> bool:
    match operator:
        case "=":
            return order == 0
        case "<>":
            return order != 0
        case "<":
            return order < 0
        case "<=":
            return order <= 0
        case ">":
            return order > 0
        case ">=":
            return order >= 0
