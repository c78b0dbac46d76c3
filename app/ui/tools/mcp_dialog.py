"""The dialog that adds MCP servers, from the JSON of their instructions or by a form."""

from collections.abc import Sequence
from typing import Literal

from nicegui import ui

from app.domain.errors import WorkbenchError
from app.domain.tool_settings import McpServer
from app.tools.mcp.hub import McpHub
from app.tools.mcp.reading import read_servers
from app.ui.elements.addresses import TOOL_SOURCES, mcp_server_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.choice import Choice
from app.ui.elements.markup import Html, icon, tag
from app.ui.tools.mcp_form import McpForm

Tab = Literal["json", "form"]
TABS: tuple[tuple[Tab, str], ...] = (("json", "Paste JSON"), ("form", "Fill in a form"))
EXAMPLE = '{\n  "mcpServers": {\n    "time": {"command": "uvx", "args": ["mcp-server-time"]}\n  }\n}'


class McpDialog:
    """Adds what is written and goes to its page, where it is asked whether it may start. Opens by itself."""

    def __init__(self, hub: McpHub) -> None:
        self._hub = hub
        self._tab: Tab = "json"
        with ui.dialog() as self._dialog, ui.card().classes("dialog-card mcp-dialog") as card:
            card.props("data-testid=mcp-dialog")
            self._build_head("Add MCP server")
            label = "How to describe it"
            self._tabs = Choice(TABS, self._choose_tab, label=label, testid="mcp-tab-{}", look="mode-switch")
            with ui.element("div").classes("stack") as self._json:
                self._build_json()
            self._form = McpForm()
            self._build_end("Add")
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
        with ui.dialog() as self._dialog, ui.card().classes("dialog-card mcp-dialog"):
            ui.html(tag("span", f"Change {server.name}"), sanitize=False, tag="h2").classes("section-title")
            self._form = McpForm(server)
            self._note = ui.html(sanitize=False).classes("field-note").props("role=alert")
            with ui.element("div").classes("row-line dialog-buttons at-end"):
                button("Cancel", self._dialog.close, look="quiet")
                button("Save", self._save, look="primary", testid="mcp-save")
        self._dialog.on("hide", self._dialog.delete)
        self._dialog.open()

    async def _save(self) -> None:
        try:
            await self._hub.change(self._form.server())
        except WorkbenchError as problem:
            self._note.set_content(fault(str(problem)))
            return
        self._dialog.close()


def fault(words: str) -> Html:
    return tag("span", icon("error_outline"), words, cls="field-fault pre-line")
