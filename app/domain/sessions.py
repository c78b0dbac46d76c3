"""Sessions: one conversation with one agent, run after run."""

from datetime import datetime

from app.domain.agents import Agent
from app.domain.messages import Attachment
from app.domain.values import Value


class QueuedMessage(Value):
    """A message that waits for the run before it to end."""

    id: str
    text: str
    created_at: datetime


class Session(Value):
    id: str
    agent_id: str
    agent_slug: str
    variant: int
    """The variant its next run uses."""
    title: str = ""
    """Made from its first message until somebody renames it."""
    renamed: bool = False
    pinned: bool = False
    runs: tuple[str, ...] = ()
    """The ids of its runs in their order; a run that was edited and sent again is replaced, not repeated."""
    variables: dict[str, str] = {}
    """Values that were chosen here; a variable without one has its variant's default."""
    model: str | None = None
    """A model to use instead of the variant's."""
    tools_off: tuple[str, ...] = ()
    composer: str = ""
    """What was typed and not sent yet."""
    composer_attachments: tuple[Attachment, ...] = ()
    """What was attached and not sent yet."""
    queue: tuple[QueuedMessage, ...] = ()
    comparison: str = ""
    """The comparison whose column it is; such a session is not listed until it is opened as its own."""
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None


def title_of(text: str) -> str:
    """A session's title out of its first message: its first line, 60 characters at most."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 60 else line[:59].rstrip() + "…"


def switched(session: Session, agent: Agent, number: int) -> Session:
    """The session with another of its agent's variants for its next runs; chosen values stay. Raises `NotFound`."""
    agent.variant(number)
    defaults = {one.name: one.default for one in agent.variant(session.variant).behaviour.variables}
    chosen = {name: value for name, value in session.variables.items() if value != defaults.get(name)}
    return session.model_copy(update={"variant": number, "variables": chosen})
