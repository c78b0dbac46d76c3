"""The folder of the user's tool files, as it is on disk at every moment."""

import asyncio
import contextlib
import logging
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from app.domain.errors import NotFound, WorkbenchError
from app.tools.ports import RunnableTool, TrustedFiles
from app.tools.user_tools import editing
from app.tools.user_tools.reading import Reading, read_folder
from app.tools.user_tools.template import template
from app.tools.user_tools.tool_file import Shared, ToolFile
from app.tools.user_tools.trust import Trust
from app.tools.user_tools.user_file import UserFile
from app.tools.user_tools.version import FileTool, Workers
from app.tools.user_tools.watching import changes

MOST_KEPT_RUNNING = 3
"""Files that changed together and whose processes then wait for calls; those of more start when they are called."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NamedTools:
    tools: Mapping[str, FileTool] = field(default_factory=dict)
    clashes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By file: a sentence for each of its tools whose name another one has too."""


class UserTools:
    """Tools from Python files. What changes on disk is usable within a second; runs keep the version they hold."""

    title = "Your tools"

    def __init__(
        self,
        folder: Path,
        trusted: TrustedFiles,
        *,
        trust_all: bool = False,
        admit: Callable[[], None] = lambda: None,
    ) -> None:
        """With `trust_all` every file of the folder may run, as long as this app does.

        `admit` raises `StorageError` where nothing in the folder may be changed.
        """
        self._admit = admit
        self.folder = folder.absolute()
        self.revision = 0
        """Goes up with every change of a file, of its status or of its tools."""
        self._trust = Trust(trusted, everything=trust_all)
        self._shared = Shared(self._changed, Workers(partial(self._trust.neighbours, self.folder)))
        self._files: dict[str, ToolFile] = {}
        self._named = NamedTools()
        self._made_of = 0
        self._looking = asyncio.Lock()
        self._saving = asyncio.Lock()
        """Held from where a text is compared until another one is in its place."""
        self._watch: asyncio.Task[None] | None = None
        self._closed = False
        self._problem = ""

    async def start(self) -> None:
        """Make the folder and list its files; those that may run are loaded in the background, and changes followed."""
        with contextlib.suppress(OSError):  # who follows the changes tries it again, and says why it cannot be
            await asyncio.to_thread(self.folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        await self._look_again()
        self._watch = asyncio.create_task(self._follow())

    async def settled(self) -> None:
        """Return when no file is being loaded."""
        while loads := [file.load for file in self._files.values() if file.load]:
            await asyncio.wait(loads)

    def files(self) -> tuple[UserFile, ...]:
        """Every tool file, by name; nothing is run for it."""
        clashes = self._current().clashes
        return tuple(file.seen(name, clashes.get(name, ())) for name, file in sorted(self._files.items()))

    def tools(self) -> Mapping[str, RunnableTool]:
        return self._current().tools

    def hold(self) -> Callable[[], None]:
        releases = [file.good.hold() for file in self._files.values() if file.good]

        def release_all() -> None:
            for release in releases:
                release()

        return release_all

    async def trust(self, name: str, *, interpreter: str = "") -> None:
        """Let the file run, now and after every edit. Raises `NotFound`, `WorkbenchError` where that is no Python."""
        path = self._file(name).reading.path
        if interpreter and shutil.which(interpreter) is None:
            raise WorkbenchError(
                f"There is no Python at {interpreter}. Give the full path of one, like /usr/bin/python3."
            )
        await self._trust.give(path, interpreter)
        self._renew(name)

    async def distrust(self, name: str) -> None:
        """Never run the file again; its process ends at once, also under a run that uses it."""
        await self._trust.take_back(self._file(name).reading.path)
        self._renew(name)

    async def reload(self, name: str) -> None:
        """Load the file once more, as after its packages were installed."""
        self._file(name)
        self._renew(name, again=True)

    def source(self, name: str) -> str:
        """The text as of now. Raises `NotFound`, or `WorkbenchError` where it is no text."""
        reading = self._file(name).reading
        if reading.text is None:
            raise WorkbenchError(f"{name} cannot be shown. {reading.trouble}")
        return reading.text

    async def save(self, name: str, text: str, *, expected: str | None) -> None:
        """Replace the text. Raises `Conflict` when it is no longer `expected`; `None` replaces whatever is there."""
        self._admit()
        known = name if name in self._files else editing.file_name(name)
        async with self._saving:
            await asyncio.to_thread(editing.replace, self.folder, known, text, expected=expected)
        await self._look()

    async def new_file(self, name: str) -> UserFile:
        """Make a file that shows how tools are written. Raises `Conflict` where the name is taken."""
        self._admit()
        name = editing.file_name(name)
        await asyncio.to_thread(editing.create, self.folder, name, template(name))
        await self._look()
        return self._file(name).seen(name, ())

    async def receive(self, name: str, text: str) -> UserFile:
        """Make a file that somebody posted: it waits for its owner, whatever once ran under its name.

        Raises `Conflict` where the name is taken.
        """
        self._admit()
        name = editing.file_name(name)
        editing.check_free(self.folder, name)
        await self._trust.forget(self.folder / name)
        await asyncio.to_thread(editing.create, self.folder, name, text)
        await self._look()
        return self._file(name).seen(name, ())

    async def rename(self, name: str, new_name: str) -> None:
        """Call the file something else; what its owner allowed stays. Raises `Conflict` where the name is taken."""
        path, new_name = self._file(name).reading.path, editing.file_name(new_name)
        if new_name == name:
            return
        async with self._looking:  # nobody finds it under its new name before that may run
            editing.check_renaming(self.folder, name, new_name)
            await self._trust.forget(self.folder / new_name)
            await asyncio.to_thread(editing.rename, self.folder, name, new_name)
            self._shared.workers.move(path, self.folder / new_name)
            await self._trust.move(path, self.folder / new_name)
        await self._look()

    async def delete(self, name: str) -> None:
        """Delete the file, and forget that it was allowed to run."""
        file = self._file(name)
        await asyncio.to_thread(editing.remove, self.folder, name)
        await self._trust.forget(file.reading.path)
        await self._look()

    async def close(self) -> None:
        """End the watching and every process; what is still being saved is not loaded any more."""
        self._closed = True
        if self._watch:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        for file in self._files.values():
            file.stop()
        await self._shared.workers.close()

    def _file(self, name: str) -> ToolFile:
        if name not in self._files:
            raise NotFound(f"There is no tool file {name!r}.")
        return self._files[name]

    def _changed(self) -> None:
        self.revision += 1

    def _current(self) -> NamedTools:
        if self._made_of != self.revision:
            made_of, named = self.revision, named_tools(dict(self._files))  # perhaps in a thread
            self._named, self._made_of = named, made_of
        return self._named

    async def _follow(self) -> None:
        async for _ in changes(self.folder):
            await self._look_again()

    async def _look_again(self) -> None:
        """Take in how the folder is now; what nobody foresaw of what others put there is logged, and ends nothing."""
        try:
            await self._look()
            self._problem = ""
        except Exception as problem:
            if repr(problem) != self._problem:
                log.exception("The folder %s could not be read; it is tried again every second", self.folder)
            self._problem = repr(problem)

    async def _look(self) -> None:
        """Take in how the folder is now."""
        async with self._looking:
            known = {name: file.reading for name, file in self._files.items()}
            found = await asyncio.to_thread(read_folder, self.folder, known)
            for name in known.keys() - found.keys():
                self._files.pop(name).leave()
            changed = {name: reading for name, reading in found.items() if reading is not known.get(name)}
            for name, reading in changed.items():
                self._take(name, reading, keep_running=len(changed) <= MOST_KEPT_RUNNING)
                await asyncio.sleep(0)

    def _take(self, name: str, reading: Reading, *, keep_running: bool) -> None:
        """Take in a file as it is now."""
        file = self._files.get(name)
        if file is None:
            file = ToolFile(reading, self._shared)
        elif replace(reading, settled=False) == replace(file.reading, settled=False):
            file.reading = reading
            return
        self._make_ready(file, reading, keep_running=keep_running)
        self._files[name] = file

    def _renew(self, name: str, *, again: bool = False) -> None:
        """Take in what was decided about a file, if it is still there."""
        if file := self._files.get(name):
            self._make_ready(file, file.reading, again=again)

    def _make_ready(self, file: ToolFile, reading: Reading, *, keep_running: bool = True, again: bool = False) -> None:
        if not self._closed:
            file.renew(reading, self._trust.get(reading.path), keep_running=keep_running, again=again)


def named_tools(files: Mapping[str, ToolFile]) -> NamedTools:
    """The tools of all files. The file that was allowed to run first keeps a name, and both are told."""
    tools: dict[str, FileTool] = {}
    owners: dict[str, str] = {}
    clashes: dict[str, list[str]] = {}
    for name, tool in _in_order(files):
        first = owners.setdefault(tool.spec.name, name)
        if first == name:
            tools[tool.spec.name] = replace(tool, label=f"{name} › {tool.spec.name}")
            continue
        sentence = f"Both {first} and {name} have a tool {tool.spec.name!r}: that of {first} is used. Rename one."
        clashes.setdefault(first, []).append(sentence)
        clashes.setdefault(name, []).append(sentence)
    return NamedTools(tools, {name: tuple(sentences) for name, sentences in clashes.items()})


def _in_order(files: Mapping[str, ToolFile]) -> Iterable[tuple[str, FileTool]]:
    allowed = [(file.trusted.trusted_at, name, file.good) for name, file in files.items() if file.trusted and file.good]
    for _, name, version in sorted(allowed, key=lambda one: one[:2]):
        for tool in version.tools:
            yield name, tool
