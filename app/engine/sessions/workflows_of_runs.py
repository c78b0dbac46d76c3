"""Workflows made of runs, as new agents."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from app.domain.agents import Agent, WorkflowBehaviour, WorkingCopy, new_agent
from app.domain.sessions import title_of
from app.domain.trace import StoredTrace, run_row
from app.domain.values import now
from app.domain.workflows.checking import errors
from app.domain.workflows.document import Workflow
from app.domain.workflows.from_run import BLANK, workflow_of
from app.engine.ports import AgentStore
from app.engine.sessions.workflow_checks import WorkflowChecks
from app.engine.sessions.working_copies import WorkingCopies


class RunReader(Protocol):
    async def trace(self, run_id: str) -> StoredTrace:
        """As of now, live or stored; raises `NotFound`."""
        ...


class NewAgents(AgentStore, Protocol):
    def slugs(self) -> Collection[str]: ...

    async def create(self, value: Agent) -> Agent: ...


@dataclass(frozen=True)
class WorkflowsOfRuns:
    runs: RunReader
    agents: NewAgents
    checks: WorkflowChecks
    copies: WorkingCopies

    async def workflow(self, run_id: str) -> Workflow:
        """What the run did, as nodes; it may have faults. Raises `NotFound`."""
        trace = await self.runs.trace(run_id)
        return await asyncio.to_thread(workflow_of, trace.entries)

    async def make(self, run_id: str) -> Agent:
        """A new agent that is that workflow; one with errors is what its editor holds, and no variant yet."""
        entries = (await self.runs.trace(run_id)).entries
        row, workflow = run_row(entries, alive=False), await asyncio.to_thread(workflow_of, entries)
        faulty = bool(errors(await self.checks.faults(workflow)))
        behaviour = WorkflowBehaviour(workflow=workflow)
        agent = new_agent(
            self._free_name(f"{row.agent.name if row else 'Run'} as nodes"),
            WorkflowBehaviour(workflow=BLANK) if faulty else behaviour,
            taken_slugs=self.agents.slugs(),
            description=f"Made from a run: {title_of(row.request) if row else run_id}",
            icon="account_tree",
        )
        await self.agents.create(agent)
        if faulty:
            copy = WorkingCopy(agent_id=agent.id, origin=agent.active, behaviour=behaviour, updated_at=now())
            await self.copies.save(copy)
        return agent

    def _free_name(self, name: str) -> str:
        taken = {agent.name for agent in self.agents.all()}
        return next(one for number in count(1) if (one := f"{name} {number}" if number > 1 else name) not in taken)
