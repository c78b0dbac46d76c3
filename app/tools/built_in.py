"""The built-in tools as a source, made when they are first looked at: a start needs none of them."""

import asyncio
import os
import threading
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.domain.settings import Preferences
from app.late import late
from app.tools.ports import RunnableTool
from app.tools.registry import BUILT_IN

with late():
    from app.tools import apart
    from app.tools.builtin import execute_python, listed


class BuiltInTools:
    title = BUILT_IN
    revision = 0

    def __init__(
        self, preferences: Callable[[], Preferences], environment: Callable[[], Mapping[str, str]] = lambda: os.environ
    ) -> None:
        """`preferences` say which hosts may be asked and who searches the web, `environment` holds the keys."""
        self._preferences = preferences
        self._environment = environment
        self._making = threading.Lock()
        self._tools: dict[str, RunnableTool] = {}
        self._python: execute_python.PythonTool | None = None

    def tools(self) -> Mapping[str, RunnableTool]:
        """All of them; takes 0.1 s the first time, and may be called from any thread."""
        with self._making:
            if not self._tools:
                self._python = execute_python.PythonTool()
                made = listed.builtin_tools(self._python, self._preferences, self._environment)
                self._tools = {tool.spec.name: tool for tool in made}
        return self._tools

    async def python(self, code: str, inputs: Mapping[str, JsonValue]) -> JsonValue:
        """The value of a program in the sandbox, which reads `inputs`. Raises `ToolError`."""
        await asyncio.to_thread(self.tools)
        if self._python is None:
            raise ToolError("The Python sandbox is not there.")
        return await self._python.value(code, inputs)

    def hold(self) -> Callable[[], None]:
        """They never change."""
        return lambda: None

    async def close(self) -> None:
        """End the processes of the sandbox and of tools that have their own."""
        for tool in self._tools.values():
            if isinstance(tool, apart.ToolApart):
                await tool.close()
        if self._python is not None:
            await self._python.close()
