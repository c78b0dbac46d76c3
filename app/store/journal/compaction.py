"""A journal written anew, without what is no longer so; what cannot be read of it is kept beside it."""

import logging
from collections.abc import Iterator, Mapping

from pydantic_core import to_json

from app.store.journal.disk import Disk, write_new
from app.store.journal.frames import Document, batch_of, frame, framed
from app.store.journal.logfile import LogFile
from app.store.journal.packed import Packed

UNKNOWN_FORM = (ValueError, TypeError, AttributeError, IndexError, KeyError)
"""What `batch_of` raises for JSON that is no batch."""

_log = logging.getLogger(__name__)


def rewritten(disk: Disk, tables: Mapping[str, Mapping[int, Document]], had_damage: bool, log: LogFile) -> None:
    """Put a file with only these tables in the journal's place; what was damaged in it stays beside it."""
    content = bytearray().join(frame([(name, {})]) for name in tables)
    for name, table in tables.items():
        for line in _lines(name, table):
            content += line  # joined at once they would take their room twice
    _put_aside(disk, log, disk.read(log.path, log.length) if had_damage else b"")
    log.close()
    write_new(disk, log.path, content)
    log.replaced(len(content))
    log.sync()


def _lines(name: str, table: Mapping[int, Document]) -> Iterator[bytes]:
    if isinstance(table, Packed):  # it is JSON already
        head = to_json(name)
        yield from (framed(b'[%b,{"%d":%b}]' % (head, doc_id, text)) for doc_id, text in table.texts())
    else:
        yield from (frame([(name, {doc_id: document})]) for doc_id, document in table.items())


def _put_aside(disk: Disk, log: LogFile, content: bytes) -> None:
    """Keep beside the journal what cannot be read of its content, and nothing else: the rest may have to be gone."""
    aside = log.path.with_name(f"{log.path.name}.damaged")
    before = disk.read(aside)
    kept = b"".join(dict.fromkeys((*_unreadable(before), *_unreadable(content))))
    if kept == before:
        return
    write_new(disk, aside, kept)
    _log.warning(
        "What could not be read of %s is in %s as it was, with any secrets in it. Delete that file when you need "
        "nothing of it.",
        log.path.name,
        aside,
    )


def _unreadable(content: bytes) -> Iterator[bytes]:
    """The lines that are damaged or in a form that is not known here."""
    for line in content.split(b"\n"):
        if line and not _is_readable(line):
            yield line + b"\n"


def _is_readable(line: bytes) -> bool:
    try:
        batch_of(line[9:])
    except UNKNOWN_FORM:
        return False
    return framed(line[9:]) == line + b"\n"
