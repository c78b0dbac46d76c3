"""Sums as lists of operations, each with two operands; an operand is a number or an earlier operation's outcome.

A recursive-descent parser of the usual grammar: `^` binds before `*` and `/`, those before `+` and `-`.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

OperationName = Literal["add", "subtract", "multiply", "divide", "power"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the operation of that index comes to."""

    index: int


Operand = Decimal | Outcome


@dataclass(frozen=True, slots=True)
class Operation:
    name: OperationName
    left: Operand
    right: Operand


class NotASum(ValueError):
    """The text is no arithmetic."""


SIGNS: dict[OperationName, str] = {"add": "+", "subtract": "−", "multiply": "×", "divide": "÷", "power": "^"}

_ADDING: dict[str, OperationName] = {"+": "add", "-": "subtract"}
_MULTIPLYING: dict[str, OperationName] = {"*": "multiply", "/": "divide"}
_SYMBOL = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?|\.\d+|[-+*/^()$]")


def symbols_of(text: str) -> list[str]:
    return _SYMBOL.findall(text)


class Parser:
    """Reads the symbols of one step behind the operations read before it."""

    def __init__(self, symbols: list[str], operations: list[Operation], before: Operand | None) -> None:
        self._symbols = symbols
        self._operations = operations
        self._before = before
        self._place = 0

    def parse(self) -> Operand:
        """What the whole step comes to; its operations are appended. Raises `NotASum`."""
        outcome = self._sum()
        if self._peek():
            raise NotASum(self._peek())
        return outcome

    def _peek(self) -> str:
        return self._symbols[self._place] if self._place < len(self._symbols) else ""

    def _take(self) -> str:
        symbol = self._peek()
        self._place += 1
        return symbol

    def _apply(self, name: OperationName, left: Operand, right: Operand) -> Operand:
        self._operations.append(Operation(name, left, right))
        return Outcome(len(self._operations) - 1)

    def _sum(self) -> Operand:
        left = self._product()
        while name := _ADDING.get(self._peek()):
            self._take()
            left = self._apply(name, left, self._product())
        return left

    def _product(self) -> Operand:
        left = self._signed()
        while name := _MULTIPLYING.get(self._peek()):
            self._take()
            left = self._apply(name, left, self._signed())
        return left

    def _signed(self) -> Operand:
        if self._peek() == "+":
            self._take()
            return self._signed()
        if self._peek() != "-":
            return self._power()
        self._take()
        operand = self._signed()
        return self._apply("multiply", Decimal(-1), operand) if isinstance(operand, Outcome) else -operand

    def _power(self) -> Operand:
        base = self._atom()
        if self._peek() != "^":
            return base
        self._take()
        return self._apply("power", base, self._signed())

    def _atom(self) -> Operand:
        symbol = self._take()
        if symbol == "(":
            inner = self._sum()
            if self._take() != ")":
                raise NotASum("a bracket is not closed")
            return inner
        if symbol == "$" and self._before is not None:
            return self._before
        if not symbol or not (symbol[0].isdigit() or symbol[0] == "."):
            raise NotASum(symbol)
        return Decimal(symbol)
