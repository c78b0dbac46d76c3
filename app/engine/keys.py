"""Making, finding and revoking API keys."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from app.domain.agents import Agent
from app.domain.errors import Conflict, NotFound, StorageError, WorkbenchError
from app.domain.keys import NO_KEY, RIGHTS, ApiKey, Right, checked_name, new_secret, secret_digest
from app.domain.provenance import Trigger
from app.domain.values import new_id
from app.engine.ports import Clock, Store

log = logging.getLogger(__name__)

NOTED_EVERY = timedelta(minutes=1)
"""How exactly it is kept when a key was last used."""
LONGEST_DAYS = 3650
BRIDGE, BRIDGE_NAME = "agent-playground-mcp", "agent-playground mcp"
BEFORE_ALL = datetime(2026, 1, 1, tzinfo=UTC)


class AgentDirectory(Protocol):
    def all(self) -> list[Agent]:
        """Those that are not deleted."""
        ...


class KeyStore(Store[ApiKey], Protocol):
    def all(self) -> list[ApiKey]: ...


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new key, with what nobody can read again later."""

    key: ApiKey
    secret: str
    """What a program sends."""


class Keys:
    def __init__(self, store: KeyStore, agents: AgentDirectory, clock: Clock) -> None:
        self._store = store
        self._agents = agents
        self._clock = clock
        self._known: dict[str, ApiKey] | None = None
        """By the digest of their secrets; made when the first program asks."""
        self._noting: set[asyncio.Task[None]] = set()
        self.seen: dict[str, str] = {}
        """By what programs send: the names of the keys that were made or used since the app began."""
        self.on_seen: list[Callable[[], None]] = []
        """Told when there is another one."""

    async def create(
        self,
        name: str,
        *,
        agents: Sequence[str] | None = None,
        may: Sequence[Right] = (),
        days: float | None = None,
    ) -> MadeKey:
        """A new key for those agents (by id or slug; `None` for all) that expires after so many days, or never.

        Raises `Conflict` where the name is taken, `NotFound` for an agent there is not, `WorkbenchError`.
        """
        name = checked_name(name)
        self._check_free(name)
        created_at, secret = self._clock.now(), new_secret()
        key = ApiKey(
            id=new_id(),
            name=name,
            agents=None if agents is None else self._ids(agents),
            may=_sorted(may),
            secret_digest=secret_digest(secret),
            last_four=secret[-4:],
            created_at=created_at,
            expires_at=None if days is None else created_at + _lifetime(days),
        )
        self._keep(await self._store.create(key))
        self._saw(secret, key)
        return MadeKey(key, secret)

    def all(self) -> list[ApiKey]:
        """All keys, the newest first; the revoked ones too."""
        return self._store.all()

    def named(self, name: str) -> ApiKey:
        """The key of that name that is not revoked; raises `NotFound`, which names those there are."""
        usable = {key.name: key for key in self.all() if key.revoked_at is None}
        if name not in usable:
            known = ", ".join(sorted(usable)) or "none yet"
            raise NotFound(f"There is no key {name!r}. Keys: {known}.")
        return usable[name]

    async def change(self, key_id: str, *, name: str | None = None, may: Sequence[Right] | None = None) -> ApiKey:
        """Give it that name and these rights, and no others; what is `None` stays.

        Raises `Conflict` where the name is taken, `NotFound`, `WorkbenchError`.
        """
        changes: dict[str, object] = {} if may is None else {"may": _sorted(may)}
        if name is not None and (name := checked_name(name)) != self._store.get(key_id).name:
            self._check_free(name)
            changes["name"] = name
        return await self._change(key_id, lambda key: key.model_copy(update=changes))

    async def revoke(self, key_id: str) -> ApiKey:
        """Let it open nothing any more, for good; one that is revoked stays as it is. Raises `NotFound`."""
        at = self._clock.now()
        return await self._change(
            key_id, lambda key: key if key.revoked_at else key.model_copy(update={"revoked_at": at})
        )

    def check(self, secret: str) -> ApiKey | None:
        """The key that was sent, whether it is valid or not; `None` for one that was never made."""
        key = self._by_digest().get(secret_digest(secret))
        if key is None or not key.fits(secret):
            return None
        self._saw(secret, key)
        return key

    @property
    def bridge(self) -> ApiKey:
        """As whom `agent-playground mcp` asks: it opens every agent with no right besides, and nobody can send it."""
        agents = tuple(agent.id for agent in self._agents.all())
        return ApiKey(id=BRIDGE, name=BRIDGE_NAME, agents=agents, secret_digest="", last_four="", created_at=BEFORE_ALL)

    def newest(self, key: ApiKey) -> ApiKey:
        """The key as it is now."""
        return self._by_digest().get(key.secret_digest, key)

    def may_use(self, trigger: Trigger, agent: Agent) -> bool:
        """Whether the agent is there for whoever started a run: pages and the terminal are the owner's.

        A key that opens nothing any more reaches no agent; without a key only public ones are there.
        """
        match trigger:
            case Trigger(kind="api_key", name=name) if name == NO_KEY:
                return agent.is_public
            case Trigger(kind="agent", key=""):  # nobody knows any more who started it
                return False
            case _:
                return _is_owners(trigger) or any(key.may_use(agent) for key in self._behind(trigger))

    def may_vary(self, trigger: Trigger) -> bool:
        """Whether whoever starts a run may have another variant or model in it than the agent's own."""
        return _is_owners(trigger) or any("variants" in key.rights for key in self._behind(trigger))

    def used(self, key: ApiKey) -> None:
        """Note that it was used now, beside whoever waits for an answer and at most once a minute."""
        if key.id == BRIDGE:  # it is kept nowhere
            return
        at = self._clock.now()
        newest = self.newest(key)
        if newest.last_used_at is None or at - newest.last_used_at >= NOTED_EVERY:
            self._keep(newest.model_copy(update={"last_used_at": at}))
            task = asyncio.create_task(self._note(key.id, at), name=f"note the use of key {key.id}")
            self._noting.add(task)
            task.add_done_callback(self._noting.discard)

    async def close(self) -> None:
        """Return when every use is on disk."""
        await asyncio.gather(*self._noting)

    def _behind(self, trigger: Trigger) -> list[ApiKey]:
        """The key that started it, while it opens anything."""
        at = self._clock.now()
        keys = (self.bridge, *self.all())
        return [key for key in keys if key.started(trigger) and key.standing(at) == "valid"]

    def _saw(self, secret: str, key: ApiKey) -> None:
        if secret not in self.seen:
            self.seen[secret] = key.name
            for tell in self.on_seen:
                tell()

    async def _note(self, key_id: str, at: datetime) -> None:
        try:
            await self._store.change(key_id, lambda key: key.model_copy(update={"last_used_at": at}))
        except StorageError as error:
            log.warning("When a key was last used is not on disk: %s", error)

    async def _change(self, key_id: str, change: Callable[[ApiKey], ApiKey]) -> ApiKey:
        try:
            return await self._store.change(key_id, change)
        finally:  # whoever waited for the disk may be gone, and it is so
            self._keep(self._store.get(key_id))

    def _by_digest(self) -> dict[str, ApiKey]:
        if self._known is None:
            self._known = {key.secret_digest: key for key in self._store.all()}
        return self._known

    def _keep(self, key: ApiKey) -> None:
        self._by_digest()[key.secret_digest] = key

    def _check_free(self, name: str) -> None:
        if any(key.name == name and key.revoked_at is None for key in self.all()):
            raise Conflict(f"There is a key {name!r} already. Choose another name, or revoke that one first.")

    def _ids(self, agents: Sequence[str]) -> tuple[str, ...]:
        if not agents:
            raise WorkbenchError("A key for no agent opens nothing. Name at least one, or leave them out for all.")
        known = {name: agent.id for agent in self._agents.all() for name in (agent.id, agent.slug)}
        if unknown := [agent for agent in agents if agent not in known]:
            slugs = ", ".join(sorted(agent.slug for agent in self._agents.all())) or "none yet"
            raise NotFound(f"There is no agent {unknown[0]!r}. Agents: {slugs}.")
        return tuple(dict.fromkeys(known[agent] for agent in agents))


def _is_owners(trigger: Trigger) -> bool:
    """Whether no key, and nobody without one, started it; of a run below another one, as far as it says so."""
    return not trigger.key and (trigger.kind != "api_key" or not trigger.name)


def _sorted(may: Sequence[Right]) -> tuple[Right, ...]:
    return tuple(right for right in RIGHTS if right in may)


def _lifetime(days: float) -> timedelta:
    if not 0 < days <= LONGEST_DAYS:
        raise WorkbenchError(f"A key lasts more than 0 and at most {LONGEST_DAYS} days; leave that out for no end.")
    return timedelta(days=days)
