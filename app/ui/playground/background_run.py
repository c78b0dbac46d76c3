"""Sends a message as a run in the background: a session of its own, which nobody has to wait for."""

from app.domain.messages import Attachment
from app.domain.sessions import Session
from app.engine.sessions.chat import FROM_PAGE
from app.ui.elements.addresses import JOBS
from app.ui.elements.notices import told_with_link
from app.workbench import Workbench


async def run_in_background(
    workbench: Workbench, session_id: str, text: str, attachments: tuple[Attachment, ...]
) -> None:
    """Begin it with the agent, variant, model, variables and tools of the session, whose composer it leaves.

    What may be called there without asking is asked for here: that was allowed in that session only. Raises what
    `Jobs.start` does; then what was typed stays.
    """
    session = workbench.sessions.get(session_id)
    await workbench.jobs.start(
        session.agent_id,
        text,
        attachments,
        variant=session.variant,
        model=session.model,
        variables=session.variables,
        tools_off=session.tools_off,
        trigger=FROM_PAGE,
    )
    told_with_link(
        "Running in the background.", "Open Jobs", JOBS, testid="background-notice", symbol="pending_actions"
    )

    def emptied(newest: Session) -> Session:
        left = tuple(part for part in newest.composer_attachments if part not in attachments)
        return newest.model_copy(update={"composer": "", "composer_attachments": left})

    await workbench.sessions.change(session_id, emptied)
