"""Where further tools come from: the buttons above the list, a page for each source, and one of them all."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import unquote

from nicegui import ui

from app.desktop import has_display, open_folder
from app.domain.tool_settings import HttpTool
from app.tools.user_tools.folder import UserTools
from app.ui.elements.addresses import (
    NEW_HTTP_TOOL,
    TOOL_SOURCES,
    TOOLS,
    http_tool_address,
    tool_address,
    tool_file_address,
)
from app.ui.elements.buttons import Handler, button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import copy_text, notify, problems_shown
from app.ui.elements.questions import asked_for_text
from app.ui.elements.undo_bar import UndoBar
from app.ui.elements.visible import visible
from app.ui.tools.http_tool_form import HttpToolForm
from app.ui.tools.mcp_dialog import McpDialog
from app.ui.tools.mcp_server_page import McpServerPage
from app.ui.tools.mcp_views import server_row
from app.ui.tools.user_file_editor import Drafts
from app.ui.tools.user_file_page import UserFilePage
from app.ui.tools.user_file_views import copyable, file_row
from app.workbench import Workbench

LOOK_SECONDS = 1.0
Show = Callable[[str, Callable[[], object]], None]


def sources_bar(workbench: Workbench) -> None:
    """Build the buttons that bring in more tools, and the way to all sources."""
    with ui.element("div").classes("row-line sources-bar"):
        with button("Add", icon="add", testid="add-tool-button").props('aria-label="Add tools"'), ui.menu():
            ui.menu_item("A Python file", lambda: new_file(workbench.user_tools)).props("data-testid=add-file")
            ui.menu_item("An MCP server", lambda: McpDialog(workbench.mcp)).props("data-testid=add-server")
            ui.menu_item("An HTTP request", lambda: ui.navigate.to(NEW_HTTP_TOOL)).props("data-testid=add-request")
        link = LiveHtml().classes("grow sources-link")
    link.show(_link(_waiting(workbench)))
    ui.timer(LOOK_SECONDS, lambda: link.show(_link(_waiting(workbench))))


async def new_file(files: UserTools) -> None:
    """Ask for a name, make the file from the template, and open it."""
    name = await asked_for_text("New tool", "", label="Name of the file, such as orders", confirm="Create")
    if not name:
        return
    with problems_shown():
        made = await files.new_file(name)
        ui.navigate.to(tool_file_address(made.name))


class SourcePages:
    """The pages of sources beside the list of tools; `show` builds one under a title."""

    def __init__(self, workbench: Workbench, undo: UndoBar, show: Show) -> None:
        self._workbench = workbench
        self._undo = undo
        self._show = show
        self._drafts = Drafts()

    def routes(self) -> dict[str, Callable[..., None]]:
        """By address below that of the Tools page."""
        return {
            "/sources/all": lambda: self._show("Tool sources", self.overview),
            "/new/request": lambda: self._show("New HTTP tool", lambda: HttpToolForm(self._workbench, self._undo)),
            "/request/{name}": self._request,
            "/server/{name}": self._server,
            "/file/{name}": self._file,
            "/file/{folder}/{name}": lambda folder, name: self._file(f"{folder}/{name}"),
        }

    def overview(self) -> None:
        """Build the page of all sources."""
        SourcesOverview(
            self._workbench,
            on_new_file=lambda: new_file(self._workbench.user_tools),
            on_new_server=lambda: McpDialog(self._workbench.mcp),
        )

    def _request(self, name: str) -> None:
        name = unquote(name)
        self._show(name, lambda: HttpToolForm(self._workbench, self._undo, name=name))

    def _server(self, name: str) -> None:
        name = unquote(name)
        self._show(name, lambda: McpServerPage(self._workbench, name, self._undo))

    def _file(self, name: str) -> None:
        name = unquote(name)
        self._show(name, lambda: UserFilePage(self._workbench, name, self._drafts, self._undo))


def _waiting(workbench: Workbench) -> int:
    """How many sources wait for somebody to look at them."""
    files = sum(file.status in ("untrusted", "broken") for file in workbench.user_tools.files())
    servers = sum(state.status in ("consent", "changed", "failed", "sign-in") for state in workbench.mcp.states())
    return files + servers + len(workbench.http_tools.problems)


def _link(waiting: int) -> Html:
    mark = (
        tag("span", f"{waiting:,} waiting for you", cls="chip is-warn", data_testid="sources-waiting")
        if waiting
        else ""
    )
    words = joined(icon("source"), "Sources", mark)
    return tag("a", words, href=TOOL_SOURCES, data_key="sources", data_testid="sources-link")


OVERVIEW_SECONDS = 0.5
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
            ui.html("Tool sources", sanitize=False, tag="h1").classes("page-title")
            with self._section("Your tools", "New tool", on_new_file, "new-tool-button"):
                self._build_folder()
                self._files = LiveHtml()
            with self._section("MCP servers", "Add MCP server", on_new_server, "add-mcp-button"):
                self._servers = LiveHtml()
            with self._section("HTTP tools", "New HTTP tool", lambda: ui.navigate.to(NEW_HTTP_TOOL), "new-http-button"):
                self._forms = LiveHtml()
            ui.timer(OVERVIEW_SECONDS, self._look)
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


def _form_row(form: HttpTool, problems: Mapping[str, str]) -> Html:
    problem = problems.get(form.name)
    name = tag("a", form.name, href=http_tool_address(form.name), cls="source-name truncate", data_key=form.name)
    call = "" if problem else tag("a", "Call it", href=tool_address(form.name), data_key=f"call {form.name}")
    line = tag("div", icon("http"), name, tag("span", cls="grow"), call, cls="row-line")
    address = tag("code", f"{form.method} {form.address}", cls="source-command truncate")
    trouble = tag("p", problem, cls="is-bad") if problem else ""
    return tag("li", line, address, trouble, cls="source-row", data_testid="http-tool", data_form=form.name)
