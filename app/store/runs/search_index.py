"""The search index: an SQLite file with the texts of all runs, which can be deleted and is then made again.

A file that is damaged or was made by another version of the app is replaced by an empty one. All of this blocks: call
it off the event loop. Nothing stays open between two calls.
"""

import json
import logging
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from app.domain.trace import Passage
from app.store.journal.pause import Pause
from app.store.runs.search_words import indexed

log = logging.getLogger(__name__)

VERSION = 1
"""Of the file. A change of what is indexed, or how, makes it another one."""
BUSY_SECONDS = 10.0

_TABLES = (
    "CREATE TABLE runs (id INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL)",
    "CREATE TABLE texts (id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE VIRTUAL TABLE words"
    """ USING fts5(text, content='', prefix='1 2 3', tokenize="unicode61 remove_diacritics 2")""",
)
_VERSION_AND_TABLES = """
SELECT (SELECT user_version FROM pragma_user_version),
       (SELECT count(*) FROM sqlite_master WHERE name IN ('runs', 'texts', 'words'))
"""
"""In one look: another thread may make them between two."""

T = TypeVar("T")


class IndexedRun(NamedTuple):
    """A run as the index takes it."""

    run_id: str
    stamp: str
    """Tells the state of the run that was indexed from any other."""
    passages: tuple[Passage, ...]


class SearchIndex:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._making = Lock()
        self.replaced = 0
        """How many times it was begun anew: then it knows nothing, whatever was put into it before."""

    def put(self, runs: Iterable[IndexedRun]) -> None:
        """Index the runs, in place of what was known of them."""
        ready = [(run, _words(run.passages), _body(run.passages)) for run in runs]

        def write(database: sqlite3.Connection) -> None:
            for run, words, body in ready:
                _remove(database, run.run_id)
                added = database.execute("INSERT INTO runs (run_id, stamp) VALUES (?, ?)", (run.run_id, run.stamp))
                place = added.lastrowid
                database.execute("INSERT INTO texts VALUES (?, ?)", (place, body))
                database.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (place, words))

        self._do(write, None)

    def remove(self, run_ids: Iterable[str]) -> None:
        """Forget the runs."""
        gone = list(run_ids)

        def write(database: sqlite3.Connection) -> None:
            for run_id in gone:
                _remove(database, run_id)

        self._do(write, None)

    def matching(self, question: str) -> frozenset[str]:
        """The runs that answer the question, as `search_words.question` puts it."""
        asked = "SELECT run_id FROM words JOIN runs ON runs.id = words.rowid WHERE words MATCH ?"
        return self._do(
            lambda database: frozenset(run_id for (run_id,) in database.execute(asked, (question,))), frozenset()
        )

    def stamps(self) -> Mapping[str, str]:
        """The stamp of each run that is indexed."""
        return self._do(lambda database: dict(database.execute("SELECT run_id, stamp FROM runs").fetchall()), {})

    def passages(self, run_ids: Sequence[str]) -> Iterator[tuple[str, list[Passage]]]:
        """What was indexed of the runs, one after the other."""
        nothing: list[tuple[str, bytes]] = []
        for run_id, body in self._do(lambda database: _bodies(database, run_ids), nothing):
            try:
                yield run_id, _unpacked(body)
            except (ValueError, zlib.error) as error:
                self._damaged(error)
                return

    def _do(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What the work gives; `otherwise` where the file has to be made anew, or cannot be used now."""
        try:
            with self._opened() as database:
                return work(database)
        except sqlite3.OperationalError as error:
            log.warning("The search index cannot be used now: %s", error)
        except (sqlite3.DatabaseError, ValueError, zlib.error) as error:
            self._damaged(error)
        except OSError as error:
            log.warning("The search index cannot be written: %s", error)
        return otherwise

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        self._path.touch(mode=0o600)  # SQLite would let others read it, and gives its other files the same mode
        database = sqlite3.connect(self._path, timeout=BUSY_SECONDS)
        with closing(database):
            with self._making:  # SQLite waits for nobody who makes a new file into one of its own
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = NORMAL")
                _check(database)
            with database:  # one transaction
                yield database

    def _damaged(self, error: Exception) -> None:
        log.warning("The search index is damaged and made again: %s", error)
        self.replaced += 1
        for ending in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)


def _check(database: sqlite3.Connection) -> None:
    """Make the tables of a new file. Raises `DatabaseError` for a file that is none of ours."""
    if _is_ours(database):
        return
    database.execute("BEGIN IMMEDIATE")  # waits for another thread that makes them just now
    with database:
        if not _is_ours(database):
            for statement in (*_TABLES, f"PRAGMA user_version = {VERSION}"):
                database.execute(statement)


def _is_ours(database: sqlite3.Connection) -> bool:
    """False for a new file. Raises `DatabaseError` for one of somebody else."""
    version, tables = database.execute(_VERSION_AND_TABLES).fetchone()
    if (version or tables) and (version, tables) != (VERSION, 3):
        raise sqlite3.DatabaseError(f"it is of version {version}, not {VERSION}")
    return bool(tables)


def _remove(database: sqlite3.Connection, run_id: str) -> None:
    found = database.execute(
        "SELECT id, body FROM runs LEFT JOIN texts USING (id) WHERE run_id = ?", (run_id,)
    ).fetchone()
    if found is None:
        return
    place, body = found
    # The index keeps no texts: it has to be told what it is to forget.
    told = (place, _words(tuple(_unpacked(body))))
    database.execute("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", told)
    database.execute("DELETE FROM texts WHERE id = ?", (place,))
    database.execute("DELETE FROM runs WHERE id = ?", (place,))


def _bodies(database: sqlite3.Connection, run_ids: Sequence[str]) -> list[tuple[str, bytes]]:
    asked = "SELECT run_id, body FROM runs JOIN texts USING (id) WHERE run_id = ?"
    return [found for run_id in run_ids for found in database.execute(asked, (run_id,))]


def _words(passages: Iterable[Passage]) -> str:
    pause, words = Pause(), list[str]()
    for passage in passages:
        pause()
        words.append(indexed(passage.text))
    return "\n".join(words)


def _body(passages: Iterable[Passage]) -> bytes:
    written = json.dumps([(passage.seq, passage.place, passage.text) for passage in passages])
    return zlib.compress(written.encode(), level=1)


def _unpacked(body: bytes | None) -> list[Passage]:
    if body is None:
        return []
    return [Passage(int(seq), str(place), str(text)) for seq, place, text in json.loads(zlib.decompress(body))]
