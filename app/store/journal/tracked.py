"""A table's documents as an update sees them: copies to change as it likes, from which the changes are then told."""

from collections.abc import Iterator, Mapping, MutableMapping

from pydantic_core import from_json, to_json

from app.store.journal.frames import Document


class Tracked(MutableMapping[int, Document]):
    def __init__(self, base: Mapping[int, Document]) -> None:
        self._base = base
        self._before: dict[int, bytes] = {}
        """The JSON of the documents that were handed out, as they were."""
        self._copies: dict[int, Document] = {}
        self._removed: set[int] = set()

    def changes(self) -> dict[int, Document | None]:
        """The documents that are new or other than before, `None` for those that are gone."""
        changes: dict[int, Document | None] = {doc_id: None for doc_id in self._removed if doc_id in self._base}
        for doc_id, document in self._copies.items():
            if _json(document) != self._before.get(doc_id):
                changes[doc_id] = document
        return changes

    def __getitem__(self, doc_id: int) -> Document:
        if doc_id not in self._copies:
            if doc_id in self._removed:
                raise KeyError(doc_id)
            self._before[doc_id] = _json(self._base[doc_id])
            self._copies[doc_id] = from_json(self._before[doc_id])
        return self._copies[doc_id]

    def __setitem__(self, doc_id: int, document: Document) -> None:
        self._before.pop(doc_id, None)
        self._copies[doc_id] = document
        self._removed.discard(doc_id)

    def __delitem__(self, doc_id: int) -> None:
        if doc_id not in self:
            raise KeyError(doc_id)
        self._copies.pop(doc_id, None)
        self._removed.add(doc_id)

    def __contains__(self, doc_id: object) -> bool:
        return doc_id in self._copies or (doc_id in self._base and doc_id not in self._removed)

    def __iter__(self) -> Iterator[int]:
        yield from [doc_id for doc_id in self._base if doc_id in self]
        yield from [doc_id for doc_id in self._copies if doc_id not in self._base]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def clear(self) -> None:
        self._copies.clear()
        self._removed.update(self._base)


def _json(document: Document) -> bytes:
    return to_json(document, inf_nan_mode="constants")
