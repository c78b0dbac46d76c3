"""The data folder: everything the app keeps, opened by one app at a time.

lock            who holds the folder          runs/      one database per run
app.tdb         agents, sessions, rows, …     sessions/  what the runs of a session share
artifacts/      contents by their sha256      backups/   zip files of all of this
logs/           what the app had to say       restore/   a backup that the next start puts back
"""

import asyncio
import contextlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from app.domain.errors import StorageError
from app.store.agents import Agents
from app.store.api_keys import ApiKeys
from app.store.artifacts import Artifacts
from app.store.backups import Backups, put_back
from app.store.comparisons import Comparisons
from app.store.database import JournalDB
from app.store.disk import Disk
from app.store.http_tools import HttpTools
from app.store.lock import FolderLock
from app.store.mcp_servers import McpServers
from app.store.migrations import SCHEMA, migrate
from app.store.preferences import PreferencesStore
from app.store.rows import Rows
from app.store.saved_calls import SavedCalls
from app.store.sent_requests import SentRequests
from app.store.sessions import Sessions
from app.store.tool_settings import ToolSettingStore
from app.store.traces import Traces
from app.store.trouble import in_words
from app.store.trusted_files import TrustedFiles
from app.store.variable_sets import VariableSets
from app.store.working_copies import WorkingCopies
from app.store.writer import Writer

if TYPE_CHECKING:
    from app.store.provider_keys import ProviderKeys
    from app.store.provider_settings import ProviderSettingsStore


class DataFolder:
    def __init__(self, path: Path, lock: FolderLock, disk: Disk) -> None:
        """Use `open`: this takes a folder that is there and locked."""
        self.path = path
        self.lock = lock
        self._database = JournalDB(path / "app.tdb", disk=disk)
        self._writer = Writer()
        self.first_start = migrate(self._database.journal, path)
        """Whether nothing was ever stored here before."""
        self._database.journal.hand_over(self._writer)
        self.agents = Agents(self._database)
        self.api_keys = ApiKeys(self._database)
        self.sent_requests = SentRequests(self._database)
        self.working_copies = WorkingCopies(self._database)
        self.variable_sets = VariableSets(self._database)
        self.sessions = Sessions(self._database)
        self.comparisons = Comparisons(self._database)
        self.rows = Rows(self._database)
        self.preferences = PreferencesStore(self._database)
        self.tool_settings = ToolSettingStore(self._database)
        self.trusted_files = TrustedFiles(self._database)
        self.saved_calls = SavedCalls(self._database)
        self.http_tools = HttpTools(self._database)
        self.mcp_servers = McpServers(self._database)
        self.traces = Traces(path / "runs", path / "sessions", self._writer, disk)
        self.artifacts = Artifacts(path / "artifacts", disk)
        self.backups = Backups(path, SCHEMA)

    @classmethod
    def open(cls, path: Path, *, disk: Disk | None = None) -> Self:
        """Hold the folder, made when it is missing, until `close`.

        Raises `StorageError` when it is in use, cannot be written, is no folder or belongs to a newer app.
        """
        path, disk = path.absolute(), disk or Disk()
        _make(path, disk)
        try:
            lock = FolderLock.take(path)
        except OSError as error:
            raise in_words(error, path) from error
        try:
            _sweep(path, disk)
            _put_back(path)
            return cls(path, lock, disk)
        except BaseException:
            lock.release()
            raise

    @property
    def damaged(self) -> tuple[str, ...]:
        """A sentence for each record of the main database that could not be read."""
        return self._database.journal.damaged

    @cached_property
    def providers(self) -> "ProviderSettingsStore":
        from app.store.provider_settings import ProviderSettingsStore  # noqa: PLC0415  the demo needs none of it

        return ProviderSettingsStore(self._database)

    @cached_property
    def provider_keys(self) -> "ProviderKeys":
        from app.store.provider_keys import ProviderKeys  # noqa: PLC0415  see `providers`
        from app.store.provider_settings import KeptKeys  # noqa: PLC0415

        return ProviderKeys(KeptKeys(self._database), self.path)

    async def warm(self) -> None:
        """Read what a start does not need but the first run does, beside the event loop."""
        await self.rows.warm()

    async def close(self) -> None:
        """Write what is pending and give the folder back. Raises `StorageError` where that did not work."""
        try:
            await self._database.journal.durable()
        finally:
            try:
                await asyncio.to_thread(self._writer.close)
            finally:
                self._database.close()
                self.lock.release()


def _make(path: Path, disk: Disk) -> None:
    try:
        if path.exists() and not path.is_dir():
            raise StorageError(f"{path} is a file. Start with --data and a folder.")
        for folder in (path, path / "runs", path / "sessions", path / "artifacts"):
            disk.make_folder(folder)
    except OSError as error:
        raise in_words(error, path) from error


def _put_back(path: Path) -> None:
    try:
        put_back(path)
    except OSError as error:
        raise in_words(error, path) from error


def _sweep(path: Path, disk: Disk) -> None:
    """Remove what a killed app left unfinished."""
    for pattern in ("*.tmp", "artifacts/*.tmp", "backups/*.tmp"):
        for leftover in path.glob(pattern):
            with contextlib.suppress(OSError):
                disk.remove(leftover)
