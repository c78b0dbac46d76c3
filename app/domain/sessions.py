"""Sessions: one conversation with one agent, run after run."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import model_validator

from app.domain.agents import Agent, Behaviour, declared_of
from app.domain.apps import AppContext
from app.domain.errors import Conflict, NotFound
from app.domain.messages import Attachment, Message, user_message
from app.domain.provenance import Trigger
from app.domain.trace import Excerpt
from app.domain.values import Value


class QueuedMessage(Value):
    """A message that waits for the run before it to end."""

    id: str
    text: str
    attachments: tuple[Attachment, ...] = ()
    created_at: datetime
    trigger: Trigger = Trigger(kind="page")
    """Who queued it."""
    refusal: str = ""
    """Why it could not be sent when its turn came."""
    follows: str = ""
    """The run on whose branch it waits; empty for the branch that one stands on."""

    @property
    def headline(self) -> str:
        """Its text, or where there is none what is attached, by name."""
        return self.text if self.text.strip() else ", ".join(part.name for part in self.attachments)

    def waited_ms(self, until: datetime) -> float:
        """For how long it waited, in milliseconds: never nothing, as it did, also where a clock was set back."""
        return max(1.0, (until - self.created_at).total_seconds() * 1000)


class Session(Value):
    id: str
    agent_id: str
    agent_slug: str
    variant: int
    """The variant its next run uses."""
    tried: Behaviour | None = None
    """What somebody tries that is no variant yet, begun from that variant; its next run uses it. Such a session is not
    listed."""
    title: str = ""
    """Made from its first message until somebody renames it."""
    renamed: bool = False
    pinned: bool = False
    runs: tuple[str, ...] = ()
    """The ids of the runs one stands on, in their order: one branch of the conversation, to its end or a part of it."""
    trunk: tuple[str, ...] = ()
    """Turns that do not say themselves what they follow here, in their order: of a session that is older than branches,
    or of the one that this one was forked from."""
    variables: dict[str, str] = {}
    """Values that were chosen here; a variable without one has its variant's default."""
    model: str | None = None
    """A model to use instead of the variant's."""
    tools_off: tuple[str, ...] = ()
    tools_allowed: tuple[str, ...] = ()
    """Tools that are called here without asking, whatever the variant says."""
    composer: str = ""
    """What was typed and not sent yet."""
    composer_attachments: tuple[Attachment, ...] = ()
    """What was attached and not sent yet."""
    queue: tuple[QueuedMessage, ...] = ()
    app_contexts: tuple[AppContext, ...] = ()
    """What views want the model to know with the next message: the last word of each."""
    comparison: str = ""
    """The comparison whose column it is; such a session is not listed until it is opened as its own."""
    parent: str = ""
    """The run whose agent began it; such a session is not listed until somebody opens it or goes on in it."""
    behind: str = ""
    """The experiment, run or other work of the app that it belongs to; such a session is not listed."""
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None

    @model_validator(mode="before")
    @classmethod
    def _is_one_branch(cls, fields: object) -> object:
        """What says nothing of its trunk has one branch."""
        return {"trunk": fields.get("runs", ()), **fields} if isinstance(fields, dict) else fields

    @property
    def app_messages(self) -> tuple[Message, ...]:
        """What views want the model to know with the next message, as it is told."""
        return tuple(user_message(context.said) for context in self.app_contexts)


def behaviour_of(session: Session, agent: Agent) -> Behaviour:
    """What its next run does; a model and values that were chosen in the session go before it. Raises `NotFound`."""
    return session.tried or agent.variant(session.variant).behaviour


def check_not_deleted(session: Session) -> None:
    """Raises `Conflict` for one that was deleted: nobody would find again what is said in it."""
    if session.deleted_at is not None:
        raise Conflict("This session was deleted. Bring it back first, or send the message in a new one.")


def queued_message(session: Session, message_id: str) -> QueuedMessage:
    """The message that waits under that id; raises `NotFound`."""
    waiting = next((message for message in session.queue if message.id == message_id), None)
    if waiting is None:
        raise NotFound("This message does not wait any more: it was sent, or taken away.")
    return waiting


def with_queued(session: Session, message: QueuedMessage, *, first: bool = False) -> Session:
    """The session with the message at the end of its queue, or before all others; one that is there keeps its place."""
    if all(waiting.id != message.id for waiting in session.queue):
        queue = (message, *session.queue) if first else (*session.queue, message)
        return session.model_copy(update={"queue": queue})
    queue = tuple(message if waiting.id == message.id else waiting for waiting in session.queue)
    return session.model_copy(update={"queue": queue})


def without_queued(session: Session, message_id: str) -> Session:
    queue = tuple(message for message in session.queue if message.id != message_id)
    return session.model_copy(update={"queue": queue})


def title_of(text: str) -> str:
    """A session's title out of its first message: its first line, 60 characters at most."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 60 else line[:59].rstrip() + "…"


def switched(session: Session, agent: Agent, number: int) -> Session:
    """The session with another of its agent's variants for its next runs; chosen values stay. Raises `NotFound`."""
    agent.variant(number)
    defaults = {one.name: one.default for one in declared_of(agent.variant(session.variant).behaviour)}
    chosen = {name: value for name, value in session.variables.items() if value != defaults.get(name)}
    return session.model_copy(update={"variant": number, "variables": chosen, "tried": None})


@dataclass(frozen=True, slots=True)
class FoundSession:
    session: Session
    run_id: str = ""
    """The newest of its runs that says what was searched for; empty where only its title does, or nothing was."""
    excerpt: Excerpt | None = None


@dataclass(frozen=True, slots=True)
class SessionPage:
    sessions: list[FoundSession]
    total: int
    """How many there are, on all pages."""
