"""The data folder: everything the app keeps, opened by one app at a time.

lock            who holds the folder          runs/      one database per run
app.tdb         agents, sessions, rows, …     sessions/  what the runs of a session share
artifacts/      contents by their sha256      backups/   zip files of all of this, but who is signed in
uploads/        those that wait for a message
logs/           what the app had to say       restore/   a backup that the next start puts back
backup-key      what backups are signed with  sign-ins.json  browsers that are signed in
"""

import asyncio
import contextlib
import os
import re
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Self

from app.domain.errors import StorageError
from app.late import late, late_part
from app.store.contents.artifacts import Artifacts
from app.store.folder.backups import GIVEN_UP, UNPACKING, WAITING, Backups, put_back
from app.store.folder.lock import LOCK_NAME, FolderLock
from app.store.folder.migrations import SCHEMA, NewerData, check_schema, migrate
from app.store.journal.database import JournalDB
from app.store.journal.disk import Disk
from app.store.journal.trouble import in_words, is_refusal
from app.store.journal.writer import Writer
from app.store.records.scores import Scores
from app.store.records.sessions import Sessions
from app.store.records.tables import (
    Agents,
    ApiKeys,
    Comparisons,
    HttpTools,
    McpServers,
    PreferencesStore,
    SavedCalls,
    SentRequests,
    ToolSettingStore,
    TrustedFiles,
    VariableSets,
    WorkingCopies,
)

with late():
    import app.store.contents.uploads
    import app.store.folder.looking_lock
    import app.store.folder.read_only
    import app.store.keys.provider_keys
    import app.store.records.evals
    import app.store.records.provider_files
    import app.store.records.unsent
    import app.store.runs.rows
    import app.store.runs.traces

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.domain.secrets.redaction import Redaction

PARTS = ("runs", "sessions", "artifacts")
_OURS = re.compile(
    r"app\.tdb.*|runs|sessions|artifacts|uploads|tools|backups|backup-key|cache|logs|window|lock|token|sign-ins\.json|provider-keys\.json"
    r"|(?:before-)?restore.*|.*\.tmp"
)
"""The names of all that is ever in a data folder."""
_MANY = ("runs", "usage")
"""The tables that are not read at a start: as many documents as there ever were runs, and days of many figures."""
_WITH_SECRETS = ("mcp_servers", "http_tools")
"""The tables in which earlier versions stored secrets in plaintext."""


class DataFolder:
    def __init__(self, path: Path, lock: FolderLock, disk: Disk, database: JournalDB, *, first_start: bool) -> None:
        """Use `open`: this takes a folder that is there and locked."""
        self.path = path
        self.lock = lock
        self.disk = disk
        self._database = database
        self._writer = Writer()
        self.first_start = first_start
        """Whether nothing was ever stored here before."""
        self._database.journal.hand_over(self._writer)
        self.agents = Agents(self._database)
        self.api_keys = ApiKeys(self._database)
        self.sent_requests = SentRequests(self._database)
        self.working_copies = WorkingCopies(self._database)
        self.variable_sets = VariableSets(self._database)
        self.sessions = Sessions(self._database)
        self.comparisons = Comparisons(self._database)
        self.scores = Scores(self._database)
        self.preferences = PreferencesStore(self._database)
        self.tool_settings = ToolSettingStore(self._database)
        self.trusted_files = TrustedFiles(self._database)
        self.saved_calls = SavedCalls(self._database)
        self.http_tools = HttpTools(self._database)
        self.mcp_servers = McpServers(self._database)
        self.artifacts = Artifacts(path / "artifacts", disk)
        self.backups = Backups(path, SCHEMA, disk)
        self._aside: app.store.folder.read_only.Aside | None = None
        self.read_only = ""
        """Why nothing may be written, with the way out; empty where all may."""

    @classmethod
    def open(cls, path: Path, *, disk: Disk | None = None) -> Self:
        """Hold the folder, made when it is missing, until `close`.

        Data of a newer app, or that may not be written, is opened to be looked at: see `read_only`. Raises
        `StorageError` when it is in use, is no folder, or when nothing in it can be read.
        """
        path, disk = path.absolute(), disk or Disk()
        try:
            return cls._open(path, disk)
        except NewerData as newer:
            return cls._looked_at(path, str(newer))
        except OSError as error:
            trouble = in_words(error, path)
            if is_refusal(error) and os.access(path / "app.tdb", os.R_OK):
                return cls._looked_at(path, str(trouble))
            raise trouble from error

    @classmethod
    def _open(cls, path: Path, disk: Disk) -> Self:
        if _is_touched_before_reading(path) and (newer := app.store.folder.read_only.newer_data(path)) is not None:
            raise newer
        _make(path, disk)
        lock = FolderLock.take(path)
        try:
            put_back(path, disk)
            database = JournalDB(path / "app.tdb", disk=disk, later=_MANY)
            check_schema(database.journal, path)
            _make(path, disk, *PARTS)
            _sweep(path, disk)
            lock.clear()
            if _is_open(path) and _is_ours_alone(path):
                with contextlib.suppress(OSError):  # some disks have no modes
                    path.chmod(0o700)
            return cls(path, lock, disk, database, first_start=migrate(database.journal, path))
        except NewerData:
            lock.let_go()
            raise
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _looked_at(cls, path: Path, why: str) -> Self:
        disk, database = (
            app.store.folder.read_only.ReadOnlyDisk(why),
            app.store.folder.read_only.opened_to_read(path, why),
        )
        folder = cls(path, FolderLock(None), disk, database, first_start=False)
        folder._aside, folder.read_only = app.store.folder.read_only.Aside(), why
        return folder

    def look_alone(self) -> None:
        """Let no other app look at the folder meanwhile, where it is only looked at. Raises `FolderInUse`.

        `StorageError` says why nobody can be kept out, or find this app.
        """
        file = app.store.folder.looking_lock.looking_lock(self.path)
        try:
            self.lock = FolderLock.take(self.path, file)
        except OSError as error:
            raise in_words(error, file) from error
        self.lock.clear()

    @property
    def aside(self) -> Path:
        """The folder of what is kept beside data: its log and caches. The data folder, where that is written."""
        return self.path if self._aside is None else self._aside.path

    @property
    def open_to_others(self) -> str:
        """That others who use this computer may look into it, with the way out; empty where nobody else may."""
        if not _is_open(self.path):
            return ""
        return (
            f"Others who use this computer may look into the data folder {self.path}. It is not closed to them, as it "
            "is a home, is somebody else's, or holds more than data of Agent Playground. Start with --data and another "
            f"folder, or close it: chmod 700 '{self.path}'"
        )

    @property
    def damaged(self) -> tuple[str, ...]:
        """A sentence for each record of the main database that could not be read."""
        return self._database.journal.damaged

    @property
    def backlog(self) -> int:
        """Lines of journals that wait to be written."""
        return self._writer.backlog

    @late_part
    def providers(self) -> "app.store.keys.provider_keys.ProviderSettingsStore":
        return app.store.keys.provider_keys.ProviderSettingsStore(self._database)

    @late_part
    def provider_keys(self) -> "app.store.keys.provider_keys.ProviderKeys":
        kept = app.store.keys.provider_keys.KeptKeys(self._database)
        return app.store.keys.provider_keys.ProviderKeys(kept, self.path, disk=self.disk)

    @late_part
    def kept_provider_files(self) -> "app.store.records.provider_files.KeptProviderFiles":
        """What was uploaded to providers of models."""
        return app.store.records.provider_files.KeptProviderFiles(self._database)

    @late_part
    def unsent_runs(self) -> "app.store.records.unsent.UnsentRuns":
        return app.store.records.unsent.UnsentRuns(self._database)

    @late_part
    def datasets(self) -> "app.store.records.evals.Datasets":
        return app.store.records.evals.Datasets(self._database)

    @late_part
    def cases(self) -> "app.store.records.evals.Cases":
        return app.store.records.evals.Cases(self._database)

    @late_part
    def experiments(self) -> "app.store.records.evals.Experiments":
        return app.store.records.evals.Experiments(self._database)

    @late_part
    def cells(self) -> "app.store.records.evals.Cells":
        return app.store.records.evals.Cells(self._database)

    def has_session(self, session_id: str) -> bool:
        """Whether it is there and not deleted; where nobody can say, it counts as such."""
        try:
            found = self.sessions.find(session_id)
        except StorageError:
            return True
        return found is not None and found.deleted_at is None

    def keep_out(self, redaction: "Callable[[], Redaction]") -> None:
        """Store nothing from now on without having the known secrets taken out of it."""
        self._database.redaction = redaction
        self.artifacts.clean = lambda content: redaction().content(content)

    async def forget_past_of_tools(self) -> None:
        """Take what servers and requests were before, which may be secrets, off the disk soon, where it is there."""
        if any(map(self._database.journal.has_past, _WITH_SECRETS)):
            await self._database.journal.forget_past()

    @late_part
    def rows(self) -> "app.store.runs.rows.Rows":
        return app.store.runs.rows.Rows(self._database, self.scores)

    @late_part
    def uploads(self) -> "app.store.contents.uploads.Uploads":
        waiting = Artifacts(self.path / "uploads", self.disk)
        waiting.clean = self.artifacts.clean
        return app.store.contents.uploads.Uploads(self._database, waiting)

    @late_part
    def traces(self) -> "app.store.runs.traces.Traces":
        return app.store.runs.traces.Traces(self.path / "runs", self.path / "sessions", self._writer, self.disk)

    async def warm(self) -> None:
        """Read what a start does not need but the first run does, off the event loop."""
        rows = await asyncio.to_thread(lambda: self.rows)
        await rows.warm()
        await self.agents.warm()

    async def close(self) -> None:
        """Write what is pending and give the folder back. Raises `StorageError` where that did not work."""
        async with contextlib.AsyncExitStack() as closing:  # the last one first
            if self._aside is not None:
                closing.callback(self._aside.remove)
            closing.callback(self.lock.release)
            closing.callback(self._database.close)
            closing.push_async_callback(asyncio.to_thread, self._writer.close)
            if "rows" in vars(self):
                self.rows.usage_figures.keep()
            await self._database.journal.durable()
            await self._database.journal.tidy()


def _make(path: Path, disk: Disk, *parts: str) -> None:
    if path.exists() and not path.is_dir():
        raise StorageError(f"{path} is a file. Start with --data and a folder.")
    for folder in (path, *(path / part for part in parts)):
        disk.make_folder(folder)


def _is_open(path: Path) -> bool:
    """Whether others may look into it; on Windows folders of a user are closed as they are made."""
    return os.name == "posix" and bool(path.stat().st_mode & 0o077)


def _is_ours_alone(path: Path) -> bool:
    """Whether nothing but our data is in it, so that we may close it: a home is never ours."""
    found = path.stat()
    is_shared = found.st_uid != os.getuid() or found.st_mode & stat.S_ISVTX or path == Path.home()
    return not is_shared and all(_OURS.fullmatch(inner.name) for inner in path.iterdir())


def _is_touched_before_reading(path: Path) -> bool:
    """Whether opening changes something before the data says of which version it is. It was never opened here."""
    return (path / "app.tdb").exists() and (not (path / LOCK_NAME).exists() or (path / WAITING).exists())


def _sweep(path: Path, disk: Disk) -> None:
    """Remove what a killed app left unfinished, and the token by which every start of an earlier version was opened."""
    for unwanted in (UNPACKING, GIVEN_UP):
        if (path / unwanted).exists():
            shutil.rmtree(path / unwanted, ignore_errors=True)
    for pattern in ("*.tmp", "artifacts/*.tmp", "uploads/*.tmp", "backups/*.tmp", "token"):
        for leftover in path.glob(pattern):
            with contextlib.suppress(OSError):
                disk.remove(leftover)
