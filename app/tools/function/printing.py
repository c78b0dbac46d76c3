"""What a tool prints while it is called: shown at once, kept for its result, and bounded."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Self

from app.domain.messages import AppPart, FilePart, ImagePart
from app.domain.tools import Answer, CallContext, Progress, Question, SessionFiles, Task, TaskEnd, ToolSpec, Workspace

LONGEST_PRINT = 65_536
"""Characters that are kept; what comes after them is counted."""


class PrintingContext:
    """A call's context that keeps what was printed. Printing is safe from any thread."""

    def __init__(self, context: CallContext) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._home = threading.get_ident()
        self._lock = threading.Lock()
        self._kept: list[str] = []
        self._room = LONGEST_PRINT
        self._lost = 0
        self._ended = False

    @classmethod
    def of(cls, context: CallContext) -> Self:
        """The context itself when it is one already."""
        return context if isinstance(context, cls) else cls(context)

    @property
    def call_id(self) -> str:
        return self._context.call_id

    @property
    def files(self) -> SessionFiles:
        return self._context.files

    @property
    def began_with(self) -> Workspace:
        return self._context.began_with

    @property
    def unsent(self) -> Sequence[ToolSpec]:
        return self._context.unsent

    def load(self, names: Sequence[str]) -> None:
        self._context.load(names)

    def printed(self, text: str) -> None:
        with self._lock:
            shown = text[: self._room]
            self._room -= len(shown)
            self._lost += len(text) - len(shown)
            if shown and not self._ended:
                self._show(shown)

    def progressed(self, progress: Progress) -> None:
        self._at_home(lambda: self._context.progressed(progress))

    async def keep(self, content: bytes, *, media_type: str, filename: str) -> ImagePart | FilePart:
        return await self._context.keep(content, media_type=media_type, filename=filename)

    def bring(self, view: AppPart) -> None:
        self._context.bring(view)

    async def result(self, ref: str) -> bytes:
        return await self._context.result(ref)

    async def ask(self, question: Question, until: "asyncio.Future[Answer] | None" = None) -> Answer:
        return await self._context.ask(question, until)

    async def spawn(self, task: Task) -> str:
        return await self._context.spawn(task)

    async def join(self, task_id: str) -> TaskEnd:
        return await self._context.join(task_id)

    def finish(self) -> str:
        """All that was printed, with a word on what was too much. What is printed afterwards is dropped."""
        with self._lock:
            if self._lost and not self._ended:
                self._show(f"\n[… {self._lost:,} more characters were printed and not kept]")
            self._ended = True
            return "".join(self._kept)

    def _show(self, text: str) -> None:
        self._kept.append(text)
        self._at_home(lambda: self._context.printed(text))

    def _at_home(self, show: Callable[[], None]) -> None:
        if threading.get_ident() == self._home:
            show()
        else:
            self._loop.call_soon_threadsafe(show)
