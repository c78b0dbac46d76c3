"""A server as the views of its tools reach it: what they may call and ask, want to reach, and report."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.apps import AppConsent
from app.domain.errors import WorkbenchError
from app.domain.messages import AppPart
from app.domain.tools import CallContext, ToolOutput, ToolSpec, canonical_name
from app.late import late
from app.tools.mcp.server_log import Clean, ServerLog
from app.tools.ports import McpServers

with late():
    from app.tools.mcp import views

if TYPE_CHECKING:
    from app.tools.mcp.session import McpSession


class ViewServer:
    def __init__(self, session: "McpSession", servers: McpServers, clean: Clean) -> None:
        self._session, self._servers = session, servers
        self.log = ServerLog(clean)
        """What views reported, of all views of the server together."""

    async def returned(
        self, name: str, arguments: Mapping[str, JsonValue], context: CallContext
    ) -> tuple[dict[str, JsonValue], ToolOutput]:
        """All that the call returned, and what of that is the tool's output. Raises like the session's `call`."""
        whole, output = await self._session.signed_in(context, lambda one: one.returned(name, arguments, context))
        return views.plain(whole), output

    async def asked(self, method: str, params: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """What a view asks, other than to call a tool. Raises `ToolError`."""
        return await (await self._session.connected()).asked(method, params)

    def reported(self, view: str, lines: Sequence[str], *, more: int = 0) -> None:
        """Note what that view says that it does; `more`: how much of it was left out."""
        for line in lines:
            self.log.event(f"{view}: {' '.join(line.split())}")
        if more:
            self.log.event(f"{view}: {more:,} more were left out")

    def for_apps(self, own_name: str) -> ToolSpec | None:
        """The tool that its views know under that name, if they may call it."""
        names = self._session.own_names
        ours = next((name for name, own in names.items() if own == own_name), None)
        return next((spec for spec in self._session.agreed if spec.name == ours and "app" in spec.callers), None)

    def label_of(self, name: str) -> str:
        """Whose the tool is and its name, such as `weather › forecast`."""
        server = self._session.server.name
        return f"{server} › {name.removeprefix(f'{canonical_name(server)}__')}"

    async def note_asked(self, view: AppPart) -> None:
        """Remember what the view asks for, so that its owner can allow it."""

        def asked(apps: AppConsent) -> AppConsent:
            clipboard = apps.clipboard_asked or view.clipboard
            return apps.model_copy(
                update={"asked": apps.asked.with_those_of(view.domains), "clipboard_asked": clipboard}
            )

        if asked(self._session.server.apps) != self._session.server.apps:
            with suppress(WorkbenchError):  # the call is over all the same; the next one of it asks again
                await self._change(asked)

    async def change(self, changes: Mapping[str, object]) -> None:
        """Store what is asked or allowed for its views, while its connection goes on."""
        await self._change(lambda apps: apps.model_copy(update=changes))

    async def _change(self, change: Callable[[AppConsent], AppConsent]) -> None:
        stored = await self._servers.change(
            self._session.server.name, lambda server: server.model_copy(update={"apps": change(server.apps)})
        )
        self._session.sealed(stored)
