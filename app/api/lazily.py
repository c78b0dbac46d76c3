"""The API, made when it is first asked: the app's pages start without it."""

import asyncio
from importlib import import_module

from starlette.types import ASGIApp, Receive, Scope, Send

from app.workbench import Workbench


class LazyApi:
    """An ASGI app, mounted, that makes the API with its first request, or before."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._app: ASGIApp | None = None
        self._making = asyncio.Lock()

    async def warm(self) -> None:
        """Make it off the event loop, if it is not made yet."""
        async with self._making:
            if self._app is None:
                self._app = await asyncio.to_thread(_api, self._workbench)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            await self.warm()
        if self._app is not None:
            # Its routes know their whole path, whatever it is mounted at.
            await self._app({**scope, "root_path": ""}, receive, send)


def _api(workbench: Workbench) -> ASGIApp:
    app: ASGIApp = import_module("app.api.application").api(workbench)
    return app
