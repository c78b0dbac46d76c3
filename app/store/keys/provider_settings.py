"""What was set for the providers of models, and that keys of theirs are kept."""

from collections.abc import Callable

from app.domain.errors import NotFound, StorageError
from app.domain.providers import KeptKey, ProviderSettings
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents
from app.store.journal.keyed import Removable


class ProviderSettingsStore(Removable[ProviderSettings]):
    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "providers", ProviderSettings, noun="provider"), lambda one: one.name)

    def all(self) -> list[ProviderSettings]:
        """Those of which something was set, by name."""
        return sorted(self._documents.values(), key=lambda one: one.name)

    def get(self, key: str) -> ProviderSettings:
        """What was set for it; nothing where nothing was, or where it cannot be read."""
        try:
            return super().get(key)
        except (NotFound, StorageError):
            return ProviderSettings(name=key)

    def field(self, name: str, field: str) -> str:
        """One of its settings by name, empty where there is none such."""
        value: object = self.get(name).model_dump().get(field, "")
        return value if isinstance(value, str) else ""

    async def change(self, key: str, change: Callable[[ProviderSettings], ProviderSettings]) -> ProviderSettings:
        """Apply `change` to what is set now and store it; returns what was stored."""
        return await self.save(change(self.get(key)))


class KeptKeys(Removable[KeptKey]):
    """Where each key is kept: without this every start would have to ask the keyring for keys that nobody saved."""

    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "kept_keys", KeptKey, noun="key"), lambda kept: kept.name)

    def all(self) -> list[KeptKey]:
        return list(self._documents.values())
