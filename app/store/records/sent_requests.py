"""The requests of the last day that may be sent again."""

from datetime import datetime

from app.domain.sent_requests import SentRequest
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class SentRequests:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "sent_requests", SentRequest, noun="request")

    def get(self, request_id: str) -> SentRequest | None:
        return self._documents.get(request_id) if self._documents.stored(request_id) is not None else None

    async def save(self, request: SentRequest) -> None:
        await self._documents.save(request.id, request)

    async def forget(self, before: datetime) -> None:
        """Remove those that were sent earlier."""
        for request in [request for request in self._documents.values() if request.at < before]:
            await self._documents.remove(request.id)
