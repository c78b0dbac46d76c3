"""Paths and formulas over JSON, by the engines of the built-in tools: no Python is run, and their work is bounded."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.domain.reading.expressions import BadExpression
from app.late import late
from app.tools.builtin.formula_engine.values import FormulaError, out

with late():  # JMESPath takes 20 ms to import, Lark 60
    from app.tools.builtin.formula_engine import compiler, grammar
    from app.tools.builtin.json_utils import query

if TYPE_CHECKING:
    from jmespath.visitor import _TreeNode


class JsonExpressions:
    """`Expressions` over JMESPath and the spreadsheet formulas of `formula_engine`."""

    def find(self, document: JsonValue, path: str) -> JsonValue:
        try:
            return query.query(document, path)
        except ToolError as error:
            raise BadExpression(str(error)) from error

    def calculate(self, formula: str, fields: Mapping[str, JsonValue]) -> JsonValue:
        try:
            compiled = compiler.Formula(grammar.parse(formula), list(fields))
            compiled.enter([fields], [1])
            return out(compiled.value(fields))
        except ToolError as error:
            raise BadExpression(str(error)) from error
        except FormulaError as error:
            raise BadExpression(f"{formula} has no value: {error}.") from error

    def names_in_path(self, path: str) -> tuple[str, ...]:
        try:
            return _names_in_path(path)
        except ToolError as error:
            raise BadExpression(str(error)) from error
        except RecursionError as error:
            raise BadExpression("The expression has too many brackets in each other.") from error

    def names_in_formula(self, formula: str) -> tuple[str, ...]:
        try:
            return _names_in_formula(formula)
        except ToolError as error:
            raise BadExpression(str(error)) from error


@lru_cache(maxsize=2_000)  # while a workflow is built, nearly all of its expressions are those of the check before
def _names_in_path(path: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_fields_of_all(query.parsed(path), path)))


def _fields_of_all(node: "_TreeNode", path: str) -> Iterator[str]:
    """What is looked up in the whole document, not in a part of it that was found."""
    children = node["children"]
    match node["type"]:
        case "field":
            yield node["value"]
        case "current" | "identity":
            raise ToolError(f"{path!r} begins with no name. Begin it with the name of what it is to look into.")
        case "expref" | "literal":
            return
        case (
            "function_expression"
            | "multi_select_list"
            | "multi_select_dict"
            | "key_val_pair"
            | ("or_expression" | "and_expression" | "not_expression" | "comparator")
        ):
            for child in children:
                yield from _fields_of_all(child, path)
        case _:
            yield from _fields_of_all(children[0], path)


@lru_cache(maxsize=2_000)
def _names_in_formula(formula: str) -> tuple[str, ...]:
    tree = grammar.parse(formula)
    written = (str(one.children[0]) for one in tree.iter_subtrees() if one.data in ("name", "bracketed"))
    names = [word[1:-1].strip() if word[0] in "[`" else word for word in written]
    columns = [name for name in names if name.upper() not in compiler.CONSTANTS]
    return tuple(compiler.Formula(tree, columns).used)
