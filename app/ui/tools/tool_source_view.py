"""Where a tool comes from, below its schema: its file, its server, its form; and settings that are its own."""

from nicegui import ui

from app.domain.tools import canonical_name
from app.tools.registry import BUILT_IN, ListedTool
from app.ui.elements.addresses import http_tool_address, mcp_server_address, tool_file_address
from app.ui.elements.markup import Html, icon, tag
from app.ui.tools.http_hosts_form import HttpHostsForm
from app.ui.tools.mcp_views import status_words
from app.ui.tools.user_file_views import status_chip
from app.ui.tools.web_search_form import WebSearchForm
from app.workbench import Workbench


def source_view(workbench: Workbench, listed: ListedTool) -> None:
    """Build what there is to see of the tool's source; nothing for most tools of the app itself."""
    name = listed.spec.name
    if listed.source == BUILT_IN:
        if name == "http_get":
            HttpHostsForm(workbench.preferences)
        elif name == "web_search":
            WebSearchForm(workbench.preferences, workbench.provider_keys)
        return
    content = _source(workbench, listed)
    if content is not None:
        with ui.element("section").classes("panel tool-section").props('aria-label="Source" data-testid=tool-source'):
            ui.html("Where it comes from", sanitize=False, tag="h2").classes("section-title")
            ui.html(content, sanitize=False)


def _source(workbench: Workbench, listed: ListedTool) -> Html | None:
    """A link to what the tool is made of, and how that is doing."""
    name = listed.spec.name
    if listed.source == workbench.user_tools.title:
        for file in workbench.user_tools.files():
            if any(spec.name == name for spec in file.tools):
                return _line("description", file.name, tool_file_address(file.name), status_chip(file))
    elif listed.source == workbench.mcp.title:
        for state in workbench.mcp.states():
            if any(spec.name == name for spec in state.tools):
                return _line("dns", state.server.name, mcp_server_address(state.server.name), status_words(state))
    elif listed.source == workbench.http_tools.title:
        for form in workbench.http_tools.forms():
            if canonical_name(form.name) == name:
                return _line("http", "Change the request", http_tool_address(form.name), Html(""))
    return None


def _line(symbol: str, words: str, address: str, state: Html) -> Html:
    link = tag("a", words, href=address, data_testid="source-link")
    return tag("div", icon(symbol), link, state, cls="row-line")
