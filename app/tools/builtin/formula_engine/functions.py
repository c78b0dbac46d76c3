"""The functions of formulas that work on single values; each gets the values of its arguments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, ROUND_UP, Decimal

from app.domain.errors import ToolError
from app.tools.builtin.date_utils.moments import moment
from app.tools.builtin.formula_engine.values import (
    ARITHMETIC,
    LONGEST_TEXT,
    FormulaError,
    Scalar,
    bounded,
    calculated,
    number,
    power,
    shown,
    text,
    truth,
)

Values = Sequence[Scalar]
MOST_DIGITS = 30


@dataclass(frozen=True, slots=True)
class Function:
    fewest: int
    most: int
    apply: Callable[[Values], Scalar]


def whole(value: Scalar, *, fewest: int, most: int, what: str) -> int:
    """A whole number within bounds. Raises `FormulaError`."""
    found = number(value)
    if not fewest <= found <= most:
        raise FormulaError(f"{what} is {shown(value)}, it has to be from {fewest} to {most}")
    return int(found)


def _rounded(mode: str) -> Callable[[Values], Scalar]:
    def apply(values: Values) -> Scalar:
        digits = (
            whole(values[1], fewest=-MOST_DIGITS, most=MOST_DIGITS, what="the number of digits") if values[1:] else 0
        )
        given = number(values[0])
        if given.adjusted() + digits >= MOST_DIGITS:
            return given
        return calculated(lambda: given.quantize(Decimal(1).scaleb(-digits), rounding=mode, context=ARITHMETIC))

    return apply


def _modulo(values: Values) -> Scalar:
    """With the sign of the divisor, as in spreadsheets."""
    left, right = number(values[0]), number(values[1])
    rest = calculated(lambda: ARITHMETIC.remainder(left, right) if right else ARITHMETIC.divide(Decimal(1), right))
    return ARITHMETIC.add(rest, right) if rest and (rest < 0) != (right < 0) else rest


def _length(value: Scalar, what: str) -> int:
    return whole(value, fewest=0, most=LONGEST_TEXT, what=what)


def _left(values: Values) -> Scalar:
    return text(values[0])[: _length(values[1], "the length") if values[1:] else 1]


def _right(values: Values) -> Scalar:
    words, length = text(values[0]), _length(values[1], "the length") if values[1:] else 1
    return words[max(0, len(words) - length) :]


def _mid(values: Values) -> Scalar:
    start = whole(values[1], fewest=1, most=LONGEST_TEXT, what="the start") - 1
    return text(values[0])[start : start + _length(values[2], "the length")]


def _substitute(values: Values) -> Scalar:
    words, old, new = map(text, values)
    if old and len(words) + words.count(old) * (len(new) - len(old)) > LONGEST_TEXT:
        raise FormulaError(f"the text gets longer than {LONGEST_TEXT:,} characters")
    return words.replace(old, new) if old else words


def _date(values: Values) -> Scalar:
    """The day as ISO text; months and days beyond their end run on, as in spreadsheets."""
    year = whole(values[0], fewest=1, most=9999, what="the year")
    month = whole(values[1], fewest=-1200, most=1200, what="the month") - 1
    day = whole(values[2], fewest=-100_000, most=100_000, what="the day")
    try:
        return (date(year + month // 12, month % 12 + 1, 1) + timedelta(days=day - 1)).isoformat()
    except (ValueError, OverflowError) as error:
        raise FormulaError("the date is out of the calendar of years 1 to 9999") from error


def day_of(value: Scalar) -> date:
    """The day that a text names. Raises `FormulaError` for what is no date, and for an ambiguous one."""
    try:
        found = moment(text(value))
    except ToolError as error:
        raise FormulaError(f"{shown(value)} is no date") from error
    if found.notes:
        raise FormulaError(f"{shown(value)} is an ambiguous date, make it an ISO date first")
    return found.when.date()


FUNCTIONS: dict[str, Function] = {
    "ROUND": Function(1, 2, _rounded(ROUND_HALF_UP)),
    "ROUNDUP": Function(1, 2, _rounded(ROUND_UP)),
    "ROUNDDOWN": Function(1, 2, _rounded(ROUND_DOWN)),
    "INT": Function(1, 1, lambda values: number(values[0]).to_integral_value(ROUND_FLOOR)),
    "ABS": Function(1, 1, lambda values: abs(number(values[0]))),
    "SQRT": Function(1, 1, lambda values: calculated(lambda: ARITHMETIC.sqrt(number(values[0])))),
    "POWER": Function(2, 2, lambda values: calculated(lambda: power(number(values[0]), number(values[1])))),
    "MOD": Function(2, 2, _modulo),
    "CONCAT": Function(1, 50, lambda values: bounded("".join(map(text, values)))),
    "UPPER": Function(1, 1, lambda values: text(values[0]).upper()),
    "LOWER": Function(1, 1, lambda values: text(values[0]).lower()),
    "PROPER": Function(1, 1, lambda values: text(values[0]).title()),
    "TRIM": Function(1, 1, lambda values: " ".join(text(values[0]).split())),
    "LEN": Function(1, 1, lambda values: Decimal(len(text(values[0])))),
    "LEFT": Function(1, 2, _left),
    "RIGHT": Function(1, 2, _right),
    "MID": Function(3, 3, _mid),
    "SUBSTITUTE": Function(3, 3, _substitute),
    "VALUE": Function(1, 1, lambda values: number(values[0])),
    "DATE": Function(3, 3, _date),
    "DAYS": Function(2, 2, lambda values: Decimal((day_of(values[0]) - day_of(values[1])).days)),
    "YEAR": Function(1, 1, lambda values: Decimal(day_of(values[0]).year)),
    "MONTH": Function(1, 1, lambda values: Decimal(day_of(values[0]).month)),
    "DAY": Function(1, 1, lambda values: Decimal(day_of(values[0]).day)),
    "NOT": Function(1, 1, lambda values: not truth(values[0])),
    "ISBLANK": Function(1, 1, lambda values: not text(values[0]).strip()),
}
