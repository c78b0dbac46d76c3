"""TinyDB over a journal: `JournalDB(path)` is a TinyDB like any other, and each change of it is one durable line."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tinydb import TinyDB
from tinydb.storages import Storage
from tinydb.table import Table

from app.store.journal.journal import JournalStorage
from app.store.journal.tracked import Tracked

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redaction


class JournalTable(Table):
    """A TinyDB table that tells the journal what changed."""

    _storage: JournalStorage
    _next_id: int | None  # type: ignore[assignment]  # TinyDB begins with none

    def _get_next_id(self) -> int:
        """Without the copy of all tables that TinyDB takes to find it."""
        next_id = self._next_id or max(self._storage.table(self.name), default=0) + 1
        self._next_id = next_id + 1
        return next_id

    def _update_table(self, updater: Callable[[Tracked], None]) -> None:  # type: ignore[override]  # a part of a dict
        tracked = Tracked(self._storage.table(self.name))
        updater(tracked)
        changes = tracked.changes()
        if changes or not self._storage.has(self.name):
            self._storage.commit([(self.name, changes)])
        self.clear_cache()


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
