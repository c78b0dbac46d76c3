"""Another user of the computer opens 3,000 connections and says nothing: the owner's page opens all the same."""

import asyncio
import contextlib
import re
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx

from tests.app_process import AppProcess
from tests.faults.door_walk import PICTURED, with_a_picture
from tests.figures import Figure
from tests.waiting import PATIENCE

SILENT = 3000
ALLOWED = 2.0
"""Seconds."""
FILES = 1024
"""What most systems let a process have open before it asks for more."""
SAYING = {"nothing": b"", "half a request": b"GET / HTTP/1.1\r\nHost: 127.0.0.1"}
ANSWERED = (200, 404)
"""The second of the picture, of which only the link is stored."""
PICTURE = re.compile(r"http://127\.0\.0\.1:(\d+)/[\w-]{43}/\d+/[0-9a-f]{64}")


async def run(silent: int = SILENT) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, room_for(silent):
        app = AppProcess(Path(folder) / "data")
        await with_a_picture(app)
        with files_open(FILES):
            app.start()
        try:
            return [await _measured(app, silent, words, said) for words, said in SAYING.items()]
        finally:
            app.stop()


async def _measured(app: AppProcess, silent: int, words: str, said: bytes) -> Figure:
    longest, picture = 0.0, await _picture(app)
    async with opened(app.port, silent, said), opened(httpx.URL(picture).port or 0, silent, said):
        for address in (app.address, f"{app.url}/", f"{app.url}/playground/{PICTURED}", picture):
            longest = max(longest, await _seconds(app, address))
    value = f"{longest:.2f} s with {silent} connections to each port that say {words}"
    return Figure("The owner's page among silent connections", value, f"≤ {ALLOWED} s", longest <= ALLOWED)


async def _seconds(app: AppProcess, address: str) -> float:
    """From a new connection to the whole answer, of a browser that is signed in; infinite where there is none."""
    began = time.monotonic()
    with contextlib.suppress(httpx.HTTPError):
        async with httpx.AsyncClient(timeout=10) as browser:
            if address != app.address:
                await browser.get(app.address)
            if (await browser.get(address)).status_code in ANSWERED:
                return time.monotonic() - began
    return float("inf")


async def _picture(app: AppProcess) -> str:
    """A signed address of the second origin, from a page that shows it: in its panel, and so after its conversation."""
    async with httpx.AsyncClient(timeout=PATIENCE) as browser:
        await browser.get(app.address)
        for _ in range(100):
            page = (await browser.get(f"{app.url}/playground/{PICTURED}")).text
            if (found := PICTURE.search(page)) is not None:
                return found[0]
            await asyncio.sleep(0.1)
    raise RuntimeError("The page shows no picture")


@contextlib.asynccontextmanager
async def opened(port: int, number: int, said: bytes) -> AsyncIterator[None]:
    """So many connections to that port, each of which said that and then nothing; those that fail are left out."""

    async def one() -> asyncio.StreamWriter:
        async with asyncio.timeout(5):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        return writer

    found = await asyncio.gather(*(one() for _ in range(number)), return_exceptions=True)
    yield
    for writer in found:
        if isinstance(writer, asyncio.StreamWriter):
            writer.transport.abort()


@contextlib.contextmanager
def files_open(number: int) -> Iterator[None]:
    """What is started meanwhile may open so many files before it asks for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextlib.contextmanager
def room_for(connections: int) -> Iterator[None]:
    """For both ports at once."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with files_open(hard if hard == resource.RLIM_INFINITY else min(hard, 2 * connections + 1000)):
        yield
