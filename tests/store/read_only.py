"""A data folder as a newer app would leave it, and what tells whether anybody touched it."""

import hashlib
import shutil
from pathlib import Path

from pydantic import JsonValue

from app.store.folder.migrations import SCHEMA
from app.store.journal.database import JournalDB

RELEASED = Path(__file__).with_name("formats") / str(SCHEMA)
RUN = "9vab3a4w34p8j965"
SESSION = "781qemkes6t4blzj"
NEWER = SCHEMA + 1


def newer_folder(path: Path, **said: JsonValue) -> Path:
    """The data of the released format with a newer number, and with fields, tables and steps that nobody knows yet."""
    shutil.copytree(RELEASED, path)
    (path / "tools").mkdir()
    (path / "tools" / "soup.py").write_text("def soup(): ...")
    (path / "app.tdb.0a.tmp").write_bytes(b"half")
    (path / "lock").write_text('{"pid":1,"port":1,"token":"left by a killed app"}')
    main = JournalDB(path / "app.tdb")
    main.journal.commit([("schema", {1: {"number": NEWER, "app": "9.9", **said}}), ("moods", {1: {"id": "m"}})])
    main.table("agents").update({"mood": "good"})
    main.close()
    run = JournalDB(path / "runs" / f"{RUN}.tdb")
    run.table("run").update({"format": NEWER})
    run.table("entries").update({"event": {"type": "mood_changed"}}, doc_ids=[3])
    run.close()
    return path


def fingerprint(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Of everything in the folder: its mode, when it was written, what it holds."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mode, path.stat().st_mtime_ns, _content(path))
        for path in (folder, *folder.rglob("*"))
    }


def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
