"""Cancels what goes on at its n-th await: the next n, until it ends before that."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any


class AtAwait:
    """A task factory: one task of that coroutine function does something at its `nth` await."""

    def __init__(
        self, function: str, nth: int, act: Callable[[], object] | None = None, *, passed_over: int = 0
    ) -> None:
        """`function` by its qualified name, of which so many tasks are passed over; `act` instead of being cancelled.

        Await 0 is before its first step.
        """
        self.reached = False
        """Whether it came so far."""
        self.found = False
        self._function = function
        self._nth = nth
        self._act = act
        self._passed_over = passed_over

    def __call__(self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **how: Any) -> asyncio.Task:
        is_one = not self.found and getattr(work, "__qualname__", "") == self._function
        self._passed_over -= is_one
        if is_one and self._passed_over < 0:
            self.found = True
            work = self._counted(work)
            if self._nth == 0 and self._act is not None:
                self._act()
        return asyncio.Task(work, loop=loop, **how)

    async def _counted(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await _Steps(work, self._step)

    def _step(self, number: int) -> None:
        if number == self._nth:
            self.reached = True
            task = asyncio.current_task()
            assert task is not None
            (self._act or task.cancel)()


class _Steps:
    """A coroutine that tells of each await before it waits."""

    def __init__(self, work: Coroutine[Any, Any, Any], tell: Callable[[int], None]) -> None:
        self._work = work
        self._tell = tell

    def __await__(self) -> Generator[Any, Any, Any]:
        number, given, raised = 0, None, None
        while True:
            try:
                awaited = self._work.send(given) if raised is None else self._work.throw(raised)
            except StopIteration as ended:
                return ended.value
            number += 1
            self._tell(number)
            given, raised = None, None
            try:
                given = yield awaited
            except BaseException as error:  # noqa: BLE001  handed on to the work
                raised = error
