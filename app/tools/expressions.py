"""Paths and formulas over JSON, by the engines of the built-in tools: no Python is run, and their work is bounded."""

from collections.abc import Mapping

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.domain.reading.expressions import BadExpression
from app.late import late
from app.tools.builtin.formula_engine.values import FormulaError, out

with late():  # JMESPath takes 20 ms to import, Lark 60
    from app.tools.builtin.formula_engine import compiler, grammar
    from app.tools.builtin.json_utils import query


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
