"""Built-in tools that read what others made: they run as tool files do, in a process that their time-out kills."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from pydantic import JsonValue

from app.domain.tools import CallContext, ToolOutput
from app.late import late
from app.tools.function.authoring import Marks, marks_of
from app.tools.function.tool import Tool

with late():
    from app.tools.worker import file_worker


class ToolApart:
    """A function of the app's own, marked and written as in a tool file; its process starts with the first call."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.spec = Tool(function, **asdict(marks_of(function) or Marks())).spec
        self.label = ""
        self._module = function.__module__
        self._worker: file_worker.FileWorker | None = None

    async def run(self, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
        """Raises what `FileWorker.call` does."""
        self._worker = self._worker or file_worker.FileWorker(Path(self._module), None)
        return await self._worker.call(self.spec.name, arguments, context)

    async def close(self) -> None:
        """End its process."""
        if self._worker is not None:
            await self._worker.close()
