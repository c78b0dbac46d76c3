"""A table of values by their key, each with a revision number that counts its changes.

What is looked up often stays parsed; what only passes by in a search is looked at as it is stored.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import Generic, TypeVar

from pydantic import JsonValue, ValidationError

from app.domain.errors import Conflict, NotFound, StorageError
from app.domain.values import Value, now
from app.store.journal.database import JournalDB
from app.store.journal.frames import Document

log = logging.getLogger(__name__)

Marks = dict[str, JsonValue]
"""What is kept beside a value for sorting and filtering."""

V = TypeVar("V", bound=Value)


class Documents(Generic[V]):
    def __init__(
        self, database: JournalDB, table: str, kind: type[V], *, noun: str, marks: Callable[[V], Marks] | None = None
    ) -> None:
        """`noun` is what a person calls one of these; `marks` makes what is kept beside a value."""
        self._database = database
        self._journal = database.journal
        self._table = database.table(table)
        self._kind = kind
        self._noun = noun
        self._marks = marks or (lambda _: {})
        self.made_of_clean = False
        """True where secrets were taken out before of all that the values are made of."""
        self.leave_out_defaults = False
        """True where there are so many that what every one of them says goes without saying."""
        self.find_place: Callable[[str], int | None] | None = None
        """Finds the document id of a key where that is known without looking at all of them, of a packed table."""
        self.most_parsed: int | None = None
        """How many values stay parsed, those stored or parsed last, of a table that grows with every run."""
        self._parsed: dict[str, tuple[Document, V]] = {}
        self._known_places: dict[str, int] | None = None
        self._changing = Lock()
        """Values are also read, and parsed, in threads beside the event loop."""
        self.damaged: dict[str, str] = {}
        """By key: a sentence for each document that `values` had to leave out."""

    def get(self, key: str) -> V:
        """The value; raises `NotFound`, or `StorageError` where it cannot be read."""
        if (document := self.stored(key)) is None:
            raise NotFound(f"There is no {self._noun} {key!r}.")
        return self.parsed(document)

    def values(self, documents: Iterable[Document] | None = None) -> Iterator[V]:
        """All, or those of `documents`, that can be read; what cannot is named in `damaged`, and once in the log."""
        for document in self.documents() if documents is None else documents:
            try:
                yield self.parsed(document)
            except StorageError as error:
                key = str(document.get("id"))
                if key not in self.damaged:
                    log.warning("It is left out of all lists: %s", error)
                self.damaged[key] = str(error)

    def documents(self) -> list[Document]:
        """All documents as they are stored, not to be changed: `id`, `revision`, the marks and `value`."""
        return list(self._live().values())

    def stored(self, key: str) -> Document | None:
        """The document as it is stored, not to be changed."""
        place = self._place(key)
        return None if place is None else self._live().get(place)

    def parsed(self, document: Document) -> V:
        """The value in a stored document; raises `StorageError` where it does not hold one."""
        key = str(document.get("id"))
        known = self._parsed.get(key)
        if known is not None and known[0] is document:
            return known[1]
        try:
            value = self._kind.model_validate(document.get("value"))
        except ValidationError as error:
            raise StorageError(f"The {self._noun} {key!r} is stored in a form that cannot be read: {error}") from error
        self._keep(document, value)
        return value

    def revision(self, key: str) -> int:
        """How many times it was stored; 0 for one that was not."""
        document = self.stored(key)
        number = document.get("revision") if document is not None else 0
        return number if isinstance(number, int) else 0

    async def warm(self) -> None:
        """Read the table off the event loop, so that its first use does not take the loop's time."""
        await self._journal.warm(self._table.name)

    async def create(self, key: str, value: V) -> V:
        """Store a new value; raises `Conflict` where the key is taken."""
        if self.stored(key) is not None:
            raise Conflict(f"There is a {self._noun} {key!r} already.")
        return await self.save(key, value)

    async def save(self, key: str, value: V) -> V:
        """Store the value, new or over the old one; what was stored, which holds none of the known secrets.

        Raises `StorageError`; then the old one stands.
        """
        value = self.put(key, value)
        await self.durable()
        return value

    async def durable(self) -> None:
        """Return when what was put is on disk. Raises `StorageError`; then what was there before stands."""
        await self._journal.durable()

    def put(self, key: str, value: V) -> V:
        """The same as `save`, but for the disk, which has it once `durable` returns."""
        if self._database.redaction is not None and not self.made_of_clean:
            value = self._database.redaction().value(value)
        fields: Document = {"id": key, "revision": self.revision(key) + 1, **self._marks(value)}
        fields["value"] = value.model_dump(mode="json", exclude_defaults=self.leave_out_defaults)
        if (place := self._place(key)) is not None and place in self._live():
            self._table.update(fields, doc_ids=[place])
        elif (place := self._table.insert(fields)) and self.find_place is None:
            self._places[key] = place
        if (document := self.stored(key)) is not None:
            self._keep(document, value)
        return value

    async def replace(self, key: str, value: V, *, expected_revision: int) -> V:
        """Store the value over that revision; raises `Conflict` when somebody else was faster."""
        if (revision := self.revision(key)) != expected_revision:
            raise Conflict(
                f"The {self._noun} {key!r} was changed meanwhile (it is at revision {revision}, "
                f"this change was made from {expected_revision}). Reload it and make the change again."
            )
        return await self.save(key, value)

    async def change(self, key: str, change: Callable[[V], V], *, beside: Callable[[], object] | None = None) -> V:
        """Apply `change` to the newest value and store what it returns; returns that.

        What `beside` puts into the same file is stored with it: all of it, or none.
        """
        before = self.get(key)
        after = change(before)
        if after is before:
            return before
        if beside is None:
            return await self.save(key, after)
        with self._journal.together():
            value = self.put(key, after)
            beside()
        await self.durable()
        return value

    async def mark(self, keys: Iterable[str], marks: Mapping[str, JsonValue]) -> None:
        """Set marks of several documents, all at once or none; keys that are not there are passed over."""
        if places := [place for key in keys if (place := self._place(key)) is not None and place in self._live()]:
            self._table.update(dict(marks), doc_ids=places)
            await self._journal.durable()

    async def remove(self, key: str) -> None:
        """Forget the value for good; nothing happens where there is none."""
        if (place := self._place(key)) is not None and place in self._live():
            self._table.remove(doc_ids=[place])
            self._parsed.pop(key, None)
            await self._journal.durable()  # where it fails, the document is there again
            if self.find_place is None and self._places.get(key) == place:
                del self._places[key]

    def _place(self, key: str) -> int | None:
        return self._places.get(key) if self.find_place is None else self.find_place(key)

    def _keep(self, document: Document, value: V) -> None:
        """Remember what was parsed, but for documents that are packed: each is made anew whenever it is asked for."""
        if self.find_place is not None:
            return
        key = str(document.get("id"))
        with self._changing:
            self._parsed.pop(key, None)  # what is kept anew is the last to be forgotten
            self._parsed[key] = (document, value)
            if self.most_parsed is not None and len(self._parsed) > self.most_parsed:
                del self._parsed[next(iter(self._parsed))]

    @property
    def _places(self) -> dict[str, int]:
        """The document id of each key; made when it is first needed, so that opening is quick."""
        if self._known_places is None:
            with self._changing:
                if self._known_places is None:
                    places = {str(document.get("id")): doc_id for doc_id, document in list(self._live().items())}
                    self._known_places = places
        return self._known_places

    def _live(self) -> Mapping[int, Document]:
        return self._journal.table(self._table.name)


def number(value: JsonValue | None) -> float:
    """The number that was stored, 0 where there was none."""
    return value if isinstance(value, (int, float)) else 0.0


class Keyed(Generic[V]):
    """What the tables of the app share: values, each under the key that it carries."""

    def __init__(self, documents: Documents[V], key: Callable[[V], str]) -> None:
        self._documents = documents
        self._key = key

    def get(self, key: str) -> V:
        """Raises `NotFound`, or `StorageError` where it cannot be read."""
        return self._documents.get(key)

    def find(self, key: str) -> V | None:
        """`None` where there is none; raises `StorageError` where it cannot be read."""
        return self._documents.get(key) if self._documents.stored(key) is not None else None

    async def create(self, value: V) -> V:
        """Store a new one; raises `Conflict` where its key is taken."""
        return await self._documents.create(self._key(value), value)

    async def save(self, value: V) -> V:
        """Store a new one, or another state of one."""
        return await self._documents.save(self._key(value), value)

    async def change(self, key: str, change: Callable[[V], V]) -> V:
        """Apply `change` to the newest state and store it; returns what was stored."""
        return await self._documents.change(key, change)


class Removable(Keyed[V]):
    """Deleted ones are gone."""

    async def delete(self, key: str) -> None:
        """Forget it for good; nothing happens where there is none."""
        await self._documents.remove(key)


class Restorable(Keyed[V]):
    """Deleted ones say when in `deleted_at`, and are only taken out of the lists: `get` still gives them."""

    async def delete(self, key: str) -> V:
        """Take it out of the lists; `restore` brings it back."""
        return await self.change(key, lambda found: found.model_copy(update={"deleted_at": now()}))

    async def restore(self, key: str) -> V:
        return await self.change(key, lambda found: found.model_copy(update={"deleted_at": None}))
