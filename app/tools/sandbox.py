"""The Monty sandbox: Python programs in processes without files, network, environment or a way out.

Imported with the first program only: Monty takes 30 to 100 ms to import, and many a day of work needs none of it.
"""

import asyncio
from collections.abc import Callable, Mapping

from pydantic_monty import (
    AsyncMonty,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    OSPolicy,
    ResourceLimits,
)

from app.domain.errors import ToolError, ToolTimedOut
from app.paths import bundled_program

SECONDS = 5
MEGABYTES = 128
LONGEST_CODE = 100_000
"""Characters."""
MOST_WORKERS = 4
GRACE_SECONDS = 0.3
"""After which a worker that does not end by itself is killed."""

LIMITS: ResourceLimits = {
    "max_feed_duration_secs": SECONDS,
    "max_memory": MEGABYTES * 1024 * 1024,
    "max_recursion_depth": 200,
    "max_suspensions": 1_000,
}
POLICY: OSPolicy = {"sleep": "zero"}


class Sandbox:
    """One pool of worker processes, opened with the first program. A worker runs one program and ends."""

    def __init__(self) -> None:
        self._pool: AsyncMonty | None = None
        self._opening = asyncio.Lock()

    async def run(self, code: str, show: Callable[[str], None], inputs: Mapping[str, object] | None = None) -> object:
        """The value of the program's last expression. `show` gets what it prints, from another thread.

        `inputs` are variables that are there when it begins.

        Raises `ToolError` with the program's traceback, `ToolTimedOut` for one that took all of its time. Cancelling
        it kills the worker.
        """
        if len(code) > LONGEST_CODE:
            raise ToolError(f"The code has {len(code):,} characters; {LONGEST_CODE:,} is the most.")
        try:
            pool = await self._opened()
            async with pool.checkout(limits=LIMITS, os_policy=POLICY) as session:
                told = dict(inputs) if inputs else None
                return await session.feed_run(code, inputs=told, print_callback=lambda _stream, text: show(text))
        except (MontySyntaxError, MontyRuntimeError) as error:
            raise _told(error.display()) from None
        except MontyError as error:
            raise ToolError(f"The program was ended by the sandbox: {error}") from None
        except (OSError, RuntimeError) as error:
            raise ToolError(f"The Python sandbox cannot be started on this computer: {error}") from error

    async def close(self) -> None:
        """End all workers."""
        async with self._opening:
            pool, self._pool = self._pool, None
            if pool:
                await pool.__aexit__(None, None, None)

    async def _opened(self) -> AsyncMonty:
        async with self._opening:
            if self._pool is None:
                self._pool = await AsyncMonty(
                    max_processes=MOST_WORKERS,
                    max_checkouts_per_worker=1,
                    feed_duration_limit_grace=GRACE_SECONDS,
                    binary_path=bundled_program("monty"),
                ).__aenter__()
            return self._pool


def _told(display: str) -> ToolError:
    """The program's own error; that its time was over is said in plain words too."""
    if "time limit exceeded" not in display:
        return ToolError(display)
    words = f"The program was stopped after {SECONDS:g} seconds of computing. Let it do less at once."
    return ToolTimedOut(f"{display}\n{words}")
