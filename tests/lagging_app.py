"""The app, telling whenever its event loop was stopped for longer than 30 ms, by the processor time that passed."""

import asyncio
import sys
import time

from nicegui import app as server

from app.__main__ import main

TOLD = 0.03


async def probe() -> None:
    before = time.process_time()
    while True:
        await asyncio.sleep(0.002)
        now = time.process_time()  # a machine that is busy with something else takes none of it
        if now - before > TOLD:
            print(f"STOPPED {(now - before) * 1000:.0f} ms", flush=True)
        before = now


async def start_probe() -> None:
    server.state.probe = asyncio.create_task(probe())


if __name__ == "__main__":
    server.on_startup(start_probe)
    sys.exit(main())
