"""From navigation to the first card of 500 agents, against an empty page of the app."""

import asyncio
import tempfile
from pathlib import Path

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent, with_variant
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.bench.runs_pages import EMPTY, ROUNDS, Visit, figure, measured
from tests.figures import Figure
from tests.seeds import seed_runs

AGENTS = 500
VARIANTS = 4
STORED_RUNS = 1000


def run(*, agents: int = AGENTS, stored: int = STORED_RUNS, rounds: int = ROUNDS) -> list[Figure]:
    cards = Visit("/agents", "[data-testid=agent-card]", f"[data-testid=agents-count]:has-text('{agents} agents')")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(seed_agents(folder, agents))
        asyncio.run(seed_runs(folder, stored))
        app = AppProcess(folder)
        app.start()
        try:
            empty, listed = measured(app, EMPTY, cards, rounds=rounds)
        finally:
            app.stop()
    return [figure(f"Agents with {agents} agents", listed, empty)]


async def seed_agents(folder: Path, agents: int) -> None:
    """Agents with a prompt of some length and a few variants each."""
    workbench = Workbench.open(folder)
    for number in range(agents):
        behaviour = PromptBehaviour(
            system_prompt=f"You are agent {number}. " + "Answer politely and in full sentences. " * 50,
            tools=(ToolChoice(name="calculator"), ToolChoice(name="read_file", policy="ask")),
        )
        description = f"Answers the questions that come in through channel {number}."
        agent = new_agent(f"Agent {number}", behaviour, taken_slugs=(), description=description)
        for _ in range(VARIANTS - 1):
            agent = with_variant(agent, behaviour, origin=1, note="another try")
        await workbench.agents.create(agent)
    await workbench.close()
