"""How things stand: providers, MCP servers, the disk, and what the last experiment and the gate say of each agent."""

import asyncio
import shutil

from app.domain.agents import Agent
from app.domain.evals.experiments import Experiment
from app.domain.evals.gates import GateOutcome
from app.llm.providers.provider_desk import ProviderState
from app.tools.mcp.states import ServerState
from app.ui.elements.addresses import (
    SETTINGS,
    agent_address,
    experiment_address,
    mcp_server_address,
    provider_address,
)
from app.ui.elements.format import head, plural
from app.ui.elements.gate_dialog import STATE_WORDS
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.provider_views import seen_badge, state_words
from app.ui.elements.status_pill import server_chip
from app.workbench import Workbench

MOST = 6
"""Of each kind that are shown."""
LOOKED_AT = 100
"""Newest experiments among which an agent's last one is found."""
LITTLE = 1024**3
"""Bytes of free disk below which it is said with a warning."""


class Standing:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._shown = LiveHtml().classes("overview-standing")

    async def look(self) -> None:
        """Show how things stand by now."""
        workbench = self._workbench
        providers = [one for one in await workbench.provider_desk.all() if one.is_set]
        servers = workbench.mcp.states() if workbench.data.mcp_servers.all() else ()
        agents = [await self._agent(one) for one in await asyncio.to_thread(self._last_experiments)]
        if not self._shown.is_deleted:
            free = shutil.disk_usage(workbench.data.path).free
            lists = (providers_view(providers), servers_view(servers), _list("Agents", agents), disk_view(free))
            self._shown.show(joined(*lists))

    def _last_experiments(self) -> list[tuple[Agent, Experiment | None]]:
        """Agents with a gate or an experiment, those that were tried last first."""
        agents = {one.id: one for one in self._workbench.agents.all()}
        last: dict[str, Experiment | None] = {}
        for one in self._workbench.experiments.recent(limit=LOOKED_AT):
            if one.plan.agent_id in agents:
                last.setdefault(one.plan.agent_id, one)
        last |= {one.id: None for one in agents.values() if one.gate is not None and one.id not in last}
        return [(agents[agent_id], one) for agent_id, one in list(last.items())[:MOST]]

    async def _agent(self, tried: tuple[Agent, Experiment | None]) -> Html:
        agent, last = tried
        newest = agent.variants[-1].number
        held = await self._workbench.gating.outcome(agent, newest) if agent.gate and newest != agent.active else None
        return agent_row(agent, last, await self._outcome(last) if last else "", held)

    async def _outcome(self, last: Experiment) -> str:
        experimenting = self._workbench.experimenting
        if experimenting.is_live(last.id):
            progress = await experimenting.progress(last.id)
            return f"{progress.ended:,} of {progress.total:,} done"
        return (await experimenting.results(last.id)).outcome


def providers_view(states: list[ProviderState]) -> Html:
    """Those that somebody set up; where none is, the way to one."""
    way = tag("a", "Add a key", href=SETTINGS)
    none = joined("Only the built-in demo model. ", way, " or use a model server on this machine.")
    return _list("Providers", [_provider(state) for state in states], none)


def _provider(state: ProviderState) -> Html:
    words, look = state_words(state)
    badge = seen_badge(state.seen) or tag("span", words, cls=f"chip {look}".strip())
    return _row("cloud", tag("a", state.provider.title, href=provider_address(state.name)), badge)


def servers_view(states: tuple[ServerState, ...]) -> Html:
    """All MCP servers, as far as there are any."""
    rows = [
        _row("dns", tag("a", one.server.name, href=mcp_server_address(one.server.name)), server_chip(one))
        for one in states
    ]
    return _list("MCP servers", rows)


def agent_row(agent: Agent, last: Experiment | None, outcome: str, held: GateOutcome | None) -> Html:
    """What the last experiment said of it, and what its gate says of its newest variant where that is not active."""
    name = tag("a", agent.name, href=agent_address(agent.slug))
    said = tag("a", f"{head(last.title, 40)}: {outcome}", href=experiment_address(last.id)) if last else ""
    gate = ""
    if held is not None:
        look = "chip" if held.state == "green" else "chip is-warn"
        gate = tag("span", f"Variant {held.variant}: {STATE_WORDS[held.state]}", cls=look, data_testid="overview-gate")
    return _row(agent.icon, name, said, gate)


def disk_view(free: int) -> Html:
    """How much room is left on the disk of the data folder."""
    words = f"{free / 1024**3:,.1f} GB free" if free >= LITTLE else f"Only {free / 1024**2:,.0f} MB free"
    way = tag("a", "Data folder", href=f"{SETTINGS}?section=data")
    chip = tag("span", words, cls="chip" if free >= LITTLE else "chip is-warn", data_testid="overview-disk")
    return _list("Disk", [_row("storage" if free >= LITTLE else "warning", way, chip)])


def _row(symbol: str, *parts: str) -> Html:
    return tag("li", icon(symbol, "faint"), *parts)


def _list(title: str, rows: list[Html], none: Html | None = None) -> Html:
    """Nothing where there are no rows, and no words for that."""
    if not rows and none is None:
        return Html("")
    left = (
        tag("li", f"And {plural(len(rows) - MOST, 'more')}".removesuffix("s"), cls="muted") if len(rows) > MOST else ""
    )
    shown = tag("ul", *rows[:MOST], left) if rows else tag("p", none or "", cls="muted")
    return tag("div", tag("h3", title), shown)
