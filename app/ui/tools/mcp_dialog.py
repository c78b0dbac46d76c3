"""The dialog that adds MCP servers, from the JSON of their instructions or by a form."""

import json
import shlex
from collections.abc import Sequence
from typing import Literal

from nicegui import ui
from pydantic import JsonValue

from app.domain.errors import WorkbenchError
from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport
from app.tools.mcp.hub import McpHub
from app.tools.mcp.reading import read_servers
from app.ui.elements.addresses import TOOL_SOURCES, mcp_server_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.choice import Choice
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.questions import keep_typed, named_dialog
from app.ui.tools.field_rows import PairRows

Tab = Literal["json", "form"]
TABS: tuple[tuple[Tab, str], ...] = (("json", "Paste JSON"), ("form", "Fill in a form"))
EXAMPLE = '{\n  "mcpServers": {\n    "time": {"command": "uvx", "args": ["mcp-server-time"]}\n  }\n}'


class McpDialog:
    """Adds what is written and goes to its page, where it is asked whether it may start. Opens by itself."""

    def __init__(self, hub: McpHub) -> None:
        self._hub = hub
        self._tab: Tab = "json"
        with named_dialog("Add MCP server") as self._dialog, ui.card().classes("dialog-card mcp-dialog") as card:
            card.props("data-testid=mcp-dialog")
            self._build_head("Add MCP server")
            label = "How to describe it"
            self._tabs = Choice(TABS, self._choose_tab, label=label, testid="mcp-tab-{}", look="mode-switch")
            with ui.element("div").classes("stack") as self._json:
                self._build_json()
            self._form = McpForm()
            self._build_end("Add")
        keep_typed(self._dialog, card)
        self._show_tab()
        self._dialog.on("hide", self._dialog.delete)
        self._dialog.open()

    def _build_head(self, title: str) -> None:
        with ui.element("div").classes("row-line"):
            ui.html(title, sanitize=False, tag="h2").classes("section-title grow")
            icon_button("close", "Close", self._dialog.close)

    def _build_json(self) -> None:
        words = "The “mcpServers” part of the instructions, as for Claude Desktop, Cursor or VS Code."
        ui.label(words).classes("field-note")
        self._text = ui.textarea(placeholder=EXAMPLE).classes("fill mcp-json")
        self._text.props('outlined dense autofocus spellcheck=false aria-label="JSON" data-testid=mcp-json')

    def _build_end(self, confirm: str) -> None:
        self._note = ui.html(sanitize=False).classes("field-note").props("role=alert data-testid=mcp-note")
        with ui.element("div").classes("row-line dialog-buttons"):
            ui.label("Nothing is started before you have seen the exact command.").classes("faint grow")
            button("Cancel", self._dialog.close, look="quiet")
            button(confirm, self._add, look="primary", testid="mcp-add")

    def _choose_tab(self, tab: Tab) -> None:
        self._tab = tab
        self._show_tab()

    def _show_tab(self) -> None:
        self._tabs.show(self._tab)
        self._json.visible = self._tab == "json"
        self._form.visible = self._tab == "form"
        self._note.set_content("")

    async def _add(self) -> None:
        added: list[McpServer] = []
        try:
            servers = self._written()
            for server in servers:
                await self._hub.add(server)
                added.append(server)
        except WorkbenchError as problem:
            also = f" Added were: {', '.join(server.name for server in added)}." if added else ""
            self._note.set_content(fault(f"{problem}{also}"))
            return
        self._dialog.close()
        ui.navigate.to(mcp_server_address(added[0].name) if len(added) == 1 else TOOL_SOURCES)

    def _written(self) -> Sequence[McpServer]:
        if self._tab == "form":
            return [self._form.server()]
        text = str(self._text.value or "")
        if not text.strip():
            raise WorkbenchError("Paste the JSON first, or fill in the form.")
        return read_servers(text)


class McpEditDialog:
    """Changes a server. Another command or address has to be allowed again. Opens by itself."""

    def __init__(self, hub: McpHub, server: McpServer) -> None:
        self._hub = hub
        self._seen = server.transport
        with named_dialog(f"Change {server.name}") as self._dialog, ui.card().classes("dialog-card mcp-dialog") as card:
            ui.html(tag("span", f"Change {server.name}"), sanitize=False, tag="h2").classes("section-title")
            self._form = McpForm(server)
            self._note = ui.html(sanitize=False).classes("field-note").props("role=alert")
            with ui.element("div").classes("row-line dialog-buttons at-end"):
                button("Cancel", self._dialog.close, look="quiet")
                button("Save", self._save, look="primary", testid="mcp-save")
        keep_typed(self._dialog, card)
        self._dialog.on("hide", self._dialog.delete)
        self._dialog.open()

    async def _save(self) -> None:
        try:
            await self._hub.change(self._form.server(), self._seen)
        except WorkbenchError as problem:
            self._note.set_content(fault(str(problem)))
            return
        self._dialog.close()


def fault(words: str) -> Html:
    return tag("span", icon("error_outline"), words, cls="field-fault pre-line")


Kind = Literal["stdio", "http"]
KINDS: dict[Kind, str] = {"stdio": "A command on this computer", "http": "An address (streamable HTTP)"}
VARIABLE_HINT = "$NAME as a value is read from the app's own environment when it is needed, and not stored."


class McpForm(ui.element):
    """Shows a server that is to be changed, or is empty for a new one."""

    def __init__(self, server: McpServer | None = None) -> None:
        super().__init__("div")
        self.classes("stack mcp-form")
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
        return found

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
