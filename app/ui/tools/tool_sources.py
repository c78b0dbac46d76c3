"""Where further tools come from: the buttons above the list, and a page for each source."""

from collections.abc import Callable
from urllib.parse import unquote

from nicegui import ui

from app.tools.user_tools.folder import UserTools
from app.ui.elements.addresses import NEW_HTTP_TOOL, TOOL_SOURCES, tool_file_address
from app.ui.elements.buttons import button
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import asked_for_text
from app.ui.elements.undo_bar import UndoBar
from app.ui.tools.http_tool_form import HttpToolForm
from app.ui.tools.mcp_dialog import McpDialog
from app.ui.tools.mcp_server_page import McpServerPage
from app.ui.tools.sources_overview import SourcesOverview
from app.ui.tools.user_file_editor import Draft
from app.ui.tools.user_file_page import UserFilePage
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
        self._drafts: dict[str, Draft] = {}

    def routes(self) -> dict[str, Callable[..., None]]:
        """By address below that of the Tools page."""
        return {
            "/sources/all": self._all,
            "/new/request": self._new_request,
            "/request/{name}": self._request,
            "/server/{name}": self._server,
            "/file/{name}": self._file,
            "/file/{folder}/{name}": self._file_in_folder,
        }

    def overview(self) -> None:
        """Build the page of all sources."""
        SourcesOverview(
            self._workbench,
            on_new_file=lambda: new_file(self._workbench.user_tools),
            on_new_server=lambda: McpDialog(self._workbench.mcp),
        )

    def _all(self) -> None:
        self._show("Tool sources", self.overview)

    def _new_request(self) -> None:
        self._show("New HTTP tool", lambda: HttpToolForm(self._workbench, self._undo))

    def _request(self, name: str) -> None:
        name = unquote(name)
        self._show(name, lambda: HttpToolForm(self._workbench, self._undo, name=name))

    def _server(self, name: str) -> None:
        name = unquote(name)
        self._show(name, lambda: McpServerPage(self._workbench, name))

    def _file(self, name: str) -> None:
        name = unquote(name)
        self._show(name, lambda: UserFilePage(self._workbench, name, self._drafts, self._undo))

    def _file_in_folder(self, folder: str, name: str) -> None:
        self._file(f"{folder}/{name}")


def _waiting(workbench: Workbench) -> int:
    """How many sources wait for somebody to look at them."""
    files = sum(file.status in ("untrusted", "broken") for file in workbench.user_tools.files())
    servers = sum(state.status in ("consent", "changed", "failed") for state in workbench.mcp.states())
    return files + servers + len(workbench.http_tools.problems)


def _link(waiting: int) -> Html:
    mark = tag("span", f"{waiting:,} to look at", cls="chip is-warn", data_testid="sources-waiting") if waiting else ""
    words = joined(icon("source"), "Sources", mark)
    return tag("a", words, href=TOOL_SOURCES, data_key="sources", data_testid="sources-link")
