"""The sessions: found by their title, listed with the pinned ones first."""

from collections.abc import Container

from app.domain.errors import NotFound, StorageError
from app.domain.sessions import Session
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents, Marks, number
from app.store.journal.frames import Document
from app.store.journal.keyed import Restorable

_PINNED = 1e12
"""More seconds than any date is away."""


class Sessions(Restorable[Session]):
    def __init__(self, database: JournalDB) -> None:
        documents = Documents(database, "sessions", Session, noun="session", marks=_marks)
        super().__init__(documents, lambda session: session.id)

    def recent(
        self, *, search: str = "", limit: int = 50, offset: int = 0, among: Container[str] | None = None
    ) -> list[Session]:
        """Pinned ones first, then by when something last happened in them; of all, or of those with these ids.

        Deleted ones, the columns of comparisons and what other agents began are left out.
        """
        found = sorted(self._found(search, among), key=_place, reverse=True)
        return list(self._documents.values(found[offset : offset + limit]))

    def holds(self, session_id: str, run_id: str) -> bool:
        """Whether the run is a turn of that session, which is not deleted; where nobody can say, it counts as one."""
        try:
            session = self.get(session_id)
        except NotFound:
            return False
        except StorageError:
            return True
        return session.deleted_at is None and run_id in session.runs

    def count(self, search: str = "", *, among: Container[str] | None = None) -> int:
        """How many sessions `recent` has in all."""
        return len(self._found(search, among))

    def _found(self, search: str, among: Container[str] | None) -> list[Document]:
        words = search.casefold().split()
        shown = [document for document in self._documents.documents() if _shown(document, words)]
        return shown if among is None else [document for document in shown if document.get("id") in among]


def _marks(session: Session) -> Marks:
    return {
        "updated": session.updated_at.timestamp(),
        "pinned": session.pinned,
        "deleted": session.deleted_at is not None,
        "compared": bool(session.comparison),
        "spawned": bool(session.parent),
        "text": f"{session.title} {session.agent_slug}".casefold(),
    }


def _shown(document: Document, words: list[str]) -> bool:
    text = str(document.get("text", ""))
    is_listed = not any(document.get(mark) for mark in ("deleted", "compared", "spawned"))
    return is_listed and all(word in text for word in words)


def _place(document: Document) -> float:
    """Pinned ones before all others, then the newest first."""
    return number(document.get("updated")) + (_PINNED if document.get("pinned") else 0)
