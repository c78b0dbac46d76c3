"""The app, printing which of its pages it has read: `python -m tests.reading_app` takes the app's own arguments."""

import asyncio
import runpy
import sys

from nicegui import app as server

from app.late import is_read


async def tell() -> None:
    told: set[str] = set()
    while True:
        read = {name for name, module in list(sys.modules.items()) if module and is_read(module)}
        for name in sorted(read - told):
            if name.startswith("app.ui.") and name.endswith("_page"):
                print(f"READ {name}", flush=True)
        told |= read
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    telling: list[asyncio.Task[None]] = []
    server.on_startup(lambda: telling.append(asyncio.create_task(tell())))
    server.on_shutdown(lambda: [one.cancel() for one in telling])
    runpy.run_module("app", run_name="__main__", alter_sys=True)
