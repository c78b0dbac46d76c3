"""The tool files that their owner allowed to run."""

from app.domain.tool_settings import TrustedFile
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class TrustedFiles:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "trusted_files", TrustedFile, noun="trusted file")

    def get(self, path: str) -> TrustedFile | None:
        """What its owner decided about the file under that absolute path, `None` where nothing yet."""
        return self._documents.get(path) if self._documents.stored(path) is not None else None

    async def save(self, trusted: TrustedFile) -> None:
        await self._documents.save(trusted.path, trusted)

    async def delete(self, path: str) -> None:
        await self._documents.remove(path)
