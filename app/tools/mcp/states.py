"""How an MCP server is doing, as a page shows it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.domain.tool_settings import McpGrant, McpServer
from app.domain.tools import SignInRequest, ToolSpec
from app.domain.values import now

ServerStatus = Literal["off", "consent", "connecting", "ready", "waiting", "failed", "changed", "sign-in"]
"""`consent`: not started before its owner agrees. `waiting`: it was connected and is going to be again.
`failed`: it could not be connected, and is tried again. `changed`: its tools are withheld until they are looked at.
`sign-in`: it answers nobody who is not signed in."""

WITHHELD: dict[ServerStatus, str] = {
    "off": "is switched off. Switch it on on the Tools page",
    "consent": "has not been allowed to start. Allow it on the Tools page",
    "changed": "has other tools than were agreed to. Look at them on the Tools page",
}
"""By status, why its tools are withheld and the way out."""
Step = Literal["command found", "starts", "handshake", "tools listed", "first call"]


@dataclass(frozen=True)
class ToolChange:
    """A tool that is not what was agreed to."""

    name: str
    before: ToolSpec | None
    """`None` for a new tool."""
    after: ToolSpec | None
    """`None` for one that is gone."""


@dataclass(frozen=True)
class SignInState:
    """Whether somebody is signed in at the server, and the sign-in that goes on."""

    grant: McpGrant | None = None
    signed_in: bool = False
    request: SignInRequest | None = None
    """What is asked by a link that is good now; `None` where there is none."""
    problem: str = ""
    """Why the last sign-in came to nothing."""


@dataclass(frozen=True)
class ServerState:
    server: McpServer
    status: ServerStatus
    problem: str = ""
    """What went wrong and what to do about it."""
    tools: tuple[ToolSpec, ...] = ()
    """As they were listed last."""
    log: tuple[str, ...] = ()
    """The last lines of what it wrote to its standard error, and of what happened to it."""
    retry_at: datetime | None = None
    about: str = ""
    """What it calls itself, its version and the protocol it speaks."""
    changes: tuple[ToolChange, ...] = ()
    sign_in: SignInState = SignInState()
    pid: int | None = None
    """Of its process while it is connected, where it is one of ours."""
    view_log: tuple[str, ...] = ()
    """The last lines of what the views of its tools reported."""


@dataclass(frozen=True)
class Finding:
    """What the doctor found out in one step."""

    step: Step
    ok: bool
    text: str
    """In plain words, with the way out where there is one."""


@dataclass(frozen=True)
class Patience:
    """How long a server is waited for, in seconds."""

    handshake: float = 30
    """From its start until its tools are listed."""
    retries: tuple[float, ...] = (1, 2, 4, 8, 16, 32, 60)
    """Before each next try to connect; the last one stays."""
    settled: float = 60
    """A server that was connected for so long starts with the first of `retries` again."""
    settling: float = 2
    """After its very first listing: servers add tools once they know who asks; those count as listed at first."""
    call: float = 5
    """What a call waits for a server that is being connected again."""
    link: float = 600
    """How long a link to sign in by is good."""
    listing: float = 1
    """Between two listings of its tools, however often it says that they changed."""

    def before_retry(self, failures: int) -> float:
        return self.retries[min(failures, len(self.retries)) - 1]

    def for_call(self, state: ServerState) -> float:
        """How long a call waits for a server in that state, which is not connected."""
        if state.status == "connecting":
            return self.handshake
        if state.retry_at is None:
            return 0 if state.status in WITHHELD else self.call
        until_retry = (state.retry_at - now()).total_seconds()
        return self.call if until_retry < self.call else 0


def tool_changes(agreed: Iterable[ToolSpec], listed: Iterable[ToolSpec]) -> tuple[ToolChange, ...]:
    """Every tool that is new, gone, or tells a model or a person something else than was agreed to."""
    before = {spec.name: spec for spec in agreed}
    after = {spec.name: spec for spec in listed}
    return tuple(
        ToolChange(name, before.get(name), after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )


def unconnected(server: McpServer) -> ServerState:
    """As it stands before anything is tried."""
    return ServerState(server, resting(server), tools=server.seen_tools or ())


def resting(server: McpServer) -> ServerStatus:
    """The status before anything is tried."""
    if not server.enabled:
        return "off"
    return "connecting" if server.consented == server.transport.digest else "consent"
