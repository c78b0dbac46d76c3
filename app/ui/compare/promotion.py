"""Making the agent answer from now on as a column of a comparison does."""

from app.domain.agents import Agent, promoted, with_variant
from app.domain.sessions import Session
from app.workbench import Workbench


async def promote(workbench: Workbench, session: Session) -> Agent:
    """The agent with the column's variant active; a model of the column's own is saved as a new variant first.

    Raises `WorkbenchError` as `agents.change` does.
    """

    def change(agent: Agent) -> Agent:
        saved = _with_model(agent, session)
        return promoted(saved, session.variant if saved is agent else saved.variants[-1].number)

    agent = await workbench.agents.change(session.agent_id, change)
    if session.model is not None:
        at_home = {"variant": agent.active, "model": None}
        await workbench.sessions.change(session.id, lambda one: one.model_copy(update=at_home))
    return agent


def _with_model(agent: Agent, session: Session) -> Agent:
    """The agent with the variant under the session's model as its newest; the agent itself where that is no change."""
    behaviour = agent.variant(session.variant).behaviour
    if session.model is None or session.model == behaviour.model:
        return agent
    own = behaviour.model_copy(update={"model": session.model})
    return with_variant(agent, own, origin=session.variant, note=f"With {session.model}, from a comparison")
