"""The form of an MCP server: a command with its arguments and environment, or an address with headers."""

import json
import shlex
from typing import Literal

from nicegui import ui
from pydantic import JsonValue

from app.domain.errors import WorkbenchError
from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport
from app.tools.mcp.reading import read_servers
from app.ui.tools.pair_rows import PairRows

Kind = Literal["stdio", "http"]
KINDS: dict[Kind, str] = {"stdio": "A command on this computer", "http": "An address (streamable HTTP)"}
VARIABLE_HINT = "$NAME as a value is read from the app's own environment when it is needed, and not stored."


class McpForm(ui.element):
    """Shows a server that is to be changed, or is empty for a new one."""

    def __init__(self, server: McpServer | None = None) -> None:
        super().__init__("div")
        self.classes("stack mcp-form")
        self._server = server
        transport = server.transport if server else StdioTransport(command="")
        with self:
            self._name = ui.input("Name", value=server.name if server else "").classes("fill")
            self._name.props("outlined dense maxlength=32 data-testid=mcp-name")
            self._name.set_enabled(server is None)
            self._kind = ui.radio(KINDS, value=transport.type, on_change=self._show_kind).props("dense")
            self._build_command(transport if isinstance(transport, StdioTransport) else StdioTransport(command=""))
            self._build_address(transport if isinstance(transport, HttpTransport) else HttpTransport(url=""))
        self._show_kind()

    def _build_command(self, stdio: StdioTransport) -> None:
        with ui.element("div").classes("stack") as self._of_command:
            self._command = ui.input("Command", value=stdio.command, placeholder="npx").classes("fill")
            self._command.props("outlined dense spellcheck=false data-testid=mcp-command")
            self._arguments = ui.textarea("Arguments", value=shlex.join(stdio.args)).classes("fill")
            self._arguments.props("outlined dense autogrow rows=1 spellcheck=false data-testid=mcp-arguments")
            self._arguments.props('hint="As in a terminal: quote what has spaces in it"')
            self._folder = ui.input("Folder to start in (optional)", value=stdio.cwd).classes("fill")
            self._folder.props("outlined dense spellcheck=false")
            ui.label("Environment").classes("field-title")
            self._environment = PairRows(stdio.env, noun="variable", hint=VARIABLE_HINT)

    def _build_address(self, http: HttpTransport) -> None:
        with ui.element("div").classes("stack") as self._of_address:
            self._url = ui.input("Address", value=http.url, placeholder="https://example.org/mcp").classes("fill")
            self._url.props("outlined dense spellcheck=false data-testid=mcp-url")
            ui.label("Headers").classes("field-title")
            self._headers = PairRows(http.headers, noun="header", hint=VARIABLE_HINT)

    def server(self) -> McpServer:
        """What is written now. Raises `WorkbenchError` in words."""
        pasted = {str(self._name.value or "").strip(): self._entry()}
        [found] = read_servers(json.dumps({"mcpServers": pasted}))
        return found.model_copy(update={"enabled": self._server.enabled}) if self._server else found

    def _entry(self) -> dict[str, JsonValue]:
        if self._kind.value == "http":
            return {"url": str(self._url.value or "").strip(), "headers": dict(self._headers.value)}
        entry: dict[str, JsonValue] = {
            "command": str(self._command.value or "").strip(),
            "env": dict(self._environment.value),
        }
        entry["args"] = list(_words(str(self._arguments.value or "")))
        entry["cwd"] = str(self._folder.value or "").strip()
        return entry

    def _show_kind(self) -> None:
        self._of_command.visible = self._kind.value == "stdio"
        self._of_address.visible = self._kind.value == "http"


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise WorkbenchError(f"The arguments cannot be read: {error}. Close every quote.") from None
