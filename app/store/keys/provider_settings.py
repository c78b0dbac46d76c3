"""What was set for the providers of models, and that keys of theirs are kept."""

from collections.abc import Callable

from app.domain.errors import NotFound, StorageError
from app.domain.providers import KeptKey, ProviderSettings
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class ProviderSettingsStore:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "providers", ProviderSettings, noun="provider")

    def all(self) -> list[ProviderSettings]:
        """Those of which something was set, by name."""
        return sorted(self._documents.values(), key=lambda one: one.name)

    def get(self, name: str) -> ProviderSettings:
        """What was set for it; nothing where nothing was, or where it cannot be read."""
        try:
            return self._documents.get(name)
        except (NotFound, StorageError):
            return ProviderSettings(name=name)

    def field(self, name: str, field: str) -> str:
        """One of its settings by name, empty where there is none such."""
        value: object = self.get(name).model_dump().get(field, "")
        return value if isinstance(value, str) else ""

    async def create(self, settings: ProviderSettings) -> ProviderSettings:
        """Raises `Conflict` where the name is taken."""
        return await self._documents.create(settings.name, settings)

    async def change(self, name: str, change: Callable[[ProviderSettings], ProviderSettings]) -> ProviderSettings:
        """Apply `change` to what is set now and store it; returns what was stored."""
        return await self._documents.save(name, change(self.get(name)))

    async def delete(self, name: str) -> None:
        await self._documents.remove(name)


class KeptKeys:
    """Where each key is kept: without this every start would have to ask the keyring for keys that nobody saved."""

    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "kept_keys", KeptKey, noun="key")

    def all(self) -> list[KeptKey]:
        return list(self._documents.values())

    async def save(self, kept: KeptKey) -> None:
        await self._documents.save(kept.name, kept)

    async def delete(self, name: str) -> None:
        await self._documents.remove(name)
