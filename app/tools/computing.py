"""What nodes of workflows calculate with: paths and formulas over JSON, and Python in the sandbox."""

from collections.abc import Mapping

from pydantic import JsonValue

from app.tools.built_in import BuiltInTools
from app.tools.expressions import JsonExpressions


class NodeComputing(JsonExpressions):
    def __init__(self, built_in: BuiltInTools) -> None:
        self._built_in = built_in

    async def python(self, code: str, inputs: Mapping[str, JsonValue]) -> JsonValue:
        return await self._built_in.python(code, inputs)
