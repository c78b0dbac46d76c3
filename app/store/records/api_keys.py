"""The API keys, also those that were revoked: runs name them, and who still sends one is told why it opens nothing."""

from collections.abc import Callable

from app.domain.keys import ApiKey
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class ApiKeys:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "api_keys", ApiKey, noun="key")

    def all(self) -> list[ApiKey]:
        """The newest first."""
        return sorted(self._documents.values(), key=lambda key: key.created_at, reverse=True)

    def get(self, key_id: str) -> ApiKey:
        """Raises `NotFound`."""
        return self._documents.get(key_id)

    async def create(self, key: ApiKey) -> ApiKey:
        return await self._documents.create(key.id, key)

    async def change(self, key_id: str, change: Callable[[ApiKey], ApiKey]) -> ApiKey:
        """Apply `change` to the newest state and store it; returns what was stored."""
        return await self._documents.change(key_id, change)
