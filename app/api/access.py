"""What a caller asks for by name or id, found if it is there for them; what is not is not found, for lack of a hint."""

from app.api.caller import Caller
from app.domain.agents import Agent
from app.domain.errors import NotFound, WorkbenchError
from app.domain.sessions import Session
from app.domain.trace import RunRow
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


def session_for(workbench: Workbench, caller: Caller, session_id: str) -> Session:
    """The session; raises `NotFound`, also for a deleted one."""
    missing = NotFound(f"There is no session {session_id!r}. GET /api/v1/sessions lists all there are.")
    try:
        session = workbench.sessions.get(session_id)
    except NotFound:
        raise missing from None
    if session.deleted_at is not None or not _may_see(workbench, caller, session.agent_id):
        raise missing
    return session


def run_for(workbench: Workbench, caller: Caller, run_id: str) -> RunRow:
    """The row of that run; raises `NotFound`."""
    row = workbench.rows.get(run_id)
    if row is None or not _may_see(workbench, caller, row.agent.id):
        raise NotFound(f"There is no run {run_id!r}. GET /api/v1/runs lists all there are.")
    return row


def _may_see(workbench: Workbench, caller: Caller, agent_id: str) -> bool:
    """Whether what belongs to the agent is there for the caller; of a deleted agent only for who manages all."""
    if caller.manages:
        return True
    try:
        agent = workbench.agents.get(agent_id)
    except NotFound:
        return False
    return agent.deleted_at is None and caller.may_use(agent)
