"""The line format of a journal: one batch of changes a line, with its checksum in front.

    5d1c9b0e ["runs",{"7":{"cost":0.1}}]

The eight digits are the CRC-32 of the rest. A batch is a table with what changes in it: a document by its id, `null`
for a removed one; a table that is `null` is dropped. A batch over several tables is a list of these. A line counts as
a whole or not at all, so a batch is atomic.
"""

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue
from pydantic_core import from_json, to_json

from app.store.journal.pause import Pause

Document = dict[str, JsonValue]
Changes = Sequence[tuple[str, Mapping[int, Document | None] | None]]
"""By table: the documents that are set or (`None`) removed; a table that is `None` is dropped."""
Batch = list[tuple[str, dict[int, Document | None] | None]]
"""Changes as they were read back."""


_PAUSE_EVERY = 64
"""Lines."""


class Stretch(NamedTuple):
    """Lines of one table, one behind the other, that nobody has looked at yet."""

    table: str
    content: bytes
    """Of the whole journal."""
    begin: int
    end: int
    lines: int

    def payloads(self, name: str, damaged: list[str], pause: Pause | None) -> Iterator[bytes]:
        """The JSON of each, as `scan` reads it; what cannot be read is told in `damaged`."""
        place = self.begin
        while place < self.end:
            after = self.content.find(b"\n", place, self.end) + 1
            line = self.content[place : after - 1]
            if (payload := _checked(line)) is not None:
                yield payload
            else:
                damaged.append(f"A record of {len(line)} bytes at byte {place} of {name} is damaged.")
            place = after
            if pause is not None:
                pause()


@dataclass(slots=True)
class Scan:
    """What a journal's bytes hold."""

    payloads: list[bytes | Stretch] = field(default_factory=list)
    """The JSON of each whole line, but for those that are left for later."""
    damaged: list[str] = field(default_factory=list)
    """A sentence for each line that could not be read."""
    end: int = 0
    """Where the last whole line ends; what stands behind it was never finished."""
    unended: bytes = b""
    """A last line that is whole but for its line end; it counts, and is to be written again at `end`."""


def frame(changes: Changes) -> bytes:
    """The line for one batch of changes."""
    return framed(to_json(changes[0] if len(changes) == 1 else changes, inf_nan_mode="constants"))


def framed(payload: bytes) -> bytes:
    """The line for a batch that is JSON already."""
    return b"%08x %b\n" % (zlib.crc32(payload), payload)


def scan(content: bytes, name: str, pause: Pause | None = None, later: Collection[str] = ()) -> Scan:
    """Read a journal; `name` is what sentences about damage call it, `pause` is called every few lines.

    Lines of the tables `later`, of which there may be very many, are only found: a start goes through all of them.
    """
    found = Scan(end=content.rfind(b"\n") + 1)
    begin = 0
    for stretch in _stretches(content, found.end, later) if later else ():
        _read_lines(content[begin : stretch.begin], begin, name, found, pause)
        found.payloads.append(stretch)
        begin = stretch.end
    _read_lines(content[begin : found.end], begin, name, found, pause)
    _read_tail(content[found.end :], found)
    return found


def _stretches(content: bytes, end: int, tables: Collection[str]) -> Iterator[Stretch]:
    heads = {b'["%b",' % table.encode(): table for table in tables}
    longest = max(map(len, heads))
    table: str | None = None
    place = begin = lines = 0
    while place < end:
        if (met := heads.get(content[place + 9 : content.find(b",", place + 9, place + 9 + longest) + 1])) != table:
            if table is not None:
                yield Stretch(table, content, begin, place, lines)
            table, begin, lines = met, place, 0
        lines += 1
        place = content.find(b"\n", place, end) + 1
    if table is not None:
        yield Stretch(table, content, begin, end, lines)


def _read_lines(content: bytes, place: int, name: str, found: Scan, pause: Pause | None) -> None:
    """`place`: where in the journal they stand."""
    checksum = zlib.crc32
    for count, line in enumerate(content.split(b"\n")[:-1]):
        payload = line[9:]
        # As `_checked`, without a call for each of the ten thousand lines that every start goes through.
        if line[:9] == b"%08x " % checksum(payload):
            found.payloads.append(payload)
        else:
            found.damaged.append(f"A record of {len(line)} bytes at byte {place} of {name} is damaged.")
        place += len(line) + 1
        if pause is not None and count % _PAUSE_EVERY == 0:
            pause()


def _read_tail(tail: bytes, found: Scan) -> None:
    """Take a last line that lost only its line end, be it cut off or turned into another byte."""
    for line in (tail, tail[:-1]):
        if (payload := _checked(line)) is not None:
            found.unended = line + b"\n"
            found.payloads.append(payload)
            return


def _checked(line: bytes) -> bytes | None:
    """The line's JSON, `None` where the line is damaged."""
    payload = line[9:]
    try:
        return payload if int(line[:8], 16) == zlib.crc32(payload) and line[8:9] == b" " else None
    except ValueError:
        return None


def table_of(payload: bytes) -> str | None:
    """The one table that a batch changes, without parsing it; `None` where it needs parsing."""
    name = payload[2 : payload.find(b'"', 2)]
    return name.decode() if payload[:2] == b'["' and b"\\" not in name else None


def batch_of(payload: bytes) -> Batch:
    """The changes in the JSON of a whole line. Raises `ValueError`, `TypeError` or `AttributeError` for other JSON."""
    parsed = from_json(payload, cache_strings="all")
    pairs: list[tuple[str, dict[str, Document | None] | None]] = [parsed] if isinstance(parsed[0], str) else parsed
    return [
        (table, None if changes is None else {int(doc_id): document for doc_id, document in changes.items()})
        for table, changes in pairs
    ]
