"""API keys: what other programs show to use agents. A key is shown once; what is kept can only know it again."""

import hashlib
import hmac
import secrets
from datetime import datetime
from typing import Literal, get_args

from pydantic import ConfigDict

from app.domain.agents import Agent
from app.domain.errors import WorkbenchError
from app.domain.provenance import Trigger
from app.domain.values import Value

PREFIX = "ap_"
"""Tells our keys from those of providers, in a log or a leaked file."""
LONGEST_NAME = 60
"""Characters."""
NO_KEY = "no key"
"""What runs say instead of a key's name that were started without one."""

Standing = Literal["valid", "expired", "revoked"]
Right = Literal["approve", "variants", "evals"]
"""What a key for certain agents may only where its owner said so.

`approve`: decide what runs that it started wait for. `variants`: other variants and models than the agent's own, and
forks that change something. `evals`: over MCP, make cases, run experiments and propose variants.
"""
RIGHTS: tuple[Right, ...] = get_args(Right)
RIGHT_TITLES: dict[Right, str] = {"approve": "Approve and answer", "variants": "Choose variants", "evals": "Evaluate"}


class ApiKey(Value):
    model_config = ConfigDict(defer_build=True)  # the app's start makes none

    id: str
    name: str
    """Unique among those that are not revoked; runs tell people by it who started them."""
    agents: tuple[str, ...] | None = None
    """The ids of the agents it may use; `None` for all, also later ones, and for what belongs to no agent."""
    may: tuple[Right, ...] = ()
    """What it may besides; one for all agents may all of this anyway."""
    secret_digest: str
    """The sha256 of the key: 256 random bits need no slower one."""
    last_four: str
    """How the key ends, for its owner to tell it by."""
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    """To the minute."""
    revoked_at: datetime | None = None
    once_named: str = ""
    """By which the runs are its own that it started before runs said its id; empty where there are none."""
    once_since: datetime | None = None
    """When nobody else had that name any more."""

    def standing(self, at: datetime) -> Standing:
        """Whether it opens anything at that time."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= at else "valid"

    def may_use(self, agent: Agent) -> bool:
        """Whether the agent is one of those it was made for."""
        return self.agents is None or agent.id in self.agents

    @property
    def rights(self) -> tuple[Right, ...]:
        """All that it may besides running its agents."""
        return RIGHTS if self.agents is None else self.may

    def started(self, trigger: Trigger) -> bool:
        """Whether it is behind a run that says that; of old runs, whether it had that name."""
        if trigger.key:
            return trigger.key == self.id
        return bool(self.once_named) and trigger == Trigger(kind="api_key", name=self.once_named)

    def fits(self, secret: str) -> bool:
        """Whether it is this key; takes the same time for every wrong one."""
        return hmac.compare_digest(self.secret_digest, secret_digest(secret))


def new_secret() -> str:
    """A key that nobody can guess: 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def secret_digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def checked_name(name: str) -> str:
    """The name without spaces around it; raises `WorkbenchError` for one that could not be read in a list."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise WorkbenchError(
            f"A key needs a name of 1 to {LONGEST_NAME} printable characters, such as the program that will use it."
        )
    if name == NO_KEY:
        raise WorkbenchError(f"Runs that are started without a key say {NO_KEY!r}. Choose another name.")
    return name
