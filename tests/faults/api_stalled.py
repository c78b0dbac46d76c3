"""Ten clients connect to the stream of a run of 20,000 events and never read: they cost nothing, and are sent away."""

import asyncio
import contextlib
import tempfile
import time
from pathlib import Path

import psutil

from app.api.following.sockets import PATIENCE
from tests.app_process import AppProcess
from tests.figures import Figure
from tests.seeds import seed_long_run

CLIENTS = 10
EVENTS = 20_000
SETTLED = 12
"""Seconds in which the trace is read, and the app warms what it serves later."""
LATE = 15
"""Seconds that a busy machine takes until what a client is sent fills its buffer."""
ALLOWED = 16
"""MB for all of them together, beside the trace, which is in memory while it is read."""
CLOSES = (b"too slowly", b"ping timeout")
"""What ends the reason of a close: ours where the client reads again in time, else that of the server's ping."""
HANDSHAKE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


async def run(clients: int = CLIENTS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        run_id = await seed_long_run(Path(folder) / "data", EVENTS)
        app = AppProcess(Path(folder) / "data")
        try:
            app.start()
            return await _stalled(app, run_id, clients)
        finally:
            app.stop()


async def _stalled(app: AppProcess, run_id: str, count: int) -> list[Figure]:
    process = psutil.Process(app.pid)
    clients = [await _connected(app, run_id)]
    await asyncio.sleep(SETTLED)
    before = most = process.memory_info().rss
    clients += [await _connected(app, run_id) for _ in range(count - 1)]
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE + LATE:
        most = max(most, process.memory_info().rss)
        await asyncio.sleep(0.2)
    told = [await _last_words(reader, writer) for reader, writer in clients]
    ours, pings = (sum(words in one for one in told) for words in CLOSES)
    away, megabytes = ours + pings, (most - before) / 1e6
    value = f"{away} of {count} closed in words ({ours} × too slow, {pings} × ping timeout)"
    return [
        Figure("memory of clients that never read", f"{megabytes:.0f} MB", f"≤ {ALLOWED} MB", megabytes <= ALLOWED),
        Figure("clients that never read", value, "all", away == count),
    ]


async def _last_words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """What a client that reads at last reads at the end."""
    end = b""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(20):
            while not any(words in end for words in CLOSES) and (piece := await reader.read(1_000_000)):
                end = end[-200:] + piece
    writer.close()
    return end


async def _connected(app: AppProcess, run_id: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client whose buffer is full at once, and stays so."""
    reader, writer = await asyncio.open_connection("127.0.0.1", app.port, limit=1)
    head = f"GET /api/v1/runs/{run_id}/stream HTTP/1.1\r\nHost: 127.0.0.1:{app.port}\r\nX-API-Key: {app.token}\r\n"
    writer.write(f"{head}{HANDSHAKE}\r\n".encode())
    await reader.read(1)
    writer.transport.pause_reading()
    return reader, writer
