"""Where a tool comes from, below its schema: its file, its server, its form; and settings that are its own."""

import re

from nicegui import ui

from app.domain.errors import WorkbenchError
from app.domain.tools import canonical_name
from app.store.records.tables import PreferencesStore
from app.tools.registry import BUILT_IN, ListedTool
from app.ui.elements.addresses import http_tool_address, mcp_server_address, tool_file_address
from app.ui.elements.buttons import button
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.status_pill import server_chip
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
            WebSearchForm(workbench.preferences, workbench.data.provider_keys)
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
                return _line("dns", state.server.name, mcp_server_address(state.server.name), server_chip(state))
    elif listed.source == workbench.http_tools.title:
        for form in workbench.http_tools.forms():
            if canonical_name(form.name) == name:
                return _line("http", "Change the request", http_tool_address(form.name), Html(""))
    return None


def _line(symbol: str, words: str, address: str, state: Html) -> Html:
    link = tag("a", words, href=address, data_testid="source-link")
    return tag("div", icon(symbol), link, state, cls="row-line")


HOST = re.compile(r"\*|(\*\.)?[\w-]+(\.[\w-]+)*|\[?[0-9a-fA-F:.]+\]?")
SCHEME = re.compile(r"^[a-z]+://", re.IGNORECASE)


class HttpHostsForm(ui.element):
    """One host a line; saved with its button."""

    def __init__(self, preferences: PreferencesStore) -> None:
        super().__init__("section")
        self.classes("panel tool-section").props('aria-label="Allowed hosts"')
        self._preferences = preferences
        with self:
            ui.html("Allowed hosts", sanitize=False, tag="h2").classes("section-title")
            words = "One a line: example.org, *.example.org for all below it, or * for every public host."
            ui.label(words).classes("field-note")
            self._box = ui.textarea(value="\n".join(preferences.get().http_hosts), placeholder="example.org")
            self._box.props('outlined dense autogrow spellcheck=false aria-label="Allowed hosts"')
            self._box.props("data-testid=http-hosts").classes("fill")
            with ui.element("div").classes("row-line"):
                self._note = ui.html(sanitize=False).classes("field-note grow").props("role=status")
                button("Save", self._save, look="primary", testid="save-hosts")

    async def _save(self) -> None:
        try:
            hosts = read_hosts(str(self._box.value or ""))
            before = self._preferences.get()
            await self._preferences.save(before.model_copy(update={"http_hosts": hosts}))
        except WorkbenchError as problem:
            self._note.set_content(tag("span", icon("error_outline"), str(problem), cls="field-fault"))
            return
        self._box.value = "\n".join(hosts)
        self._note.set_content(tag("span", "Saved" if hosts else "Saved: no host may be asked", cls="mark"))


def read_hosts(text: str) -> tuple[str, ...]:
    """The hosts in that text, also where whole addresses were pasted. Raises `WorkbenchError` for what is no host."""
    hosts = [_host(word) for word in re.split(r"[\s,;]+", text) if word]
    return tuple(dict.fromkeys(hosts))


def _host(word: str) -> str:
    host = SCHEME.sub("", word).split("/")[0].lower()
    if host.count(":") == 1:
        host = host.split(":")[0]
    if not HOST.fullmatch(host):
        raise WorkbenchError(f"{word!r} is no host. Write one like example.org or *.example.org.")
    return host
