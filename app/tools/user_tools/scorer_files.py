"""The folder of the user's scorers: Python files with a function `score`, run as tool files are."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from app.domain.errors import NotFound, ToolCrashed, ToolError, ToolTimedOut
from app.late import late
from app.tools.ports import TrustedFiles
from app.tools.user_tools.reading import Reading, read_file, read_folder
from app.tools.user_tools.trust import Trust

with late():
    from app.tools.worker import file_worker

SECONDS = 10.0
"""How long one call of `score` may take."""
_SCORE = re.compile(r"^(?:async )?def score\b", re.MULTILINE)
_DOCSTRING = re.compile(r'\A(?:#[^\n]*\n|\s)*+(?:"""|\'\'\')([^\n"\']*)')
_CALLS_SCORE = """

import agent_playground as _agent_playground


@_agent_playground.tool
def call_score(given: str) -> str:
    import asyncio, inspect, json

    known = json.loads(given)
    taken = inspect.signature(score).parameters
    if not any(one.kind is one.VAR_KEYWORD for one in taken.values()):
        known = {name: value for name, value in known.items() if name in taken}
    value = score(**known)
    if inspect.isawaitable(value):
        value = asyncio.run(value)
    if isinstance(value, dict):
        value = {"value": value.get("value", value.get("score", value.get("passed"))), "reason": value.get("reason")}
    return json.dumps(value, default=lambda other: other.item() if hasattr(other, "item") else repr(other))
"""
"""Stands behind the file's own text, so that its lines keep their numbers."""

Allowed = tuple[str, str]
"""The Python that runs a file, and the file's text."""


@dataclass(frozen=True, slots=True)
class ScorerFile:
    """A file as it lies there; nothing of it is run to say this."""

    name: str
    path: Path
    description: str
    """The first line of its docstring."""
    trusted: bool
    """Whether its owner has allowed it to run."""
    problem: str
    """What is wrong with its text; empty where nothing is."""


class ScorerFolder:
    """Scorers from Python files, each in a process of its own that is made anew where its text changes."""

    def __init__(self, folder: Path, trusted: TrustedFiles, *, trust_all: bool = False) -> None:
        """With `trust_all` every file of the folder may run, as long as this app does."""
        self.folder = folder.absolute()
        self.seconds = SECONDS
        self._trust = Trust(trusted, everything=trust_all)
        self._workers: dict[str, tuple[Allowed, file_worker.FileWorker]] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    async def files(self) -> tuple[ScorerFile, ...]:
        """Every file, by name."""
        found = await asyncio.to_thread(read_folder, self.folder, {})
        return tuple(self._seen(name, reading) for name, reading in found.items())

    async def trust(self, name: str, *, interpreter: str = "") -> None:
        """Let the file run, now and after every edit; with that Python, where it needs packages. Raises `NotFound`."""
        await self._trust.give((await self._reading(name)).path, interpreter)

    async def distrust(self, name: str) -> None:
        """Never run it again; its process ends at once. Raises `NotFound`."""
        await self._trust.take_back((await self._reading(name)).path)
        await self._ended(name)

    async def judged(self, name: str, given: Mapping[str, JsonValue]) -> tuple[str, JsonValue]:
        """The file's text, and what its `score` returned for these arguments, of which it gets those that it names.

        Raises `ToolError` where it is not there, may not run, cannot be read or takes too long, `ToolCrashed` where it
        broke down.
        """
        async with self._turns.setdefault(name, asyncio.Lock()):  # who hangs takes the process from no other call
            try:
                reading = await self._reading(name)
            except NotFound as error:
                raise ToolError(str(error)) from error
            text, worker = await self._worker(name, reading)
            try:
                await worker.load()
                async with asyncio.timeout(self.seconds):
                    said = await worker.call("call_score", {"given": json.dumps(dict(given))})
            except file_worker.LoadFailed as error:
                raise ToolCrashed(error.text, traceback=error.traceback) from error
            except TimeoutError as error:
                raise ToolTimedOut(f"{name} took longer than {self.seconds:g} s and was stopped.") from error
        return text, json.loads("".join(part.text for part in said.parts if part.type == "text"))

    async def close(self) -> None:
        """End every process."""
        for name in list(self._workers):
            await self._ended(name)

    async def _worker(self, name: str, reading: Reading) -> "tuple[str, file_worker.FileWorker]":
        """A process for the file as it is now. Raises `ToolError` where it may not run."""
        wanted = self._allowed(name, reading)
        if name in self._workers and self._workers[name][0] != wanted:
            await self._ended(name)
            wanted = self._allowed(name, reading)  # it may have been distrusted meanwhile
        interpreter, text = wanted
        if name not in self._workers:
            neighbours = partial(self._trust.neighbours, self.folder)
            worker = file_worker.FileWorker(
                reading.path, text + _CALLS_SCORE, interpreter=interpreter, neighbours=neighbours
            )
            self._workers[name] = wanted, worker
        return text, self._workers[name][1]

    def _allowed(self, name: str, reading: Reading) -> Allowed:
        """Raises `ToolError` where it may not run."""
        trusted = self._trust.get(reading.path)
        if problem := _problem(name, reading):
            raise ToolError(problem)
        if trusted is None or reading.text is None:
            raise ToolError(f"{name} has not been allowed to run. Look at it, and allow it on the page of scorers.")
        return trusted.interpreter, reading.text

    async def _ended(self, name: str) -> None:
        if known := self._workers.pop(name, None):
            await known[1].close()

    async def _reading(self, name: str) -> Reading:
        path = self.folder / name
        inside = path.is_relative_to(self.folder) and ".." not in path.parts and path.suffix == ".py"
        found = await asyncio.to_thread(read_file, self.folder, path) if inside else None
        if found is None:
            raise NotFound(f"There is no scorer file {name!r} in {self.folder}.")
        return found

    def _seen(self, name: str, reading: Reading) -> ScorerFile:
        head = _DOCSTRING.match((reading.text or "")[:2000])
        trusted = self._trust.get(reading.path) is not None
        return ScorerFile(name, reading.path, head[1].strip() if head else "", trusted, _problem(name, reading))


def _problem(name: str, reading: Reading) -> str:
    if reading.text is None:
        return reading.trouble
    if reading.preview.problem is not None:
        return f"{name} cannot be read: {reading.preview.problem.text}"
    return "" if _SCORE.search(reading.text) else f"{name} has no function score(answer, reference, case, calls)."
