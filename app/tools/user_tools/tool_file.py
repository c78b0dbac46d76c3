"""One tool file while the app runs: the version whose tools are used, and the one that is being loaded."""

import asyncio
import logging
import re
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from app.domain.tool_settings import TrustedFile
from app.late import late
from app.tools.user_tools.reading import Reading
from app.tools.user_tools.user_file import FileProblem, FileStatus, UserFile
from app.tools.user_tools.version import Version, Workers
from app.tools.worker.script_block import project

with late():
    from app.tools.worker import file_worker

LOADS_AT_ONCE = 2
PATIENCE = 1.0
"""Seconds after which a file that loads no longer keeps others waiting."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shared:
    """What the files of a folder have in common."""

    changed: Callable[[], None]
    """Called when a file's tools or its status are other ones."""
    workers: Workers
    slots: "LoadSlots" = field(default_factory=lambda: LoadSlots(LOADS_AT_ONCE, patience=PATIENCE))


class ToolFile:
    """Nothing of the file runs before `renew` is told who allowed it."""

    def __init__(self, reading: Reading, shared: Shared) -> None:
        self.reading = reading
        self.trusted: TrustedFile | None = None
        self.good: Version | None = None
        """The last version that loaded."""
        self.problem: FileProblem | None = None
        self.load: asyncio.Task[None] | None = None
        self._shared = shared

    @property
    def status(self) -> FileStatus:
        if self.reading.text is None:
            return "broken"
        if self.trusted is None:
            return "untrusted"
        if self.load is not None:
            return "loading"
        if self.problem is not None:
            return "broken"
        return "ready" if self.good and self.good.tools else "empty"

    def seen(self, name: str, clashes: tuple[str, ...]) -> UserFile:
        """As a page shows it."""
        loaded = self.good.loaded if self.good else file_worker.Loaded(())
        return UserFile(
            name=name,
            path=self.reading.path,
            status=self.status,
            preview=self.reading.preview.tools,
            tools=loaded.tools,
            left_out=loaded.left_out,
            printed=loaded.printed,
            problem=self.problem,
            interpreter=self.trusted.interpreter if self.trusted else "",
            requires=self.reading.preview.requires,
            clashes=clashes,
            pid=self.good.worker.pid if self.good else None,
        )

    def renew(
        self, reading: Reading, trusted: TrustedFile | None, *, keep_running: bool = True, again: bool = False
    ) -> None:
        """Make the tools those of that text, as its owner allowed it.

        With `keep_running` its process then waits for calls, else it starts at the first one. A text that is loaded
        is loaded once more only if `again`.
        """
        loaded = not again and bool(
            trusted and self.good and self.good.is_of(reading.text, interpreter=trusted.interpreter)
        )
        self.reading, self.trusted = reading, trusted
        self._cancel_load()
        self.problem = self._problem_of_text()
        if trusted is None:
            self.stop()
            self.good = None
        elif reading.text is not None and self.problem is None and not loaded:
            self.load = asyncio.create_task(self._load(reading.text, trusted, keep_running=keep_running))
        self._shared.changed()

    def leave(self) -> None:
        """The file is gone: its tools end when nobody holds them."""
        self._cancel_load()
        if self.good:
            self.good.retire()
        self._shared.changed()

    def stop(self) -> None:
        """End what runs of it, whoever uses it."""
        self._cancel_load()
        self._shared.workers.end_all_of(self.reading.path)

    def _problem_of_text(self) -> FileProblem | None:
        """What is wrong before anything runs. Another Python may know a newer syntax, so that is asked itself."""
        if self.reading.text is None:
            return FileProblem(self.reading.trouble)
        asks_another = self.trusted is not None and self.trusted.interpreter
        return None if asks_another else self.reading.preview.problem

    def _cancel_load(self) -> None:
        if self.load:
            self.load.cancel()
        self.load = None

    async def _load(self, text: str, trusted: TrustedFile, *, keep_running: bool) -> None:
        workers = self._shared.workers
        worker = workers.make(self.reading.path, text, trusted)
        try:
            async with self._shared.slots.taken():
                loaded = await worker.load()
        except asyncio.CancelledError:
            workers.end(worker)
            raise
        except Exception as error:  # noqa: BLE001  one file's trouble, of whatever kind, is that file's alone
            workers.end(worker)
            self.problem = self._problem_of(error, trusted.interpreter)
        else:
            if not keep_running:
                worker.fall_asleep()
            self._use(Version(text, worker, loaded, interpreter=trusted.interpreter, end=workers.end))
        self.load = None
        self._shared.changed()

    def _use(self, version: Version) -> None:
        before, self.good = self.good, version
        if before:
            before.retire()

    def _problem_of(self, error: Exception, interpreter: str) -> FileProblem:
        if not isinstance(error, file_worker.LoadFailed):
            _log.error("The tool file %s could not be loaded", self.reading.path, exc_info=error)
            return FileProblem(f"It could not be loaded: {error}", traceback="".join(traceback.format_exception(error)))
        install = install_command(error.missing, self.reading.preview.requires, interpreter)
        return FileProblem(error.text, error.line, error.traceback, error.missing, install)


class LoadSlots:
    """Lets a few go at once. Who takes longer than `patience` goes on, and no longer keeps the next one waiting."""

    def __init__(self, places: int, *, patience: float) -> None:
        """`patience` in seconds."""
        self._free = asyncio.Semaphore(places)
        self._patience = patience

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        await self._free.acquire()
        place = [self._free]

        def give_back() -> None:
            while place:
                place.pop().release()

        late = asyncio.get_running_loop().call_later(self._patience, give_back)
        try:
            yield
        finally:
            late.cancel()
            give_back()


def install_command(missing: Sequence[str], requires: Sequence[str], interpreter: str) -> str:
    """What to type so that `interpreter`, empty for the app's own, has the packages; empty where none is missing.

    A package is asked for as the file's script block does. What is missing under a name that the block does not have,
    as `yaml` of PyYAML, brings all of the block.
    """
    if not missing:
        return ""
    asked = {_project(requirement): requirement for requirement in requires}
    known = [asked[_project(name)] for name in missing if _project(name) in asked]
    wanted = known if len(known) == len(missing) else list(requires) or list(missing)
    return " ".join([f'"{_python(interpreter)}"', "-m pip install", *(f'"{one}"' for one in wanted)])


def _python(interpreter: str) -> str:
    """The bundled app cannot install anything into itself; its owner has to choose another Python for the file."""
    return interpreter or ("python" if getattr(sys, "frozen", False) else sys.executable)


def _project(requirement: str) -> str:
    """The name under which an index knows the package (PEP 503)."""
    return re.sub(r"[-_.]+", "-", project(requirement) or requirement).lower()
