"""A new session, begun from wherever an agent is shown."""

from nicegui import ui

from app.ui.elements.addresses import session_address
from app.ui.elements.notices import problems_shown
from app.workbench import Workbench

UNTITLED = "New session"
"""What a session without a title is called."""


async def start_session(workbench: Workbench, agent_id: str) -> None:
    """A new session with the agent, shown at once."""
    with problems_shown():
        session = await workbench.chat.new_session(agent_id)
        ui.navigate.to(session_address(session.id))
