"""What the apps of an MCP server are let do, while its owner thinks about it."""

from pathlib import Path

from nicegui import ui

from app.domain.apps import AppConsent, Domains
from app.domain.tool_settings import HttpTransport, McpServer
from app.domain.tools import ToolSpec
from app.tools.mcp.states import ServerState
from app.ui.tools.mcp_apps import AppConsentForm
from tests.ui.runs.test_runs_pages import visitor

ONE, TWO = "https://one.example.org", "https://two.example.org"


def state(apps: AppConsent) -> ServerState:
    server = McpServer(name="maps", transport=HttpTransport(url="https://host/mcp"), apps=apps)
    view = ToolSpec(name="map", description="", parameters={}, view="ui://map")
    return ServerState(server, "ready", tools=(view,))


async def test_ticks_that_are_not_saved_stay_when_an_app_asks_for_more_and_not_where_that_changes_their_words(
    tmp_path: Path,
):
    async with visitor(tmp_path) as (user, workbench):
        await user.open("/jobs")
        with user.current_layout:
            form = AppConsentForm(workbench.mcp, "maps")

        def boxes() -> dict[str, ui.checkbox]:
            return {one.text: one for one in form.descendants() if isinstance(one, ui.checkbox)}

        def ticked() -> list[str]:
            return [words for words, box in boxes().items() if box.value]

        form.show(state(AppConsent(asked=Domains(connect=(ONE,)), allowed=(ONE,))))
        assert ticked() == [f"{ONE} (ask)"]
        boxes()[f"{ONE} (ask)"].value = False
        form.show(state(AppConsent(asked=Domains(connect=(ONE, TWO)), allowed=(ONE,))))
        assert ticked() == []
        boxes()[f"{TWO} (ask)"].value = True
        form.show(state(AppConsent(asked=Domains(connect=(ONE, TWO)), allowed=(ONE,), clipboard_asked=True)))
        assert ticked() == [f"{TWO} (ask)"]
        form.show(state(AppConsent(asked=Domains(connect=(ONE, TWO), frame=(TWO,)), allowed=(ONE,))))
        assert ticked() == []
