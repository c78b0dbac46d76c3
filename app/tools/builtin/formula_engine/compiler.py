"""A formula's tree made a function of a row.

What works on all rows, `SUM(amount)`, is calculated once for each group, those inside others first; in the function of
the row it is a value that is already there.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.tools.builtin.formula_engine.aggregates import AGGREGATES, Aggregate, LeftOut, Range
from app.tools.builtin.formula_engine.functions import FUNCTIONS, Function
from app.tools.builtin.formula_engine.operators import chained, percent, signed
from app.tools.builtin.formula_engine.values import FormulaError, Scalar, cell, truth
from app.tools.builtin.rows import no_column

if TYPE_CHECKING:
    from lark import Token, Tree

Row = Mapping[str, JsonValue]
Evaluate = Callable[[Row], Scalar]
_OTHER_NAMES = {"AVG": "AVERAGE", "MEAN": "AVERAGE", "CONCATENATE": "CONCAT"}
CONSTANTS: dict[str, Scalar] = {"TRUE": True, "FALSE": False, "NULL": None}
_LAZY = {"IF": (2, 3), "IFERROR": (2, 2), "AND": (1, 50), "OR": (1, 50)}


@dataclass(frozen=True, slots=True)
class Node:
    evaluate: Evaluate
    per_row: bool
    """True when the value differs from row to row."""


@dataclass(frozen=True, slots=True)
class Aggregation:
    """A function of all rows in a formula."""

    name: str
    function: Aggregate
    arguments: tuple[Node, ...]


class Formula:
    """A compiled formula. It keeps the values of one group: evaluate groups one after the other."""

    def __init__(self, tree: "Tree[Token]", columns: Sequence[str]) -> None:
        """Raises `ToolError` for columns and functions that are not there."""
        self._columns = columns
        self._aggregations: list[Aggregation] = []
        self._totals: list[Scalar | FormulaError] = []
        self.used: list[str] = []
        """The columns in it."""
        self.size = 0
        """Nodes: the work for each row."""
        self._root = self._node(tree.children[-1])
        self.per_row = self._root.per_row

    def enter(self, rows: Sequence[Row], numbers: Sequence[int]) -> list[str]:
        """Calculate what works on all of these rows, of these numbers; gives back notes about what was left out."""
        self._totals.clear()
        notes: list[str] = []
        for one in self._aggregations:
            left_out = LeftOut(one.name)
            self._totals.append(_total(one, rows, numbers, left_out))
            notes += [left_out.note] if left_out.cells else []
        return notes

    def value(self, row: Row) -> Scalar:
        """The formula for a row of the group. Raises `FormulaError`."""
        return self._root.evaluate(row)

    def _node(self, tree: "Tree[Token] | Token") -> Node:
        self.size += 1
        children = [] if isinstance(tree, str) else tree.children
        match "" if isinstance(tree, str) else tree.data:
            case "number" | "text":
                return _constant(_literal(str(children[0])))
            case "name" | "bracketed":
                return self._name(children[0])
            case "call" | "call_of_all":
                return self._call(children)
            case "percent":
                return self._percent(children)
            case "signed":
                return self._signed(children)
            case _:
                return self._chain(children)

    def _name(self, token: "Tree[Token] | Token") -> Node:
        written = str(token)
        name = written[1:-1].strip() if written[:1] in "[`" else written
        column = self._column(name)
        if column is None and name.upper() in CONSTANTS:
            return _constant(CONSTANTS[name.upper()])
        if column is None:
            hint = f" {name} is a function: write {name}(…)." if name.upper() in _known() else ""
            raise ToolError(f"{_place(token)}: {no_column(name, self._columns)}{hint} Texts stand in quotes.")
        found = column
        self.used += [] if found in self.used else [found]
        return Node(lambda row: cell(row.get(found)), per_row=True)

    def _column(self, name: str) -> str | None:
        """The column of that name, written with other capital letters or blanks where only one fits."""
        if name in self._columns:
            return name
        near = [column for column in self._columns if _folded(column) == _folded(name)]
        return near[0] if len(near) == 1 else None

    def _call(self, children: "Sequence[Tree[Token] | Token]") -> Node:
        written = str(children[0]).upper()
        name = _OTHER_NAMES.get(written, written)
        arguments = [self._node(child) for child in children[1:] if not isinstance(child, str)]
        if name in AGGREGATES:
            function = AGGREGATES[name]
            _check_count(children[0], name, len(arguments), function.fewest, function.most)
            return self._aggregation(name, function, arguments)
        if name in _LAZY:
            _check_count(children[0], name, len(arguments), *_LAZY[name])
            return Node(_lazy(name, [node.evaluate for node in arguments]), any(node.per_row for node in arguments))
        if name not in FUNCTIONS:
            near = difflib.get_close_matches(name, _known(), n=2)
            guess = f" Did you mean {' or '.join(near)}?" if near else ""
            raise ToolError(
                f"{_place(children[0])}: there is no function {name}.{guess} There are: {', '.join(_known())}."
            )
        _check_count(children[0], name, len(arguments), FUNCTIONS[name].fewest, FUNCTIONS[name].most)
        return _eager(FUNCTIONS[name], arguments)

    def _aggregation(self, name: str, function: Aggregate, arguments: Sequence[Node]) -> Node:
        counts_rows = name == "COUNT" and not arguments
        nodes = (Node(lambda _: Decimal(1), per_row=True),) if counts_rows else tuple(arguments)
        self._aggregations.append(Aggregation(name, function, nodes))
        place = len(self._aggregations) - 1

        def evaluate(_: Row) -> Scalar:
            total = self._totals[place]
            if isinstance(total, FormulaError):
                raise total
            return total

        return Node(evaluate, per_row=False)

    def _percent(self, children: "Sequence[Tree[Token] | Token]") -> Node:
        node, count = self._node(children[0]), len(children) - 1
        return Node(lambda row: percent(node.evaluate(row), count), node.per_row)

    def _signed(self, children: "Sequence[Tree[Token] | Token]") -> Node:
        node = self._node(children[-1])
        negative = sum(str(sign) != "+" for sign in children[:-1]) % 2 == 1
        return Node(lambda row: signed(node.evaluate(row), negative=negative), node.per_row)

    def _chain(self, children: "Sequence[Tree[Token] | Token]") -> Node:
        nodes = [self._node(child) for child in children[::2]]
        signs = [str(sign) for sign in children[1::2]]
        return Node(chained([node.evaluate for node in nodes], signs), any(node.per_row for node in nodes))


def _constant(value: Scalar) -> Node:
    return Node(lambda _: value, per_row=False)


def _eager(function: Function, arguments: Sequence[Node]) -> Node:
    evaluations = [node.evaluate for node in arguments]
    return Node(
        lambda row: function.apply([evaluate(row) for evaluate in evaluations]),
        any(node.per_row for node in arguments),
    )


def _lazy(name: str, arguments: Sequence[Evaluate]) -> Evaluate:
    """What does not look at all of its arguments."""
    match name:
        case "IF":
            return lambda row: _if(row, *arguments)
        case "IFERROR":
            return lambda row: _if_error(row, *arguments)
        case "AND":
            return lambda row: all(truth(argument(row)) for argument in arguments)
        case _:
            return lambda row: any(truth(argument(row)) for argument in arguments)


def _if(row: Row, condition: Evaluate, then: Evaluate, otherwise: Evaluate | None = None) -> Scalar:
    if truth(condition(row)):
        return then(row)
    return otherwise(row) if otherwise else False


def _if_error(row: Row, attempt: Evaluate, otherwise: Evaluate) -> Scalar:
    try:
        return attempt(row)
    except FormulaError:
        return otherwise(row)


def _total(one: Aggregation, rows: Sequence[Row], numbers: Sequence[int], left_out: LeftOut) -> Scalar | FormulaError:
    try:
        ranges = [_range(node, rows, numbers, left_out) for node in one.arguments]
        return one.function.apply(ranges, left_out)
    except FormulaError as error:
        return error


def _range(node: Node, rows: Sequence[Row], numbers: Sequence[int], left_out: LeftOut) -> Range:
    if not node.per_row:
        return Range([node.evaluate({})], [0])
    values: list[Scalar] = []
    places: list[int] = []
    for number, row in zip(numbers, rows, strict=True):
        try:
            values.append(node.evaluate(row))
            places.append(number)
        except FormulaError as error:
            left_out.cells.append(f"row {number} ({error})")
    return Range(values, places)


def _check_count(token: "Tree[Token] | Token", name: str, count: int, fewest: int, most: int) -> None:
    if not fewest <= count <= most:
        takes = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        plural = "argument" if takes == "1" else "arguments"
        raise ToolError(f"{_place(token)}: {name} takes {takes} {plural}, not {count}.")


def _literal(token: str) -> Scalar:
    if token[0] in ".0123456789":
        return Decimal(token)
    quote = '"' if token[0] == "“" else token[0]
    return token[1:-1].replace(quote * 2, quote)


def _place(token: "Tree[Token] | Token") -> str:
    return f"Position {(getattr(token, 'start_pos', None) or 0) + 1}"


def _folded(name: str) -> str:
    return name.replace("_", " ").casefold().strip()


def _known() -> list[str]:
    return sorted([*FUNCTIONS, *AGGREGATES, *_LAZY])
