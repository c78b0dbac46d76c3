"""The app, printing all its routes once it serves: `python -m tests.listing_app` takes the app's own arguments."""

import asyncio
import dataclasses
import json
import runpy

from nicegui import app as server

from tests.door import targets

if __name__ == "__main__":

    def list_routes() -> None:
        found = [dataclasses.astuple(target) for target in targets(server.routes)]
        print(f"ROUTES {json.dumps(found)}", flush=True)

    # After the other start hooks, which may add routes too.
    server.on_startup(lambda: asyncio.get_running_loop().call_soon(list_routes))
    runpy.run_module("app", run_name="__main__", alter_sys=True)
