"""A table of very many documents: packed in blocks of compressed JSON, each unpacked when it is asked for.

What lists look at of every document is kept beside it in columns, which change with the documents, also when a change
is taken back.
"""

import zlib
from array import array
from collections.abc import Iterator, MutableMapping
from typing import Protocol, Self

from pydantic_core import from_json, to_json

from app.store.journal.frames import Document

BLOCK = 64
"""Documents that are packed together: more take less room, and longer to unpack one."""
_OPEN_BLOCKS = 4
_GONE = -2
_NOWHERE = -1


class Columns(Protocol):
    """What is kept unpacked of each document, by its position: documents that are gone keep theirs."""

    def put(self, position: int, document: Document) -> None:
        """Know the document; the first one of a position comes behind all others."""

    def drop(self, position: int) -> None: ...


class Packed(MutableMapping[int, Document]):
    def __init__(self, columns: Columns, block: int = BLOCK) -> None:
        """`block`: how many documents are packed together; twice as many wait for it as they are."""
        self.columns = columns
        self._block = block
        self._ids: dict[int, int] = {}
        """By position: the id of a document that is not the one which its place names, counted from 1."""
        self._elsewhere: dict[int, int] = {}
        """By id: the positions of these."""
        self._slots = array("q")
        """By position: the number of its block times their size plus the line in it."""
        self._fresh: dict[int, Document] = {}
        """By position: those that changed lately, to be packed with others."""
        self._blocks: list[bytes] = []
        self._used = array("b")
        """By block: its documents that are still so."""
        self._open: dict[int, list[bytes]] = {}
        """The blocks that were unpacked last."""
        self._gone = 0

    def frozen(self) -> Self:
        """The documents as they are now, to be read in whatever thread while these, and the columns, change.

        To be asked for in the thread that changes them: half of a change would have no place.
        """
        other = type(self)(self.columns, self._block)
        other._ids, other._slots, other._elsewhere = dict(self._ids), self._slots[:], dict(self._elsewhere)
        other._fresh, other._blocks, other._gone = dict(self._fresh), list(self._blocks), self._gone
        return other

    def at(self, position: int) -> Document:
        """The document there, not to be changed. Raises `KeyError` for one that is gone."""
        if (fresh := self._fresh.get(position)) is not None:
            return fresh
        document: Document = from_json(self.json(position), cache_strings="keys")
        return document

    def json(self, position: int) -> bytes:
        """The document as it is stored. Raises `KeyError` for one that is gone."""
        while (slot := self._slots[position]) != _GONE:
            if (fresh := self._fresh.get(position)) is not None:
                return to_json(fresh, inf_nan_mode="constants")
            if slot >= 0 and (lines := self._lines(slot // self._block)):
                return lines[slot % self._block]
            # It changes just now, and this is another thread.
        raise KeyError(self.id_at(position))

    def texts(self) -> Iterator[tuple[int, bytes]]:
        """The id of each document and its JSON."""
        for doc_id in self:
            if (position := self.position(doc_id)) is not None:
                yield doc_id, self.json(position)

    def position(self, doc_id: object) -> int | None:
        """Where the document is, or was; `None` for one that never was."""
        if isinstance(doc_id, int) and 0 < doc_id <= len(self._slots) and doc_id - 1 not in self._ids:
            return doc_id - 1
        return self._elsewhere.get(doc_id) if isinstance(doc_id, int) else None

    def id_at(self, position: int) -> int:
        return self._ids.get(position, position + 1)

    def __getitem__(self, doc_id: int) -> Document:
        if (position := self.position(doc_id)) is None:
            raise KeyError(doc_id)
        return self.at(position)

    def __setitem__(self, doc_id: int, document: Document) -> None:
        if (position := self.position(doc_id)) is None:
            position = len(self._slots)
            if position != doc_id - 1:
                self._elsewhere[doc_id], self._ids[position] = position, doc_id
            self._fresh[position] = document
            self._slots.append(_NOWHERE)
        else:
            self._gone -= self._slots[position] == _GONE
            self._fresh[position] = document
            self._leave(position, _NOWHERE)
        self.columns.put(position, document)
        if len(self._fresh) >= 2 * self._block:
            self._pack()

    def __delitem__(self, doc_id: int) -> None:
        position = self.position(doc_id)
        if position is None or self._slots[position] == _GONE:
            raise KeyError(doc_id)
        self._leave(position, _GONE)
        self._fresh.pop(position, None)
        self._gone += 1
        self.columns.drop(position)

    def __contains__(self, doc_id: object) -> bool:
        position = self.position(doc_id)
        return position is not None and self._slots[position] != _GONE

    def __iter__(self) -> Iterator[int]:
        for position, slot in enumerate(self._slots):
            if slot != _GONE:
                yield self.id_at(position)

    def __len__(self) -> int:
        return len(self._slots) - self._gone

    def _leave(self, position: int, slot: int) -> None:
        """Forget where it was packed; a block of which nothing is so any more takes no room."""
        before, self._slots[position] = self._slots[position], slot
        if before >= 0:
            block = before // self._block
            self._used[block] -= 1
            if not self._used[block]:
                self._blocks[block] = b""
                self._open.pop(block, None)

    def _pack(self) -> None:
        """A thread that reads meanwhile finds each document in one of its two places."""
        waiting = sorted(self._fresh)
        for first in range(0, len(waiting), self._block):
            positions = waiting[first : first + self._block]
            lines = [to_json(self._fresh[position], inf_nan_mode="constants") for position in positions]
            block = len(self._blocks)
            packed = memoryview(zlib.compress(b"\n".join(lines), 3))
            self._blocks.append(bytes(packed))  # as it came it keeps the room that was kept ready for it
            self._used.append(len(positions))
            for line, position in enumerate(positions):
                self._slots[position] = block * self._block + line
        self._fresh = {}

    def _lines(self, block: int) -> list[bytes]:
        """The documents that were packed there; nothing where none of them is so any more."""
        if (lines := self._open.get(block)) is None:
            packed = self._blocks[block]
            lines = zlib.decompress(packed).split(b"\n") if packed else []
            self._open = {**dict(list(self._open.items())[1 - _OPEN_BLOCKS :]), block: lines}
        return lines
