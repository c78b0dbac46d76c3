"""Every source of further tools: files, MCP servers, HTTP tools, each with how it is doing."""

import asyncio
from collections.abc import Callable, Sequence

from nicegui import ui

from app.desktop import has_display, open_folder
from app.domain.tool_settings import HttpTool
from app.ui.elements.addresses import NEW_HTTP_TOOL, TOOLS, http_tool_address, tool_address
from app.ui.elements.buttons import Handler, button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import copy_text, notify
from app.ui.elements.visible import visible
from app.ui.tools.mcp_views import server_row
from app.ui.tools.user_file_views import copyable, file_row
from app.workbench import Workbench

LOOK_SECONDS = 0.5
MOST_FILES = 300


class SourcesOverview(ui.element):
    """Redrawn when a source changes; the keyboard's place in it is kept."""

    def __init__(self, workbench: Workbench, *, on_new_file: Handler, on_new_server: Callable[[], object]) -> None:
        super().__init__("div")
        self.classes("tool-detail").props("data-testid=sources-overview")
        self._workbench = workbench
        self._seen: tuple[object, ...] = ()
        with self:
            ui.html(tag("a", icon("arrow_back"), "All tools", href=TOOLS, cls="tools-back"), sanitize=False)
            with self._section("Your tools", "New tool", on_new_file, "new-tool-button"):
                self._build_folder()
                self._files = LiveHtml()
            with self._section("MCP servers", "Add MCP server", on_new_server, "add-mcp-button"):
                self._servers = LiveHtml()
            with self._section("HTTP tools", "New HTTP tool", lambda: ui.navigate.to(NEW_HTTP_TOOL), "new-http-button"):
                self._forms = LiveHtml()
            ui.timer(LOOK_SECONDS, self._look)
        self._look()

    def _section(self, title: str, words: str, on_click: Handler, testid: str) -> ui.element:
        section = ui.element("section").classes("panel tool-section").props(f'aria-label="{title}"')
        with section, ui.element("div").classes("section-head row-line"):
            ui.html(title, sanitize=False, tag="h2").classes("section-title grow")
            button(words, on_click, icon="add", testid=testid)
        return section

    def _build_folder(self) -> None:
        folder = self._workbench.user_tools.folder
        words = "Python files in this folder become tools; they are followed while you edit them in any editor."
        ui.label(words).classes("field-note")
        with ui.element("div").classes("row-line folder-line"):
            path = ui.html(copyable(str(folder), "Copy the folder's path"), sanitize=False).classes("grow")
            on_click_of(path.props("data-testid=tools-folder"), "copy", copy_text)
            if has_display():
                button("Open folder", self._open, look="quiet", icon="folder_open", testid="open-folder")

    def _look(self) -> None:
        workbench = self._workbench
        state = (workbench.user_tools.revision, workbench.mcp.revision, workbench.http_tools.revision)
        if state == self._seen:
            return
        self._seen = state
        files = workbench.user_tools.files()
        rows = [file_row(file) for file in files[:MOST_FILES]]
        more = len(files) - MOST_FILES
        self._files.show(_list(rows, "No file yet. “New tool” makes one that shows how it is done.", more))
        servers = [server_row(one) for one in workbench.mcp.states()]
        self._servers.show(_list(servers, "None yet. Paste the JSON of a server's instructions to add it."))
        forms = [_form_row(form, workbench.http_tools.problems) for form in workbench.http_tools.forms()]
        self._forms.show(_list(forms, "None yet. A form makes a tool of a request to a web service."))

    async def _open(self) -> None:
        folder = self._workbench.user_tools.folder
        if not await asyncio.to_thread(open_folder, folder):
            notify(f"No file manager could be opened. The folder is {folder}.")


def _list(rows: Sequence[Html], nothing: str, more: int = 0) -> Html:
    if not rows:
        return tag("p", nothing, cls="faint")
    rest = tag("p", f"and {plural(more, 'more file')} in the folder", cls="faint") if more > 0 else ""
    return visible(joined(tag("ul", *rows, cls="source-rows"), rest))


def _form_row(form: HttpTool, problems: dict[str, str]) -> Html:
    problem = problems.get(form.name)
    name = tag("a", form.name, href=http_tool_address(form.name), cls="source-name truncate", data_key=form.name)
    call = "" if problem else tag("a", "Call it", href=tool_address(form.name), data_key=f"call {form.name}")
    line = tag("div", icon("http"), name, tag("span", cls="grow"), call, cls="row-line")
    address = tag("code", f"{form.method} {form.address}", cls="source-command truncate")
    trouble = tag("p", problem, cls="is-bad") if problem else ""
    return tag("li", line, address, trouble, cls="source-row", data_testid="http-tool", data_form=form.name)
