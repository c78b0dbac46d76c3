"""Who may what: the one place where that is judged, for the door, every route and every socket.

What a caller asks for by name or id is found if it is there for them; what is not is not found, for lack of a hint. For
a key for certain agents there is what was started with it; without a key there is nothing but public agents.
"""

from app.api.door.caller import Caller, with_key
from app.domain.agents import Agent
from app.domain.errors import NotFound, WorkbenchError
from app.domain.evals.experiments import Experiment
from app.domain.forks.forks import ForkPlan
from app.domain.keys import RIGHT_TITLES, Right
from app.domain.sessions import Session
from app.domain.trace import KeyRuns, RunRow
from app.domain.values import now
from app.workbench import Workbench


class Forbidden(WorkbenchError):
    """The caller may see it, and not change it."""

    code = "forbidden"


def owner_only(caller: Caller, what: str) -> None:
    """Raises `Forbidden` for all but the owner; `what` is what they wanted to do."""
    if not caller.owner:
        raise Forbidden(f"A key may not {what}. Use the app's own pages, or the token that it printed at start.")


def managers_only(caller: Caller, what: str) -> None:
    """Raises `Forbidden` for whom only certain agents are there; `what` is what they wanted to do."""
    if not caller.manages:
        raise Forbidden(
            f"This key may run its agents, but not {what}. Use a key for all agents, or the app's own pages."
        )


def as_of_now(workbench: Workbench, caller: Caller) -> Caller:
    """The caller with the rights that their key has by now; raises `Forbidden` where it opens nothing any more."""
    if caller.key is None:
        return caller
    key = workbench.keys.newest(caller.key)
    if key.standing(now()) != "valid":
        raise Forbidden(f"The key {key.name!r} opens nothing any more. Send another one.")
    return with_key(key).by(caller.trigger.program)


def may_only(caller: Caller, right: Right, what: str) -> None:
    """Raises `Forbidden` for whom that right was not ticked; `what` is what they wanted to do."""
    if not caller.may(right):
        raise Forbidden(
            f"This key may not {what}: its owner can tick {RIGHT_TITLES[right]!r} for it on the Integrations page."
            if caller.key
            else f"Without a key nobody may {what}. Send the API key of somebody who may."
        )


def may_vary(caller: Caller, agent: Agent, *, variant: int | None = None, model: str | None = None) -> None:
    """Raises `Forbidden` where they may not run the agent so; its active variant is there for all who may use it."""
    if model is not None or variant not in (None, agent.active):
        may_only(caller, "variants", f"choose another variant or model than the active one, {agent.active}")


def fork_for(workbench: Workbench, caller: Caller, run_id: str, plan: ForkPlan) -> ForkPlan:
    """The plan as the caller may have it, for a run of theirs: unchanged, with what is the active variant today."""
    row = run_for(workbench, caller, run_id)
    if plan.join:
        session_for(workbench, caller, row.session_id)
    if caller.may("variants"):
        return plan
    if plan != ForkPlan(seq=plan.seq, join=plan.join):
        may_only(caller, "variants", "change anything in a fork")
    return plan.model_copy(update={"variant": workbench.agents.get(row.agent.id).active})


def agents_for(workbench: Workbench, caller: Caller) -> list[Agent]:
    """The agents that are there for the caller, by name."""
    return [agent for agent in workbench.agents.all() if caller.may_use(agent)]


def agent_for(workbench: Workbench, caller: Caller, named: str) -> Agent:
    """The agent of that slug or id; raises `NotFound`, which names those there are for the caller."""
    agents = agents_for(workbench, caller)
    found = next((agent for agent in agents if named in (agent.slug, agent.id)), None)
    if found is None:
        known = ", ".join(sorted(agent.slug for agent in agents)) or "none"
        raise NotFound(f"There is no agent {named!r}. Agents: {known}.")
    return found


def agent_of_runs(workbench: Workbench, caller: Caller, named: str) -> Agent:
    """The agent whose runs are asked for: for who manages all, a deleted one too. Raises `NotFound`."""
    deleted = workbench.agents.deleted() if caller.manages else []
    found = next((agent for agent in deleted if named in (agent.slug, agent.id)), None)
    return found or agent_for(workbench, caller, named)


def session_for(workbench: Workbench, caller: Caller, session_id: str) -> Session:
    """The session; raises `NotFound`, also for a deleted one."""
    missing = NotFound(f"There is no session {session_id!r}. GET /api/v1/sessions lists all there are.")
    try:
        session = workbench.sessions.get(session_id)
    except NotFound:
        raise missing from None
    theirs = runs_of(workbench, caller)
    if session.deleted_at is not None or not (theirs is None or workbench.rows.is_session_of_key(session_id, theirs)):
        raise missing
    return session


def run_for(workbench: Workbench, caller: Caller, run_id: str) -> RunRow:
    """The row of that run; raises `NotFound`."""
    row, theirs = workbench.rows.get(run_id), runs_of(workbench, caller)
    if row is None or not (theirs is None or workbench.rows.is_of_key(run_id, theirs)):
        raise NotFound(f"There is no run {run_id!r}. GET /api/v1/runs lists all there are.")
    return row


def experiment_for(workbench: Workbench, caller: Caller, experiment_id: str) -> Experiment:
    """The experiment; raises `NotFound`. For a key for certain agents there are those that were started with it."""
    missing = NotFound(f"There is no experiment {experiment_id!r}. What starts one answers with its id.")
    try:
        found = workbench.experimenting.get(experiment_id)
    except NotFound:
        raise missing from None
    theirs = {agent.id for agent in agents_for(workbench, caller)}
    tried = {found.plan.agent_of(column) for column in found.plan.columns}
    started = caller.key is not None and caller.key.started(found.by) and tried <= theirs
    if not (caller.manages or started):
        raise missing
    return found


def runs_of(workbench: Workbench, caller: Caller) -> KeyRuns | None:
    """The runs that are there for the caller; `None` for all. Those of a deleted agent are for who manages all."""
    if caller.manages:
        return None
    if (key := caller.key) is None:
        return KeyRuns(key="", agents=frozenset())
    agents = frozenset(agent.id for agent in agents_for(workbench, caller))
    return KeyRuns(key=key.id, agents=agents, name=key.once_named, since=key.once_since)
