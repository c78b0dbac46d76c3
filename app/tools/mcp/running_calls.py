"""The calls of one server that have not come back yet: whom its questions and messages belong to."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from app.domain.tools import Answer, CallContext, Question


class RunningCalls:
    def __init__(self) -> None:
        self._asked: dict[int, tuple[CallContext, set[asyncio.Task[Answer]]]] = {}

    @contextmanager
    def running(self, context: CallContext) -> Iterator[None]:
        """What a call asked is taken back when the call ends."""
        key = id(context)
        self._asked[key] = (context, set())
        try:
            yield
        finally:
            _, tasks = self._asked.pop(key)
            for task in tasks:
                task.cancel()

    def printed(self, text: str) -> None:
        """Show a message at the call that it must belong to: the only one there is."""
        if len(self._asked) == 1:
            [(context, _)] = self._asked.values()
            context.printed(text)

    async def ask(self, question: Question) -> Answer:
        """The person's answer; `decline` when it cannot be known which call asks, `cancel` when that call ended."""
        if len(self._asked) != 1:
            return Answer(decision="decline")
        [(context, tasks)] = self._asked.values()
        task = asyncio.ensure_future(context.ask(question))
        tasks.add(task)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
        return Answer(decision="cancel") if task.cancelled() else task.result()
