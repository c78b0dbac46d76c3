"""The top of an agent's page: who it is, and what can be done with it as a whole."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from app.domain.agents import LONGEST_DESCRIPTION, Agent, name_problem, renamed
from app.domain.trace import Week
from app.ui.agents.agent_heading import agent_heading
from app.ui.agents.agent_transfer import download_agent
from app.ui.agents.editor_draft import EditorDraft
from app.ui.agents.gate_settings import change_gate
from app.ui.elements.addresses import agent_runs_address, compare_address, session_address, suggest_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.clicks import ONE_CLICK
from app.ui.elements.notices import notify, problems_shown
from app.ui.elements.pager import address_with
from app.ui.elements.questions import asked_for_text
from app.workbench import Workbench


class AgentHead(ui.element):
    """`list_address` is where its deletion leads; `on_change` is called once something of it was changed here."""

    def __init__(
        self,
        workbench: Workbench,
        draft: EditorDraft,
        *,
        list_address: str,
        on_change: Callable[[], object],
        on_gate: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__("div")
        self.classes("toolbar agent-head")
        self._workbench = workbench
        self._draft = draft
        self._agent_id = draft.agent.id
        self._list_address = list_address
        self._on_change = on_change
        self._on_gate = on_gate
        with self:
            self._heading = ui.html(sanitize=False, tag="header").classes("grow agent-heading")
            with ui.element("div").classes("row-line agent-head-actions"):
                self._build_actions()

    def show(self, agent: Agent, week: Week) -> None:
        self._heading.set_content(agent_heading(agent, week))

    async def talk(self, number: int | None = None) -> None:
        """Begin a session with it, with that variant or the active one."""
        with problems_shown():
            session = await self._workbench.chat.new_session(self._agent_id, number)
            ui.navigate.to(session_address(session.id))

    def compare(self, number: int = 0) -> None:
        """Show that variant beside the active one."""
        agent = self._draft.agent
        variants = (agent.active, number) if number and number != agent.active else ()
        ui.navigate.to(compare_address(agent.slug, *variants))

    def _build_actions(self) -> None:
        icon_button("edit", "Rename", self._rename, testid="rename-agent")
        icon_button("notes", "Change the description", self._redescribe, testid="describe-agent")
        icon_button("download", "Export to a file", lambda: download_agent(self._draft.agent), testid="agent-export")
        suggest = icon_button("auto_fix_high", "Suggest a better prompt", self._suggest, testid="agent-suggest")
        suggest.visible = self._draft.agent.kind == "prompt"
        icon_button("verified_user", "Gate: what guards promotion", self._change_gate, testid="agent-gate")
        icon_button("delete_outline", "Delete", self._delete, testid="agent-delete")
        compare = button("Compare", self.compare, icon="view_column", testid="compare-button")
        compare.props('aria-label="Compare variants side by side"')
        runs = button("Runs", self._show_runs, icon="receipt_long", testid="agent-runs")
        runs.props('aria-label="Runs of this agent"')
        talk = button("New session", icon="forum", testid="new-session-button")
        talk.on("click", self.talk, js_handler=ONE_CLICK)

    def _suggest(self) -> None:
        ui.navigate.to(suggest_address(self._draft.agent.slug, variant=self._draft.origin))

    def _show_runs(self) -> None:
        ui.navigate.to(agent_runs_address(self._draft.agent.slug))

    async def _change_gate(self) -> None:
        with problems_shown():
            await change_gate(self._workbench, self._draft.agent)
        await self._on_gate()

    async def _rename(self) -> None:
        name = await asked_for_text("Rename agent", self._draft.agent.name, label="Name")
        if not name:
            return
        others = [one for one in self._workbench.agents.all() if one.id != self._agent_id]
        if problem := name_problem(name, others):
            notify(problem)
            return
        await self._change(lambda agent: renamed(agent, name))
        ui.page_title(f"{name} · Agent Playground")

    async def _redescribe(self) -> None:
        text = await asked_for_text("Description", self._draft.agent.description, label="What this agent is for")
        if text is not None:
            description = text[:LONGEST_DESCRIPTION]
            await self._change(lambda agent: agent.model_copy(update={"description": description}))

    async def _change(self, change: Callable[[Agent], Agent]) -> None:
        with problems_shown():
            await self._workbench.agents.change(self._agent_id, change)
        self._on_change()

    async def _delete(self) -> None:
        with problems_shown():
            await self._workbench.agents.delete(self._agent_id)
            ui.navigate.to(address_with(self._list_address, {"deleted": self._agent_id}))
