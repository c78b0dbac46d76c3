"""What was uploaded to providers of models, so that it is uploaded once and removed again."""

from app.domain.providers import ProviderFile
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents, Removable


class KeptProviderFiles(Removable[ProviderFile]):
    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "provider_files", ProviderFile, noun="uploaded file"), lambda one: one.key)

    def all(self) -> list[ProviderFile]:
        """Those that can be read, in no order."""
        return list(self._documents.values())
