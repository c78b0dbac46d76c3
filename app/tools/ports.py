"""What the registry takes tools from, as shapes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pydantic import JsonValue

from app.domain.tool_settings import McpServer, ToolSetting, TrustedFile
from app.domain.tools import CallContext, ToolOutput, ToolSpec


class RunnableTool(Protocol):
    """A tool of any kind: built in, of a file, of an MCP server, of a form."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def label(self) -> str:
        """Whose it is and its name, such as `weather › forecast`; empty for a tool of the app itself."""
        ...

    async def run(self, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
        """Raises `InvalidArguments` or another `ToolError`. Cancelling it ends all that it started."""
        ...


class ToolSource(Protocol):
    """Where tools come from that change while the app runs."""

    @property
    def title(self) -> str:
        """What a person calls it, such as "Your tools"."""
        ...

    @property
    def revision(self) -> int:
        """Goes up with every change of its tools."""
        ...

    def tools(self) -> Mapping[str, RunnableTool]:
        """Its tools as of now, by name."""
        ...

    def hold(self) -> Callable[[], None]:
        """Keep what the present tools need going, though newer ones take their place, until the result is called."""
        ...

    async def close(self) -> None:
        """End every process it started."""
        ...


class ToolSettings(Protocol):
    @property
    def revision(self) -> int: ...

    def get(self, name: str) -> ToolSetting:
        """What was decided about the tool of that name."""
        ...


class McpServers(Protocol):
    """The MCP servers that somebody added, as they are stored."""

    def all(self) -> Sequence[McpServer]:
        """Every server, by name."""
        ...

    def find(self, name: str) -> McpServer | None:
        """As it is stored now, `None` where there is none of that name."""
        ...

    async def create(self, server: McpServer) -> McpServer:
        """Raises `Conflict` where the name is taken."""
        ...

    async def change(self, name: str, change: Callable[[McpServer], McpServer]) -> McpServer:
        """Apply `change` to the newest state and store it; returns what was stored. Raises `NotFound`."""
        ...

    async def delete(self, name: str) -> None: ...


class TrustedFiles(Protocol):
    """The tool files that their owner allowed to run, as they are stored."""

    def find(self, path: str) -> TrustedFile | None:
        """What its owner decided about the file under that absolute path, `None` where nothing yet."""
        ...

    async def save(self, trusted: TrustedFile) -> object: ...

    async def delete(self, path: str) -> None: ...
