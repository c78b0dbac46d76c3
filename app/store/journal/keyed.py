"""What the tables of the app share: values, each under the key that it carries."""

from collections.abc import Callable
from typing import Generic, TypeVar

from app.domain.agents import Agent
from app.domain.comparisons import Comparison
from app.domain.sessions import Session
from app.domain.values import Value, now
from app.store.journal.documents import Documents

V = TypeVar("V", bound=Value)
R = TypeVar("R", Agent, Session, Comparison)


class Keyed(Generic[V]):
    def __init__(self, documents: Documents[V], key: Callable[[V], str]) -> None:
        self._documents = documents
        self._key = key

    def get(self, key: str) -> V:
        """Raises `NotFound`, or `StorageError` where it cannot be read."""
        return self._documents.get(key)

    def find(self, key: str) -> V | None:
        """`None` where there is none; raises `StorageError` where it cannot be read."""
        return self._documents.get(key) if self._documents.stored(key) is not None else None

    async def create(self, value: V) -> V:
        """Store a new one; raises `Conflict` where its key is taken."""
        return await self._documents.create(self._key(value), value)

    async def save(self, value: V) -> V:
        """Store a new one, or another state of one."""
        return await self._documents.save(self._key(value), value)

    async def change(self, key: str, change: Callable[[V], V]) -> V:
        """Apply `change` to the newest state and store it; returns what was stored."""
        return await self._documents.change(key, change)


class Removable(Keyed[V]):
    """Deleted ones are gone."""

    async def delete(self, key: str) -> None:
        """Forget it for good; nothing happens where there is none."""
        await self._documents.remove(key)


class Restorable(Keyed[R]):
    """Deleted ones are only taken out of the lists: `get` still gives them."""

    async def delete(self, key: str) -> R:
        """Take it out of the lists; `restore` brings it back."""
        return await self.change(key, lambda found: found.model_copy(update={"deleted_at": now()}))

    async def restore(self, key: str) -> R:
        return await self.change(key, lambda found: found.model_copy(update={"deleted_at": None}))
