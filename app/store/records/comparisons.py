"""The comparisons, the last used one first."""

from collections.abc import Callable

from app.domain.comparisons import Comparison
from app.domain.values import now
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents, Marks, number


class Comparisons:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "comparisons", Comparison, noun="comparison", marks=_marks)

    def get(self, comparison_id: str) -> Comparison:
        """Also a deleted one; raises `NotFound`."""
        return self._documents.get(comparison_id)

    def recent(self, limit: int = 50) -> list[Comparison]:
        """By when something last happened in them; deleted ones left out."""
        shown = [document for document in self._documents.documents() if not document.get("deleted")]
        shown.sort(key=lambda document: number(document.get("updated")), reverse=True)
        return list(self._documents.values(shown[:limit]))

    async def create(self, comparison: Comparison) -> Comparison:
        return await self._documents.create(comparison.id, comparison)

    async def change(self, comparison_id: str, change: Callable[[Comparison], Comparison]) -> Comparison:
        """Apply `change` to the newest state and store it; returns what was stored."""
        return await self._documents.change(comparison_id, change)

    async def delete(self, comparison_id: str) -> Comparison:
        """Take it out of the list; `restore` brings it back."""
        return await self.change(comparison_id, lambda found: found.model_copy(update={"deleted_at": now()}))

    async def restore(self, comparison_id: str) -> Comparison:
        return await self.change(comparison_id, lambda found: found.model_copy(update={"deleted_at": None}))


def _marks(comparison: Comparison) -> Marks:
    return {"updated": comparison.updated_at.timestamp(), "deleted": comparison.deleted_at is not None}
