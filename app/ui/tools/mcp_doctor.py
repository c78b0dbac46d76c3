"""Finds out which step of a server does not work, and ticks one after another."""

from nicegui import ui

from app.domain.errors import WorkbenchError
from app.tools.mcp.hub import McpHub
from app.tools.mcp.states import Finding
from app.ui.elements.buttons import button
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.notices import told
from app.ui.tools.mcp_views import findings_view


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
        try:
            async for finding in self._hub.doctor(self._name):
                findings.append(finding)
                self._steps.show(findings_view(findings, running=True))
        except WorkbenchError as problem:
            told(str(problem))
        self._steps.show(findings_view(findings, running=False))
        self._button.set_enabled(True)
