"""TinyDB over a journal: `JournalDB(path)` is a TinyDB like any other, and each change of it is one durable line."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic_core import from_json, to_json
from tinydb import TinyDB
from tinydb.queries import QueryLike
from tinydb.storages import Storage
from tinydb.table import Document as TinyDocument
from tinydb.table import Table

from app.store.journal.frames import Document
from app.store.journal.journal import JournalStorage
from app.store.journal.tracked import Tracked

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redaction


class JournalTable(Table):
    """A TinyDB table that tells the journal what changed. The documents it gives are the caller's own."""

    default_query_cache_capacity = 0

    _storage: JournalStorage

    def get(  # type: ignore[override]  # TinyDB's own overloads differ in what they leave out
        self, cond: QueryLike | None = None, doc_id: int | None = None, doc_ids: list[int] | None = None
    ) -> TinyDocument | list[TinyDocument] | None:
        table = self._read_table()
        if doc_id is not None:
            return self._own(doc_id, table[doc_id]) if doc_id in table else None
        if doc_ids is not None:
            wanted = set(doc_ids)
            return [self._own(doc_id, table[doc_id]) for doc_id in table if doc_id in wanted]
        if cond is None:
            raise RuntimeError("You have to pass either cond or doc_id or doc_ids")
        return next((self._own(doc_id, document) for doc_id, document in table.items() if cond(document)), None)

    def search(self, cond: QueryLike) -> list[TinyDocument]:
        return [self._own(doc_id, document) for doc_id, document in self._read_table().items() if cond(document)]

    def __iter__(self) -> Iterator[TinyDocument]:
        for doc_id, document in list(self._read_table().items()):
            yield self._own(doc_id, document)

    def _own(self, doc_id: int, document: Document) -> TinyDocument:
        copied: Document = from_json(to_json(document, inf_nan_mode="constants"))
        return self.document_class(copied, doc_id)

    def _read_table(self) -> Mapping[int, Document]:  # type: ignore[override]  # TinyDB spells ids as text
        return self._storage.table(self.name)

    def _update_table(self, updater: Callable[[Tracked], None]) -> None:  # type: ignore[override]  # a part of a dict
        tracked = Tracked(self._read_table())
        updater(tracked)
        changes = tracked.changes()
        if changes or not self._storage.has(self.name):
            self._storage.commit([(self.name, changes)])


class JournalDB(TinyDB):
    """A TinyDB whose file is a journal."""

    default_storage_class: type[Storage] = JournalStorage  # type: ignore[assignment]  # TinyDB means any storage
    table_class = JournalTable
    redaction: "Callable[[], Redaction] | None" = None
    """Takes the known secrets out of every document."""

    @property
    def journal(self) -> JournalStorage:
        """The storage, for what TinyDB knows nothing of."""
        if not isinstance(self._storage, JournalStorage):
            raise TypeError("A JournalDB stands on a JournalStorage")
        return self._storage

    def tables(self) -> set[str]:
        return set(self.journal.names())

    def drop_table(self, name: str) -> None:
        self._tables.pop(name, None)
        if self.journal.has(name):
            self.journal.commit([(name, None)])
