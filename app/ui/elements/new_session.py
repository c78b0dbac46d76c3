"""A new session, begun from wherever an agent is shown, and a workflow made from wherever a run is."""

from nicegui import ui

from app.domain.agents import Agent, model_words, tools_of
from app.ui.elements.addresses import editor_address, session_address
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.notices import problems_shown
from app.workbench import Workbench

UNTITLED = "New session"
"""What a session without a title is called."""
AS_NODES, NODES_SYMBOL = "Make a workflow from this run", "account_tree"


async def start_session(workbench: Workbench, agent_id: str) -> None:
    """A new session with the agent, shown at once."""
    with problems_shown():
        session = await workbench.chat.new_session(agent_id)
        ui.navigate.to(session_address(session.id))


async def make_workflow(workbench: Workbench, run_id: str) -> None:
    """A new workflow that does what the run did, its editor open."""
    with problems_shown():
        ui.navigate.to(editor_address(await workbench.workflows_of_runs.make(run_id)))


def agent_card(agent: Agent) -> Html:
    """A card that is heard as `data-agent`, the agent's id."""
    behaviour = agent.active_variant.behaviour
    tools = [choice.name for choice in tools_of(behaviour) if choice.policy != "off"]
    chips = [tag("span", model_words(behaviour), cls="chip")]
    if tools:
        chips.append(tag("span", icon("build"), plural(len(tools), "tool"), cls="chip", title=", ".join(tools)))
    return tag(
        "button",
        tag("span", tag("span", icon(agent.icon), cls="agent-icon"), tag("strong", agent.name), cls="row-line"),
        tag("p", agent.description or "No description."),
        tag("span", *chips, cls="chips"),
        type="button",
        cls="agent-card",
        data_testid="agent-card",
        data_agent=agent.id,
        aria_label=f"New session with {agent.name}",
    )
