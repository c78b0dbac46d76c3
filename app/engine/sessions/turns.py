"""What a session gives its next run, and what that run leaves in it."""

from collections.abc import Callable

from app.domain.apps import AppContext
from app.domain.errors import TooLarge, WorkbenchError
from app.domain.events import RunStarted
from app.domain.messages import Attachment, Message, ReasoningPart, TextPart
from app.domain.provenance import Purpose
from app.domain.sessions import Session, title_of, without_queued
from app.domain.trace import StoredTrace, conversation
from app.domain.values import now

Begun = Callable[[RunStarted], RunStarted]
"""How a run begins, made of how it would begin."""
Path = Callable[[Session], tuple[str, ...]]
"""The runs that the next one follows, in the session as it is once no other run of it begins or goes on."""
LONGEST_MESSAGE = 200_000
"""Characters; about 50,000 tokens."""


def as_it_is(started: RunStarted) -> RunStarted:
    return started


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
    if session.tried is not None:
        return "try"
    return "compare" if session.comparison else "chat"


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


def with_run(
    session: Session,
    before: tuple[str, ...],
    run_id: str,
    text: str,
    queued: str,
    *,
    typed: bool,
    along: tuple[AppContext, ...] = (),
) -> Session:
    """The session with a run that follows `before` and begins with `text`, which may have waited under `queued`.

    One stands on the run from now on, unless it was queued on another branch than one looks at. What was `typed` is
    no draft any more; what went `along` of what views say is told no second time.
    """
    left = tuple(context for context in session.app_contexts if context not in along)
    changes: dict[str, object] = {"updated_at": now(), "app_contexts": left}
    if not queued or session.runs == before:
        changes["runs"] = (*before, run_id)
    if before:
        changes["parent"] = ""
    if queued:
        session = without_queued(session, queued)
    elif typed:
        changes |= {"composer": "", "composer_attachments": ()}
    if not before and not session.renamed:
        changes["title"] = title_of(text)
    return session.model_copy(update=changes)


def with_child(session: Session, child_id: str, title: str) -> Session:
    """The session of a run that another one started, which may have been lost on the way."""
    return (
        session if session.runs else session.model_copy(update={"runs": (child_id,), "title": session.title or title})
    )
