"""Who asks the API, and what they may use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.requests import HTTPConnection

from app.domain.agents import Agent
from app.domain.keys import NO_KEY, ApiKey, Right
from app.domain.provenance import Trigger, caller_span

CALLER = "agent_playground.caller"
"""Where the door leaves the caller in an ASGI scope."""
STARTED_FROM = "X-Started-From"
"""The header by which the app's own terminal says that it asks, or its bridge to MCP, which may less than the owner;
believed of the owner's token only.
"""
LONGEST_TRACEPARENT = 200
"""Characters of the header by which a caller names its own trace; a longer one is passed over."""
LONGEST_PROGRAM = 200
"""Characters of what a program says of itself that are kept."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request that the door let in."""

    trigger: Trigger
    """How the runs they start say who started them."""
    owner: bool
    """True for the app's own pages and terminal, and whoever has their token."""
    key: ApiKey | None = None
    """The API key they sent."""

    @property
    def id(self) -> str:
        """The same for all requests of one caller, and of no other."""
        return "owner" if self.owner else self.key.id if self.key else "anyone"

    @property
    def manages(self) -> bool:
        """Whether the whole app is theirs to work with, not only certain agents."""
        return self.owner or (self.key is not None and self.key.agents is None)

    def by(self, program: str) -> "Caller":
        """The same, and the runs they start say with which program."""
        return self._with(program=program)

    def below(self, traceparents: Sequence[str]) -> "Caller":
        """The same, and the runs they start belong below the span that those headers name: one that can be read."""
        if len(traceparents) != 1 or len(traceparents[0]) > LONGEST_TRACEPARENT or not caller_span(traceparents[0]):
            return self
        return self._with(traceparent=traceparents[0])

    def _with(self, **said: str) -> "Caller":
        return replace(self, trigger=self.trigger.model_copy(update=said))

    def may(self, right: Right) -> bool:
        """Whether they have that right: everybody has who manages all."""
        return self.owner or (self.key is not None and right in self.key.rights)

    def may_use(self, agent: Agent) -> bool:
        """Whether the agent, and its sessions and runs, are there for them."""
        if self.owner:
            return True
        return self.key.may_use(agent) if self.key else agent.is_public


OWNER = Caller(trigger=Trigger(kind="api_key"), owner=True)
TERMINAL = Caller(trigger=Trigger(kind="terminal"), owner=True)
ANYONE = Caller(trigger=Trigger(kind="api_key", name=NO_KEY), owner=False)
"""Whoever shows nothing, where that is enough."""


def with_key(key: ApiKey) -> Caller:
    """Who sent that key."""
    return Caller(trigger=Trigger(kind="api_key", name=key.name, key=key.id), owner=False, key=key)


def caller_of(connection: HTTPConnection) -> Caller:
    """Who sent it, as the door found out; where an app is served without a door, everybody is its owner."""
    found = connection.scope.get(CALLER, OWNER)
    if not isinstance(found, Caller):
        raise TypeError(f"The door left no caller, but {found!r}")
    said = "".join(one for one in connection.headers.get("user-agent", "") if one.isprintable())
    return found.by(said[:LONGEST_PROGRAM]).below(connection.headers.getlist("traceparent"))
