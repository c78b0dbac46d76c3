"""Runs on from nodes of a workflow's run: what stands is copied, the others run anew, in a new run and session."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from app.domain.agents import Behaviour, WorkflowBehaviour
from app.domain.branches import FIRST
from app.domain.errors import Conflict, NotFound, StorageError, WorkbenchError
from app.domain.events import ChildStarted, Entry, FileChanged, Forked, RunStarted
from app.domain.forks.node_forks import KeptNodes, NodePlan, kept_nodes
from app.domain.provenance import WORKING_COPY, Purpose, Trigger
from app.domain.sessions import Session
from app.domain.values import new_id, now
from app.engine.forks.allowance import Allowance
from app.engine.forks.forks import DAMAGED
from app.engine.loop.granting import granted
from app.engine.ports import AgentStore, SessionStore, Toolbox
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.workflows.grants import Nodes

NO_NODES = "This run has no nodes: it is not one of a workflow. Run on from one of its steps instead."


@dataclass
class NodeForks:
    agents: AgentStore
    sessions: SessionStore
    runs: Runs
    toolbox: Toolbox

    def __post_init__(self) -> None:
        self._allowance = Allowance(self.agents, self.sessions, self.toolbox, self.runs.rows)

    async def start(
        self, run_id: str, plan: NodePlan, *, trigger: Trigger, tried: Behaviour | None = None
    ) -> tuple[Run, KeptNodes]:
        """The fork, whose kept nodes are on disk, and what those are.

        `tried` is what somebody has in an editor, saved or not: the fork is a try of that, in which what differs from
        the run runs anew. Raises `NotFound` for a run, agent or variant there is not, `Conflict` for a run without
        nodes or that goes on, `WorkbenchError` for a plan that does not fit, `StorageError`; then nothing has begun.
        """
        return await self.runs.unbroken.or_undone(self._begun(run_id, plan, trigger, tried))

    async def _begun(
        self, run_id: str, plan: NodePlan, trigger: Trigger, tried: Behaviour | None
    ) -> tuple[Run, KeptNodes]:
        if self.runs.live(run_id) is not None:
            raise Conflict("This run is still going on. Run on from its nodes when it has ended, or stop it.")
        trace = await self.runs.trace(run_id)
        entries = tuple(trace.entries)
        if trace.damaged or not entries or not isinstance(began := entries[0].event, RunStarted):
            raise Conflict(DAMAGED)
        if began.workflow is None:
            raise Conflict(NO_NODES)
        started = self._started(self._allowance.forked(began, entries), plan, trigger, tried)
        if started.workflow is None:
            raise Conflict(NO_NODES)
        kept = await asyncio.to_thread(kept_nodes, entries, started.workflow, plan, await self._below(entries))
        session = await self._session(run_id, began, plan, tried or self._tried_in(began, plan))
        started = started.model_copy(
            update={"session_id": session.id, "workflow": kept.workflow, "follows": FIRST, "files": dict(began.files)}
        )
        forked = Forked(run_id=run_id, seq=kept.last.seq, prefix_digest=kept.last.digest, edited=kept.edited)
        first = kept.entries[0].model_copy(update={"event": started})

        async def join(live: Run) -> None:
            await self.sessions.change(session.id, lambda one: one.model_copy(update={"runs": (live.run_id,)}))

        try:
            return await self.runs.fork((first, *kept.entries[1:]), started, forked, join=join), kept
        except BaseException:
            await self.sessions.change(session.id, lambda one: one.model_copy(update={"deleted_at": now()}))
            raise

    async def _below(self, entries: Sequence[Entry]) -> dict[str, Sequence[Entry]]:
        """What the runs did that were started in it, where it wrote files that they may have used."""
        found: dict[str, Sequence[Entry]] = {}
        left = _children(entries) if any(isinstance(entry.event, FileChanged) for entry in entries) else []
        while left:
            if (run_id := left.pop()) not in found:
                with suppress(NotFound, StorageError):
                    found[run_id] = (await self.runs.trace(run_id)).entries
                    left += _children(found[run_id])
        return found

    def _tried_in(self, began: RunStarted, plan: NodePlan) -> Behaviour | None:
        """What the run tried, where it was made with no variant: what the fork may do is judged by it."""
        if began.agent.variant != WORKING_COPY or plan.variant is not None:
            return None
        with suppress(NotFound):
            return self.sessions.get(began.session_id).tried
        return None

    def _started(self, began: RunStarted, plan: NodePlan, trigger: Trigger, tried: Behaviour | None) -> RunStarted:
        """As the run began, with what the plan changes. A part of a workflow is a try, and no answer of the agent."""
        tries = plan.to or tried or (began.agent.variant == WORKING_COPY and plan.variant is None)
        purpose: Purpose = "try" if tries else "api" if trigger.kind == "api_key" else "chat"
        changes = {"trigger": trigger, "purpose": purpose, "parent": None, "depth": 0, "background": False}
        started = began.model_copy(update={**changes, "imported": None})
        if plan.variant is None and tried is None:
            return started
        agent = self.agents.get(began.agent.id)
        behaviour = tried or agent.variant(plan.variant or WORKING_COPY).behaviour
        if agent.deleted_at is not None or not isinstance(behaviour, WorkflowBehaviour):
            raise WorkbenchError(f"Agent {agent.name!r} is deleted. Restore it, or run on with the nodes as they were.")
        off = origin.tools_off if (origin := self._origin(began)) else ()
        nodes = Nodes(self.agents.all(), self.toolbox, off)
        of_variant = {
            "agent": began.agent.model_copy(update={"variant": WORKING_COPY if tried else plan.variant}),
            "limits": behaviour.limits,
            "tools": nodes.granted(behaviour.workflow, granted(self.toolbox, agent, behaviour, off)),
            "workflow": nodes.pinned(behaviour.workflow),
        }
        return started.model_copy(update=of_variant)

    async def _session(self, run_id: str, began: RunStarted, plan: NodePlan, tried: Behaviour | None) -> Session:
        origin = self._origin(began)
        title = origin.title if origin else began.agent.name
        where = f" (to {plan.to})" if plan.to else f" (from {', '.join(plan.again)[:60]})" if plan.again else " (again)"
        made = now()
        session = Session(
            id=new_id(),
            agent_id=began.agent.id,
            agent_slug=began.agent.slug,
            variant=plan.variant or max(1, began.agent.variant),
            tried=tried,
            behind=run_id if tried else "",
            title=f"{title}{where}",
            variables=began.variables,
            tools_off=origin.tools_off if origin else (),
            created_at=made,
            updated_at=made,
        )
        return await self.sessions.create(session)

    def _origin(self, began: RunStarted) -> Session | None:
        """The session that the run is of, where there is one still."""
        try:
            return self.sessions.get(began.session_id)
        except NotFound:
            return None


def _children(entries: Sequence[Entry]) -> list[str]:
    return [entry.event.child_run_id for entry in entries if isinstance(entry.event, ChildStarted)]
