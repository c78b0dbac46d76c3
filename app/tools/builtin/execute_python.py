"""Python for the model, in a sandbox."""

import asyncio
import re
from collections.abc import Mapping

from pydantic import JsonValue
from pydantic_core import PydanticSerializationError, from_json, to_json

from app.domain.errors import ToolError
from app.domain.tools import CallContext, ToolOutput
from app.late import late, read
from app.tools.function.printing import PrintingContext
from app.tools.function.tool import AnyTool, Tool

SLEEP = re.compile(r"\bsleep\(")
AWAKE = "(The sandbox does not sleep: every sleep in the program returned at once.)"

with late():  # Monty takes up to 100 ms to import
    from app.tools import sandbox
    from app.tools.function import preview


class PythonTool:
    """Opens its sandbox with the first call."""

    def __init__(self) -> None:
        self._sandbox: sandbox.Sandbox | None = None

    def tool(self) -> AnyTool:
        return Tool(self.execute_python, title="Python", icon="terminal")

    async def execute_python(self, code: str, context: CallContext) -> ToolOutput:
        """Run a Python program in a sandbox and get what it prints and the value of its last expression.

        Every call starts from nothing: no variables, files, network, environment or packages. Limits: 5 seconds of
        computing, 128 MB of memory, 200 nested calls, 64 kB of printed text. Nothing sleeps: sleep() returns at once.

        There are functions, closures, lambdas, comprehensions, f-strings, try, with, match, plain classes,
        dataclasses, async and await, and the modules asyncio, base64, bisect, collections, copy, csv, dataclasses,
        datetime, decimal, functools, hashlib, itertools, json, math, os.path, pathlib, random, re, sys, time, tomllib
        and typing. There are no: inheritance between classes, generators (yield), del, @property, @staticmethod,
        @classmethod, input(), open(), nor the modules statistics, string, io, uuid, enum, abc, textwrap, fractions,
        operator, heapq, numpy and pandas. Write such things out in plain Python.

        Args:
            code: The whole program. Print what matters, or end with an expression.
        """
        printing = PrintingContext.of(context)
        try:
            value = await (await self._opened()).run(code, printing.printed)
        except ToolError as error:
            raise type(error)(_joined(printing.finish(), str(error))) from None
        printed = printing.finish()
        shown = await asyncio.to_thread(_shown, printed, value)
        return ToolOutput.of_text(f"{shown.rstrip()}\n{AWAKE}" if SLEEP.search(code) else shown, printed)

    async def value(self, code: str, inputs: Mapping[str, JsonValue]) -> JsonValue:
        """The value of the program's last expression, which reads `inputs`, as JSON. Raises `ToolError`."""
        value = await (await self._opened()).run(code, lambda _text: None, {"inputs": dict(inputs)})
        try:
            return _as_json(value)
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            raise ToolError(f"The value of the last expression is nothing that JSON can say: {error}") from None

    async def close(self) -> None:
        if self._sandbox:
            await self._sandbox.close()

    async def _opened(self) -> "sandbox.Sandbox":
        if self._sandbox is None:
            await asyncio.to_thread(read, sandbox)
        self._sandbox = self._sandbox or sandbox.Sandbox()
        return self._sandbox


def _as_json(value: object) -> JsonValue:
    told: JsonValue = from_json(to_json(value, inf_nan_mode="null"))
    return told


def _shown(printed: str, value: object) -> str:
    """What the model is told: the printed text, and the value behind `=>` where both are there."""
    if value is None:
        return printed or "(no output)"
    shown = preview.preview(value)
    return _joined(printed, f"=> {shown}") if printed else shown


def _joined(printed: str, rest: str) -> str:
    return f"{printed.rstrip()}\n{rest}" if printed.strip() else rest
