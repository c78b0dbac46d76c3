"""What a session gives its next run, and what that run leaves in it."""

from app.domain.agents import Agent, Behaviour
from app.domain.errors import NotFound, TooLarge, WorkbenchError
from app.domain.messages import Attachment, Message, ReasoningPart, TextPart, system_message
from app.domain.prompts import filled
from app.domain.provenance import Purpose
from app.domain.sessions import Session, title_of, without_queued
from app.domain.tools import GrantedTool
from app.domain.trace import StoredTrace, conversation
from app.domain.values import now
from app.engine.loop.granting import granted
from app.engine.ports import Toolbox

LONGEST_MESSAGE = 200_000
"""Characters; about 50,000 tokens."""


def checked(text: str, attachments: tuple[Attachment, ...] = ()) -> str:
    """The message as it is; raises `WorkbenchError` for an empty one, `TooLarge` for one that is too long."""
    if not text.strip() and not attachments:
        raise WorkbenchError("The message is empty. Write something for the agent first.")
    if len(text) > LONGEST_MESSAGE:
        raise TooLarge(
            f"The message has {len(text):,} characters; {LONGEST_MESSAGE:,} is the most. "
            "Shorten it, or send it in several messages."
        )
    return text


def purpose_of(session: Session) -> Purpose:
    """What the next run of the session is for, where nobody says it."""
    return "compare" if session.comparison else "chat"


def place_of(session: Session, run_id: str) -> int:
    """The run's place in the session; raises `NotFound`."""
    if run_id not in session.runs:
        raise NotFound("This message is not part of the session any more. Reload the page to see how it stands.")
    return session.runs.index(run_id)


def history_after(trace: StoredTrace) -> tuple[Message, ...]:
    """What the next run knows of this one and those before it; the live text of a run cut off by a kill included."""
    messages = conversation(trace.entries)
    draft = trace.draft
    parts: list[ReasoningPart | TextPart] = []
    if draft.reasoning:
        parts.append(ReasoningPart(text=draft.reasoning))
    if draft.text:
        parts.append(TextPart(text=draft.text))
    if parts:
        messages.append(Message(role="assistant", parts=tuple(parts), partial=True))
    return tuple(messages)


def granted_in(toolbox: Toolbox, agent: Agent, behaviour: Behaviour, session: Session) -> tuple[GrantedTool, ...]:
    """The session's tools; those it may call without asking are called so."""
    unasked = set(session.tools_allowed)
    return tuple(
        tool.model_copy(update={"policy": "auto"}) if tool.spec.name in unasked else tool
        for tool in granted(toolbox, agent, behaviour, session.tools_off)
    )


def with_run(session: Session, place: int, run_id: str, text: str, queued: str) -> Session:
    """The session with a run that begins with `text`: what was typed, or what waited under the id `queued`."""
    changes: dict[str, object] = {"runs": (*session.runs[:place], run_id), "updated_at": now()}
    if place > 0:
        changes["parent"] = ""
    if queued:
        session = without_queued(session, queued)
    else:
        changes |= {"composer": "", "composer_attachments": ()}
    if place == 0 and not session.renamed:
        changes["title"] = title_of(text)
    return session.model_copy(update=changes)


def system_of(behaviour: Behaviour, session: Session) -> Message | None:
    """The system prompt with its variables filled in; none where it is empty."""
    prompt = filled(behaviour.system_prompt, variables_of(behaviour, session)).strip()
    return system_message(prompt) if prompt else None


def variables_of(behaviour: Behaviour, session: Session) -> dict[str, str]:
    defaults = {variable.name: variable.default for variable in behaviour.variables}
    return {**defaults, **session.variables}
