"""The app, printing all its routes once it serves: `python -m tests.listing_app` takes the app's own arguments."""

import asyncio
import dataclasses
import json
import runpy
import tempfile
from pathlib import Path

from nicegui import app as server

from app.api.application import api
from app.workbench import Workbench
from tests.door import targets


async def api_routes() -> list[tuple[str, str]]:
    """Those of the API, which the app makes when it is first asked and mounts as a whole."""
    with tempfile.TemporaryDirectory() as folder:
        workbench = Workbench.open(Path(folder) / "data")
        try:
            return [dataclasses.astuple(target) for target in targets(api(workbench).routes)]
        finally:
            await workbench.close()


if __name__ == "__main__":
    listing: list[asyncio.Task[None]] = []

    async def list_routes() -> None:
        found = [dataclasses.astuple(target) for target in targets(server.routes)] + await api_routes()
        print(f"ROUTES {json.dumps(found)}", flush=True)

    # After the other start hooks, which may add routes too.
    server.on_startup(lambda: listing.append(asyncio.create_task(list_routes())))
    runpy.run_module("app", run_name="__main__", alter_sys=True)
