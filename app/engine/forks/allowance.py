"""What a run that goes on may do: at most what its trace says and what its own agent may, with the tools there are.

A trace may come from a file. So it is judged whenever something goes on from it, by a fork or after a restart.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from app.domain.agents import Behaviour, WorkflowBehaviour
from app.domain.caution import OURS, narrowed, with_flags
from app.domain.errors import Conflict, NotFound
from app.domain.events import Entry, Forked, RunStarted
from app.domain.provenance import WORKING_COPY
from app.domain.tools import FIND_TOOLS, GrantedTool, stricter
from app.domain.trace.unpriced import unpriced_decision
from app.engine.loop.granting import allowed
from app.engine.ports import AgentStore, RunRows, SessionStore, Toolbox
from app.engine.workflows.grants import Nodes

NOT_FROM_HERE = (
    "This run was made in another copy of the app, so what it was about to do is not done here. Run on from one of its "
    "steps instead, which asks before each call."
)
OF_AN_EXPERIMENT = (
    "This run belongs to an experiment, in which tools answer from a record. Resume the experiment: it makes the run "
    "again."
)


@dataclass(frozen=True)
class Allowance:
    agents: AgentStore
    sessions: SessionStore
    toolbox: Toolbox
    rows: RunRows

    def forked(self, started: RunStarted, entries: Sequence[Entry], unasked: Collection[str] = ()) -> RunStarted:
        """How the run began, as far as that is allowed now; `unasked` are tools that its session lets be called.

        What was made elsewhere, or has no agent here, asks for each call and has the limits of a new agent.
        """
        foreign, ref = started.imported is not None or self._foreign(entries), started.agent
        own: Behaviour | None = None
        with suppress(NotFound):
            agent = self.agents.get(ref.id)
            if foreign:  # a file may name a variant that was given up because of its tools
                ref = ref.model_copy(update={"variant": agent.active})
            else:
                own = self._tried(started) or agent.variant(ref.variant).behaviour
        changes = {
            "agent": ref,
            "tools": self._tools(started, own, unasked),
            "limits": narrowed(started.limits, own.limits if own else OURS),
            "unpriced_agreed": self.agreed(entries),
        }
        return started.model_copy(update=changes)

    def _tried(self, started: RunStarted) -> Behaviour | None:
        """What the run's session tries, where the run was made with no variant."""
        return self.sessions.get(started.session_id).tried if started.agent.variant == WORKING_COPY else None

    def resumed(self, started: RunStarted, entries: Sequence[Entry]) -> RunStarted:
        """The same of a run that its process left. Raises `Conflict` for one that was left elsewhere."""
        if self._is_foreign(entries[0].run_id):
            raise Conflict(NOT_FROM_HERE)
        if started.purpose == "experiment":
            raise Conflict(OF_AN_EXPERIMENT)
        unasked: tuple[str, ...] = ()
        with suppress(NotFound):
            unasked = self.sessions.get(started.session_id).tools_allowed
        return self.forked(started, entries, unasked)

    def agreed(self, entries: Sequence[Entry]) -> bool:
        """Whether the run's user agreed to a model without a known price, in this app."""
        return unpriced_decision(entries) not in (None, "deny") and not self._foreign(entries)

    def _foreign(self, entries: Sequence[Entry]) -> bool:
        """Whether the run, or one that it was copied from, was made elsewhere."""
        copied = (entry.event.run_id for entry in entries if isinstance(entry.event, Forked))
        return any(map(self._is_foreign, (entries[0].run_id, *copied)))

    def _is_foreign(self, run_id: str) -> bool:
        row = self.rows.get(run_id)
        return row is not None and row.imported

    def _allowed(self, own: Behaviour) -> tuple[GrantedTool, ...]:
        """Those of a workflow's agents too."""
        tools = allowed(self.toolbox, own)
        if not isinstance(own, WorkflowBehaviour):
            return tools
        return Nodes(self.agents.all(), self.toolbox).granted(own.workflow, tools)

    def _tools(self, started: RunStarted, own: Behaviour | None, unasked: Collection[str]) -> tuple[GrantedTool, ...]:
        policies = {tool.spec.name: tool.policy for tool in self._allowed(own)} if own else {}
        policies |= dict.fromkeys((*unasked, FIND_TOOLS) if own else (), "auto")
        there = {spec.name: spec for spec in self.toolbox.specs(tuple(tool.spec.name for tool in started.tools))}
        return tuple(
            GrantedTool(
                spec=with_flags(tool.spec, there.get(tool.spec.name)),
                policy=stricter(tool.policy, policies.get(tool.spec.name, "ask")),
            )
            for tool in started.tools
        )
