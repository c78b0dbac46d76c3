"""The sessions: listed with the pinned ones first, found by their title or as those that say something."""

import heapq
from collections.abc import Callable, Container

from app.domain.branches import Turn, is_turn
from app.domain.errors import NotFound, StorageError
from app.domain.sessions import Session
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents, Marks, Restorable, number
from app.store.journal.frames import Document

KEPT_PARSED = 256
_PINNED = 1e12
"""More seconds than any date is away."""


class Sessions(Restorable[Session]):
    def __init__(self, database: JournalDB) -> None:
        documents = Documents(database, "sessions", Session, noun="session", marks=_marks)
        documents.most_parsed = KEPT_PARSED
        super().__init__(documents, lambda session: session.id)
        self.changes = 0
        """Goes up whenever a list of them may look different."""
        self.on_delete: list[Callable[[], object]] = []
        """Called after each that was deleted."""

    async def delete(self, key: str) -> Session:
        deleted = await super().delete(key)
        for called in self.on_delete:
            called()
        return deleted

    async def remove(self, key: str) -> None:
        """Forget one for good in which nothing was said; nothing happens where there is none."""
        self.changes += 1
        await self._documents.remove(key)

    async def create(self, value: Session) -> Session:
        self.changes += not value.behind
        return await super().create(value)

    async def change(self, key: str, change: Callable[[Session], Session]) -> Session:
        before = self.get(key)
        try:
            return await super().change(key, change)
        finally:  # whoever waited for the disk may be gone, and it is so
            after = self.get(key)
            self.changes += not after.behind and _marks(before) != _marks(after)

    def recent(
        self,
        *,
        search: str = "",
        limit: int = 50,
        offset: int = 0,
        among: Container[str] | None = None,
        saying: Container[str] = (),
    ) -> list[Session]:
        """Pinned ones first, then by when something last happened in them; of all, or of those with these ids.

        Deleted ones, the columns of comparisons, what other agents began, experiments and what is tried are left out.
        `saying`: those in which what is searched for was said; of all others it is looked for in the title and the
        agent's slug.
        """
        return self.page(search=search, limit=limit, offset=offset, among=among, saying=saying)[0]

    def page(
        self,
        *,
        search: str = "",
        limit: int = 50,
        offset: int = 0,
        among: Container[str] | None = None,
        saying: Container[str] = (),
    ) -> tuple[list[Session], int]:
        """The same, and how many there are in all: both in one look at every session."""
        found = self._found(search, among, saying)
        newest = heapq.nlargest(offset + limit, found, key=_place)  # of many far quicker than sorting them all
        return list(self._documents.values(newest[offset:])), len(found)

    def tried(self, agent_id: str) -> Session | None:
        """The newest session in which the agent's working copy is tried, where there is one."""
        documents = self._documents.documents()
        found = [one for one in documents if one.get("tried") == agent_id and not one.get("deleted")]
        return next(iter(self._documents.values(sorted(found, key=_place)[-1:])), None)

    def queueing(self) -> list[Session]:
        """Those in which messages wait to be sent, in no order."""
        found = [one for one in self._documents.documents() if one.get("queued") and not one.get("deleted")]
        return list(self._documents.values(found))

    def waiting(self) -> int:
        """How many messages wait in all of them."""
        return sum(len(session.queue) for session in self.queueing())

    def holds(self, session_id: str, turn: Turn) -> bool:
        """Whether it is a turn of that session, which is not deleted; where nobody can say, it counts as one."""
        try:
            session = self.get(session_id)
        except NotFound:
            return False
        except StorageError:
            return True
        return session.deleted_at is None and is_turn(session, turn)

    def is_gone(self, session_id: str) -> bool:
        """Whether it was deleted, or is none of these."""
        document = self._documents.stored(session_id)
        return document is None or bool(document.get("deleted"))

    def behind(self, experiment_id: str) -> list[str]:
        """The ids of those that belong to that experiment and are not deleted."""
        found = (one for one in self._documents.documents() if one.get("behind") == experiment_id)
        return [str(one.get("id")) for one in found if not one.get("deleted")]

    def count(self, search: str = "", *, among: Container[str] | None = None, saying: Container[str] = ()) -> int:
        """How many sessions `recent` has in all."""
        return len(self._found(search, among, saying))

    def _found(self, search: str, among: Container[str] | None, saying: Container[str]) -> list[Document]:
        words = search.casefold().replace('"', " ").split()
        shown = [document for document in self._documents.documents() if _is_listed(document)]
        if words:
            shown = [document for document in shown if _says(document, words) or document.get("id") in saying]
        return shown if among is None else [document for document in shown if document.get("id") in among]


def _marks(session: Session) -> Marks:
    return {
        "updated": session.updated_at.timestamp(),
        "pinned": session.pinned,
        "deleted": session.deleted_at is not None,
        "compared": bool(session.comparison),
        "spawned": bool(session.parent),
        "behind": session.behind,
        "tried": session.agent_id if session.tried is not None and not (session.parent or session.behind) else "",
        "queued": bool(session.queue),
        "text": f"{session.title} {session.agent_slug}".casefold(),
    }


def _is_listed(one: Document) -> bool:
    """Asked of every session there is: written out, it takes a third of the time."""
    return not (
        one.get("deleted") or one.get("compared") or one.get("spawned") or one.get("behind") or one.get("tried")
    )


def _says(document: Document, words: list[str]) -> bool:
    text = str(document.get("text", ""))
    return all(word in text for word in words)


def _place(document: Document) -> float:
    """Pinned ones before all others, then the newest first."""
    return number(document.get("updated")) + (_PINNED if document.get("pinned") else 0)
