"""What a person has set for the whole app: one document."""

from app.domain.errors import NotFound, StorageError
from app.domain.settings import Preferences
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents

_KEY = "preferences"


class PreferencesStore:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "preferences", Preferences, noun="document")

    def get(self) -> Preferences:
        """What is set, and what comes with the app where nothing is or where it cannot be read."""
        try:
            return self._documents.get(_KEY)
        except (NotFound, StorageError):
            return Preferences()

    async def save(self, preferences: Preferences) -> None:
        await self._documents.save(_KEY, preferences)
