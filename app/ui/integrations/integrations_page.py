"""Agents for other programs: who may run them, with which keys, and programs that do, filled in and tried."""

import asyncio
from collections.abc import Mapping
from typing import Self

from nicegui import PageArguments, ui

from app.domain.agents import Agent, tool_name
from app.domain.values import Value, now
from app.engine.keys import MadeKey
from app.late import late, read
from app.paths import own_command, own_environment
from app.ui.elements.addresses import AGENTS, INTEGRATIONS
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.notices import empty_state
from app.ui.elements.pager import address_with, say_address, stand_at
from app.ui.integrations.api_agent_panel import ApiAgentPanel
from app.ui.integrations.api_keys_panel import ApiKeysPanel
from app.ui.integrations.api_snippet_panel import Answer, ApiSnippetPanel
from app.ui.integrations.api_snippets import AgentCall, Snippet
from app.workbench import Workbench

with late():
    from app.ui.integrations import mcp_trial


class IntegrationsQuery(Value):
    """What an address says wrongly is left out, never refused."""

    agent: str = ""
    """A slug."""
    way: str = ""
    """The name of a snippet."""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """The query of an address."""
        return cls(agent=parameters.get("agent", "")[:200], way=parameters.get("with", "")[:40])

    @property
    def address(self) -> str:
        """The address that says this."""
        return address_with(INTEGRATIONS, {"agent": self.agent, "with": self.way})


LOOK_SECONDS = 2.0
"""How often it is looked which keys were made, used or revoked elsewhere."""
_HEADING = joined(
    tag(
        "div",
        tag("h1", "Integrations", cls="page-title"),
        tag("p", "Run your agents from scripts, n8n and any client of OpenAI or MCP.", cls="page-lead"),
        cls="grow",
    ),
    tag("a", icon("menu_book"), "API documentation", href="/api/v1/docs", target="_blank", data_testid="api-docs"),
    tag("a", icon("data_object"), "openapi.json", href="/api/v1/openapi.json", target="_blank"),
)


class IntegrationsPage:
    """`/integrations`; the agent and the snippet stand in the address."""

    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._frame = arguments.frame
        self._query = IntegrationsQuery.of(arguments.query_parameters)
        self._made: MadeKey | None = None
        self._agent: ApiAgentPanel | None = None
        ui.page_title("Integrations · Agent Playground")
        with ui.element("div").classes("page page-wide integrations-page") as page:
            self._base = str(page.client.request.base_url).rstrip("/")
            ui.html(_HEADING, sanitize=False, tag="header").classes("integrations-head")
            self._build_call(workbench)
            self._keys = ApiKeysPanel(workbench, on_made=self._key_made, on_revoked=self._look)
        ui.timer(LOOK_SECONDS, self._look)
        if arguments.query_parameters.get("new") == "1":
            stand_at(self._frame, self._query.address)
            ui.timer(0, self._keys.create, once=True)

    def _build_call(self, workbench: Workbench) -> None:
        agents = workbench.agents.all()
        if not agents:
            way = tag("a", "Make an agent", href=f"{AGENTS}?new=1")
            empty_state("smart_toy", "There is no agent to call", "Snippets are filled in for an agent of yours.", way)
            return
        with ui.element("div").classes("api-call"):
            self._agent = ApiAgentPanel(
                *(workbench, agents, next((agent for agent in agents if agent.slug == self._query.agent), agents[0])),
                on_change=self._show_call,
                on_choose=self._choose_agent,
                on_wish=self._wish,
            )
            self._snippets = ApiSnippetPanel(self._query.way, self._choose_way, self._try)
            with self._snippets:
                self._fill_in = ui.checkbox(on_change=self._show_call).props("dense data-testid=fill-in-key")
                self._fill_in.move(target_index=1)
                self._fill_in.visible = False
        self._show_call()

    def _call(self, shown: ApiAgentPanel) -> AgentCall:
        agent, filled_in = shown.agent, self._made is not None and bool(self._fill_in.value)
        return AgentCall(
            base=self._base,
            slug=agent.slug,
            name=agent.name,
            message=shown.message,
            variables=dict(shown.variables),
            key=self._made.secret if self._made and filled_in else "",
            needs_key=not agent.is_public,
            tool=tool_name(agent),
            command=(*own_command(), "mcp", "--data", str(self._workbench.data.path)),
            environment=own_environment(),
        )

    async def _try(self, snippet: Snippet, call: AgentCall, number: int) -> Answer:
        await asyncio.to_thread(read, mcp_trial)
        return await mcp_trial.tried(snippet, call, number, token=self._workbench.access_token)

    def _show_call(self) -> None:
        if self._agent is not None:
            self._snippets.show(self._call(self._agent))

    def _choose_agent(self, agent: Agent) -> None:
        self._query = self._query.model_copy(update={"agent": agent.slug})
        say_address(self._frame, self._query.address)
        self._show_call()

    def _choose_way(self, way: str) -> None:
        self._query = self._query.model_copy(update={"way": way})
        say_address(self._frame, self._query.address)

    async def _wish(self) -> None:
        await self._keys.create(self._agent.agent if self._agent else None)

    def _key_made(self, made: MadeKey) -> None:
        self._made = made
        if self._agent is not None:
            self._fill_in.text = f"Write the new key “{made.key.name}” into it, until this page is left"
            self._fill_in.visible = True
            self._show_call()
        self._look()

    def _look(self) -> None:
        self._keys.refresh()
        if self._agent is not None:
            self._agent.refresh()
            self._forget_revoked()

    def _forget_revoked(self) -> None:
        """A key that opens nothing any more is of no use in a program."""
        if self._made is None:
            return
        key = self._workbench.keys.check(self._made.secret)
        if key is None or key.standing(now()) != "valid":
            self._made = None
            self._fill_in.visible = False
            self._show_call()
