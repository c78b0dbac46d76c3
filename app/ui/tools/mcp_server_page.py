"""One MCP server: how it is doing, what it would start, its tools, its log, and a doctor for when it does not work."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from nicegui import ui

from app.domain.errors import NotFound
from app.domain.tools import ToolSpec, canonical_name
from app.domain.values import now
from app.llm.tokens import about_tokens
from app.tools.mcp.hub import McpHub
from app.tools.mcp.launching import command_line
from app.tools.mcp.states import Finding, ServerState
from app.ui.consent.server_views import CHANGES_WORDS, changes_view, consent_view
from app.ui.elements.addresses import TOOL_SOURCES
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import agreed
from app.ui.elements.status_pill import server_chip
from app.ui.elements.undo_bar import UndoBar
from app.ui.elements.visible import visible
from app.ui.tools.give_to_agents import give_to_agents, kit_gift
from app.ui.tools.mcp_apps import AppConsentForm
from app.ui.tools.mcp_dialog import McpEditDialog
from app.ui.tools.mcp_sign_in import McpSignIn
from app.ui.tools.mcp_views import findings_view, log_view, problem_view, tools_view
from app.ui.tools.source_page import SourcePage, tools_section
from app.workbench import Workbench


class McpServerPage(SourcePage):
    """The server's log, and the time until its next try, go on by themselves."""

    def __init__(self, workbench: Workbench, name: str, undo: UndoBar) -> None:
        self._workbench, self._undo = workbench, undo
        self._hub = workbench.mcp
        self._name = name
        self._shown = self._state()  # raises where there is none
        super().__init__()
        self.props["data-server-shown"] = name

    def build_actions(self) -> None:
        self._switch = ui.switch("On", value=self._state().server.enabled, on_change=self._enable)
        self._switch.props("dense data-testid=server-switch")
        self._give_button = button("Give to agent…", self._give, icon="person_add", testid="give-server")
        icon_button("refresh", "Connect again", partial(self._do, self._hub.reconnect), testid="reconnect-server")
        icon_button("edit", "Change", self._edit, testid="edit-server")
        icon_button("delete", "Remove", self._remove, testid="remove-server")

    def build_state(self) -> None:
        self._build_consent()
        self._build_changes()
        self._sign_in = McpSignIn(self._hub, self._name, self.look)
        self._problem = LiveHtml()
        self._apps = AppConsentForm(self._hub, self._name)
        self._tools = tools_section()
        self._counted: tuple[ToolSpec, ...] = ()
        self._tokens: Mapping[str, int] = {}

    def build_aside(self) -> None:
        McpDoctor(self._hub, self._name)
        self._build_log()

    def _build_consent(self) -> None:
        with ui.element("section").classes("notice notice-warn") as self._consent:
            self._consent.props('aria-label="May it start?" data-testid=consent')
            self._consent_words = LiveHtml().classes("stack")
            button(
                "Start it",
                partial(self._do, lambda name: self._hub.consent(name, self._shown.server.transport)),
                look="primary",
                icon="play_arrow",
                testid="consent-button",
            )

    def _build_changes(self) -> None:
        with ui.element("section").classes("notice notice-warn") as self._changes:
            self._changes.props('aria-label="What has changed" data-testid=changes')
            ui.html(CHANGES_WORDS, sanitize=False)
            self._changes_shown = LiveHtml().classes("stack")
            accept = partial(self._do, lambda name: self._hub.accept_changes(name, self._shown.changes))
            button("Accept changes", accept, look="primary", testid="accept-changes")

    def _build_log(self) -> None:
        with ui.element("section").classes("panel tool-section").props('aria-label="Log"'):
            ui.html("Log", sanitize=False, tag="h2").classes("section-title")
            self._log = LiveHtml().classes("code-box server-log").props("tabindex=0")
        with ui.element("section").classes("panel tool-section developer-only") as self._view_log:
            self._view_log.props('aria-label="Log of its apps" data-testid=view-log')
            ui.html("Log of its apps", sanitize=False, tag="h2").classes("section-title")
            self._view_lines = LiveHtml().classes("code-box server-log").props("tabindex=0")

    def _state(self) -> ServerState:
        found = next((one for one in self._hub.states() if one.server.name == self._name), None)
        if found is None:
            raise NotFound(f"There is no MCP server {self._name!r} any more. The list of sources shows all there are.")
        return found

    def show(self) -> None:
        state = self._shown = self._state()
        self.heading.show(_heading(state))
        self._switch.set_value(state.server.enabled)
        self._give_button.set_enabled(bool(state.tools))
        self._consent.visible = state.status == "consent"
        self._consent_words.show(consent_view(state.server))
        self._changes.visible = state.status == "changed"
        self._changes_shown.show(changes_view(state.changes))
        self._sign_in.show(state)
        self._problem.show(problem_view(state, now()))
        if state.tools is not self._counted:
            self._counted, self._tokens = state.tools, {spec.name: about_tokens(spec) for spec in state.tools}
        self._tools.show(tools_view(state, self._tokens))
        self._log.show(log_view(state.log))
        self._view_log.visible = bool(state.view_log)
        self._view_lines.show(visible(joined(tag("pre", "\n".join(state.view_log)))))
        self._apps.show(state)

    async def _do(self, step: Callable[[str], Awaitable[None]]) -> None:
        with problems_shown():
            await step(self._name)
        self.look()

    async def _enable(self) -> None:
        wanted = bool(self._switch.value)
        with problems_shown():
            if wanted != self._state().server.enabled:
                await self._hub.enable(self._name, wanted)
        self.look()

    async def _give(self) -> None:
        await give_to_agents(self._workbench, self._undo, kit_gift(self._workbench, canonical_name(self._name)))

    def _edit(self) -> None:
        with problems_shown():
            McpEditDialog(self._hub, self._state().server)

    async def _remove(self) -> None:
        words = "Its process ends, its tools are gone, and agents that use them cannot run until they are changed."
        if not await agreed(f"Remove {self._name}?", words, confirm="Remove"):
            return
        with problems_shown():
            await self._hub.remove(self._name)
            ui.navigate.to(TOOL_SOURCES)


def _heading(state: ServerState) -> Html:
    chips = [server_chip(state), tag("span", state.about, cls="faint") if state.about else Html("")]
    title = tag("h1", state.server.name, cls="page-title", data_testid="server-title")
    command = tag("code", command_line(state.server), cls="source-command")
    return joined(
        tag("span", icon("dns"), cls="agent-icon"),
        tag("div", title, tag("div", *chips, cls="tool-chips"), command, cls="grow"),
    )


class McpDoctor(ui.element):
    """Its own connection is tried, so what runs over the other one goes on."""

    def __init__(self, hub: McpHub, name: str) -> None:
        super().__init__("section")
        self.classes("panel tool-section").props('aria-label="Doctor" data-testid=doctor')
        self._hub = hub
        self._name = name
        with self:
            with ui.element("div").classes("section-head row-line"):
                ui.html("Does it work?", sanitize=False, tag="h2").classes("section-title grow")
                self._button = button("Check it step by step", self._examine, icon="healing", testid="run-doctor")
            self._steps = LiveHtml().props("role=status aria-live=polite")

    async def _examine(self) -> None:
        self._button.set_enabled(False)
        findings: list[Finding] = []
        self._steps.show(findings_view(findings, running=True))
        with problems_shown():
            async for finding in self._hub.doctor(self._name):
                findings.append(finding)
                self._steps.show(findings_view(findings, running=True))
        self._steps.show(findings_view(findings, running=False))
        self._button.set_enabled(True)
