"""A tool that a person gives to the agent of a session with one click."""

from app.domain.agents import Agent, Behaviour, tools_of, with_variant
from app.domain.errors import NotFound
from app.domain.sessions import switched
from app.domain.tool_settings import with_tool
from app.domain.values import now
from app.ui.elements.visible import title_of
from app.workbench import Workbench


async def give_tool(workbench: Workbench, session_id: str, name: str) -> str:
    """Let the session's next runs have that tool, by a new variant where the one in use has it not.

    Gives what was done, in words. Raises `NotFound` for a tool that is gone.
    """
    session = workbench.sessions.get(session_id)
    spec = next(iter(workbench.tools.specs((name,))), None)
    if spec is None:
        raise NotFound(f"There is no tool {name!r} any more.")
    title = title_of(spec)
    on = tuple(other for other in session.tools_off if other != name)
    choices = tools_of(workbench.agents.get(session.agent_id).variant(session.variant).behaviour)
    granted = workbench.tools.specs(tuple(choice.name for choice in choices if choice.policy != "off"))
    if name in session.tools_off and spec in granted:
        await workbench.sessions.change(session_id, lambda newest: newest.model_copy(update={"tools_off": on}))
        return f"{title} is on again in this session."

    def given(behaviour: Behaviour) -> Behaviour:
        return with_tool(behaviour, name, "ask" if spec.side_effects else "auto")

    def saved(agent: Agent) -> Agent:
        behaviour = given(agent.variant(session.variant).behaviour)
        return with_variant(agent, behaviour, origin=session.variant, note=f"Given {title}")

    agent = await workbench.agents.change(session.agent_id, saved)
    number = agent.variants[-1].number
    await workbench.sessions.change(
        session_id, lambda newest: switched(newest, agent, number).model_copy(update={"tools_off": on})
    )
    if (copy := workbench.working_copies.get(agent.id)) is not None:
        changes = {"behaviour": given(copy.behaviour), "updated_at": now()}
        workbench.working_copies.typed(copy.model_copy(update=changes))
    return f"Saved as variant {number}, with {title}. This session uses it from now on."
