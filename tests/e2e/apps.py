"""The app as the tests of a file need it: on a folder of theirs, which is filled before it starts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from app.workbench import Workbench
from tests.app_process import AppProcess

Seed = Callable[[Path], Coroutine[None, None, None]]
"""Writes into the data folder."""


@contextmanager
def app_on(
    folder: Path, seed: Seed | None = None, *, module: str = "app", environment: dict[str, str] | None = None
) -> Iterator[AppProcess]:
    """The app, or the module in its place, on this data folder after `seed` has filled it."""
    if seed is not None:
        with ThreadPoolExecutor(1) as beside:  # Playwright's own event loop runs in this thread
            beside.submit(lambda: asyncio.run(seed(folder))).result()
    app = AppProcess(folder, module=module, environment=environment)
    app.start()
    yield app
    app.stop()


@asynccontextmanager
async def workbench_on(folder: Path) -> AsyncIterator[Workbench]:
    """The workbench of this data folder, with the sample agents."""
    workbench = Workbench.open(folder)
    await workbench.start()
    try:
        yield workbench
    finally:
        await workbench.close()
