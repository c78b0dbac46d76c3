"""How much of a journal is what its documents were before, or documents that are gone."""

from collections import Counter
from collections.abc import Container, Mapping

from app.store.journal.frames import Batch, Document

Live = Mapping[str, Container[int]]
"""The tables as they are now."""


class Past:
    """Counts the changes that are in a file, as far as it is parsed."""

    def __init__(self) -> None:
        self.changes: Counter[str] = Counter()
        """By table: documents that are set or removed."""
        self._bytes: Counter[str] = Counter()
        self._past: Counter[str] = Counter()
        """By table: how many of them say what documents were before."""

    def count(self, batch: Batch, length: int, live: Live) -> None:
        """A line of so many bytes, before its changes are made.

        What a document was is taken to have been as long as what it becomes; one that goes, as long as all others.
        """
        for name, documents in batch:
            self._bytes[name] += length // len(batch)
            if documents is None:
                self.changes[name] += 1
                self._past[name] = self._bytes[name]
                continue
            self.changes[name] += len(documents)
            table, each = live.get(name, ()), length // len(batch) // max(len(documents), 1)
            for doc_id, document in documents.items():
                if document is None:
                    self._past[name] += each + self._bytes[name] // self.changes[name]
                elif doc_id in table:
                    self._past[name] += each

    def add(self, other: "Past") -> None:
        """What was counted of other lines of the file."""
        self.changes.update(other.changes)
        self._bytes.update(other._bytes)
        self._past.update(other._past)

    def forget(self, live: Mapping[str, Mapping[int, Document]]) -> None:
        """The file is written anew with nothing but these."""
        self._bytes = Counter({name: max(self._bytes[name] - self._past[name], 0) for name in live})
        self._past.clear()
        self.changes = Counter({name: len(table) for name, table in live.items()})

    def outweighs(self, spare: int = 0) -> bool:
        """Whether it takes more than the documents do as they are now, by more than so many bytes."""
        past = self._past.total()
        return past > self._bytes.total() - past + spare
