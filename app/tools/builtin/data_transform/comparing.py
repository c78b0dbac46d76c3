"""How cells compare: as numbers where both are or spell one, else as text, so that ISO dates compare by time.

A number is neither greater nor smaller than a text.
"""

import json
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import ConfigDict, JsonValue, WithJsonSchema

from app.domain.reading.numbers import number_in
from app.domain.values import Value
from app.tools.builtin.rows import Row, is_empty

Operator = Literal["=", "!=", ">", ">=", "<", "<=", "contains", "starts_with", "ends_with", "in", "empty", "not_empty"]
OrderKey = tuple[int, Decimal, str]
Operand = Annotated[
    str | int | float | bool | list[str | int | float] | None,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "array", "items": {"type": "string"}}]}),
]
_NOTHING = Decimal(0)


class Condition(Value):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    column: str
    op: Operator
    value: Operand = None
    """A list for `in`."""


def text_of(value: JsonValue) -> str:
    """The cell as it is written in a table."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def order_key(value: JsonValue) -> OrderKey:
    """Numbers come before texts; texts in the order of a dictionary, small and capital letters alike."""
    number = number_in(value)
    return (1, _NOTHING, text_of(value).casefold()) if number is None else (0, number, "")


def same(left: JsonValue, right: JsonValue, *, ignore_case: bool = False) -> bool:
    """True for equal numbers and equal texts; blank text and null are the same."""
    if is_empty(left) or is_empty(right):
        return is_empty(left) and is_empty(right)
    numbers = number_in(left), number_in(right)
    if None not in numbers:
        return numbers[0] == numbers[1]
    return _folded(left, ignore_case) == _folded(right, ignore_case)


def fulfils(row: Row, condition: Condition, *, ignore_case: bool) -> bool:
    cell, value = row.get(condition.column), condition.value
    match condition.op:
        case "empty":
            return is_empty(cell)
        case "not_empty":
            return not is_empty(cell)
        case "=" | "!=":
            choice = value[0] if isinstance(value, list) and len(value) == 1 else value
            wanted: JsonValue = list[JsonValue](choice) if isinstance(choice, list) else choice
            return same(cell, wanted, ignore_case=ignore_case) == (condition.op == "=")
        case "in":
            choices = value if isinstance(value, list) else [value]
            return any(same(cell, choice, ignore_case=ignore_case) for choice in choices)
        case ">" | ">=" | "<" | "<=":
            return not isinstance(value, list) and _ordered(cell, condition.op, value)
        case "contains" | "starts_with" | "ends_with":
            return not isinstance(value, list) and _matches(
                _folded(cell, ignore_case), condition.op, _folded(value, ignore_case)
            )


def comparable(cell: JsonValue, value: JsonValue) -> bool:
    """True when it can be said which of the two is greater: two numbers or two texts."""
    return not is_empty(cell) and not is_empty(value) and order_key(cell)[0] == order_key(value)[0]


def _ordered(cell: JsonValue, operator: Literal[">", ">=", "<", "<="], value: JsonValue) -> bool:
    if not comparable(cell, value):
        return False
    left, right = order_key(cell), order_key(value)
    match operator:
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "<":
            return left < right
        case "<=":
            return left <= right


def _matches(text: str, operator: Literal["contains", "starts_with", "ends_with"], part: str) -> bool:
    match operator:
        case "contains":
            return part in text
        case "starts_with":
            return text.startswith(part)
        case "ends_with":
            return text.endswith(part)


def _folded(value: JsonValue, ignore_case: bool) -> str:
    return text_of(value).strip().casefold() if ignore_case else text_of(value)
