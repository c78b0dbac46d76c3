"""How much of a journal is what its documents were before, or documents that are gone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sized

from app.store.journal.frames import Batch, Stretch

Live = Mapping[str, Sized]
"""The tables as they are now."""


class Past:
    """Counts the changes that are in a file, as far as it is parsed."""

    def __init__(self) -> None:
        self.changes: Counter[str] = Counter()
        """By table: documents that are set or removed."""
        self._bytes: Counter[str] = Counter()

    def count(self, batch: Batch, length: int = 0) -> None:
        """A line of so many bytes."""
        for name, documents in batch:
            self.changes[name] += 1 if documents is None else len(documents)
            self._bytes[name] += length // len(batch)

    def add(self, name: str, other: "Past", lines: Iterable[bytes | Stretch]) -> None:
        """What was counted of that table, which was parsed out of these."""
        self.changes.update(other.changes)
        self._bytes[name] += sum(one.end - one.begin if isinstance(one, Stretch) else len(one) for one in lines)

    def forget(self, live: Live) -> None:
        """The file is written anew with nothing but these."""
        self._bytes = Counter({name: round(self._bytes[name] - self._of(name, live)) for name in live})
        self.changes = Counter({name: len(table) for name, table in live.items()})

    def outweighs(self, live: Live, spare: int = 0) -> bool:
        """Whether it takes more than the documents do as they are now, by more than so many bytes."""
        past = sum(self._of(name, live) for name in self._bytes)
        return past > self._bytes.total() - past + spare

    def _of(self, name: str, live: Live) -> float:
        """Its bytes in a table, whose documents are taken to be as long as each other."""
        changes = self.changes[name]
        return self._bytes[name] * (1 - len(live.get(name, ())) / changes) if changes else 0.0
