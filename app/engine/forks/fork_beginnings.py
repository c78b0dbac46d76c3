"""How a fork says that it began: as the run it comes from, or with another variant, model or prompt."""

from dataclasses import dataclass

from app.domain.agents import Agent, by_prompt, model_of, values_of
from app.domain.errors import NotFound, WorkbenchError
from app.domain.events import RunStarted
from app.domain.forks.fork_prefix import Prefix
from app.domain.forks.forks import ForkPlan
from app.domain.prompts import system_of
from app.domain.provenance import WORKING_COPY, AgentRef, Trigger
from app.domain.sessions import Session
from app.domain.trace import conversation
from app.engine.loop.granting import granted, offered
from app.engine.loop.loading import Loading
from app.engine.ports import AgentStore, Models, SessionStore, Toolbox


@dataclass(frozen=True)
class Beginnings:
    agents: AgentStore
    sessions: SessionStore
    models: Models
    toolbox: Toolbox
    loading: Loading

    async def started(self, original: RunStarted, prefix: Prefix, plan: ForkPlan, trigger: Trigger) -> RunStarted:
        """As the run began, but for what the plan changes; its session is not there yet. Raises `WorkbenchError`."""
        tries = plan.variant is None and original.agent.variant == WORKING_COPY
        started = original.model_copy(
            update={
                "trigger": trigger,
                "purpose": "try" if tries else "api" if trigger.kind == "api_key" else "chat",
                "parent": None,
                "depth": 0,
                "background": False,
                "imported": None,
            }
        )
        self._check_asked(started, plan)
        if plan.variant is not None:
            started = await self._with_variant(started, prefix, plan.variant)
        if plan.system_prompt is not None:
            started = started.model_copy(update={"system": system_of(plan.system_prompt, started.variables)})
        if plan.model is not None:
            started = started.model_copy(update={"model": plan.model})
        if started.model != original.model:
            await self.models.check(started.model)
        return started

    def _check_asked(self, started: RunStarted, plan: ForkPlan) -> None:
        """Raises `WorkbenchError` for a prompt or a model in place of those that a workflow does not have."""
        agent = self.agent_of(started)
        if agent is not None and (plan.system_prompt is not None or plan.model is not None):
            by_prompt(agent.active_variant.behaviour)

    async def _with_variant(self, started: RunStarted, prefix: Prefix, number: int) -> RunStarted:
        agent = self.agent_of(started)
        if agent is None or agent.deleted_at is not None:
            raise WorkbenchError(
                f"Agent {started.agent.name!r} is deleted, so none of its variants can be chosen. Restore it, or run "
                "on with the behaviour that was recorded."
            )
        behaviour = by_prompt(agent.variant(number).behaviour)
        session = self.session_of(started)
        variables = values_of(behaviour, session.variables if session else started.variables)
        tools = granted(self.toolbox, agent, behaviour, session.tools_off if session else ())
        varied = started.model_copy(
            update={
                "agent": AgentRef(id=agent.id, slug=agent.slug, name=agent.name, variant=number),
                "model": behaviour.model,
                "parameters": behaviour.parameters,
                "limits": behaviour.limits,
                "system": system_of(behaviour.system_prompt, variables),
                "variables": variables,
                "tools": offered(tools, conversation(prefix.entries), behaviour.attachments),
                "output_schema": behaviour.output_schema,
                "attachments": dict(behaviour.attachments),
            }
        )
        return await self.loading.of(varied, behaviour.tool_loading, conversation(prefix.entries))

    def agent_of(self, started: RunStarted) -> Agent | None:
        """Also a deleted one."""
        try:
            return self.agents.get(started.agent.id)
        except NotFound:
            return None

    def own_model(self, started: RunStarted) -> str | None:
        """The model of the variant that the fork runs with, where that is still there."""
        agent = self.agent_of(started)
        session = self.session_of(started)
        if session is not None and started.agent.variant == WORKING_COPY:
            return model_of(session.tried) if session.tried else None
        variants = () if agent is None else agent.variants
        return next((model_of(one.behaviour) for one in variants if one.number == started.agent.variant), None)

    def session_of(self, started: RunStarted) -> Session | None:
        """The session that the run belongs to, where that is still there."""
        try:
            return self.sessions.get(started.session_id)
        except NotFound:
            return None
