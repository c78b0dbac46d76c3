"""Where a run is to be killed: the disk takes nothing more of it from an entry on, inside a node of a chosen kind.

That is what a kill leaves: the first so many entries of a trace, and whatever was done until something had to wait for
the disk. Runs that stand so are all killed at once; on disk each is a run that was killed in such a node.
"""

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path

from app.domain.events import Entry, MessageAdded, RunStarted
from app.domain.streaming import Draft
from app.domain.trace import StoredTrace
from app.domain.trace.nodes import NodeRuns
from app.domain.values import Strict
from app.domain.workflows.document import AgentNode
from app.engine.ports import Opening, Traces, TraceWriter

INNER = "inner"
"""The agent that is a workflow."""
KINDS = (
    "input", "agent", "nested workflow", "tool", "transform", "branch", "map", "loop", "approval", "join", "output",
)  # fmt: skip


class Aim(Strict):
    """The run stops being written after so many of its entries at which a node of the kind goes on, from 1."""

    kind: str
    after: int
    returns: bool
    """Whether it is told that what it wrote before is on disk, and goes on until it next waits for that."""
    below: bool = False
    """Entries are those of the run that the node started."""


class Aims:
    """What is aimed at, by what runs are told; in a file, since the app reads it in its own process."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._stopped = file.with_suffix(".stopped")
        self._stopped.mkdir(exist_ok=True)

    def write(self, aims: dict[str, Aim]) -> None:
        self.file.write_text(json.dumps({name: aim.model_dump() for name, aim in aims.items()}), encoding="utf-8")

    def at(self, name: str) -> Aim | None:
        found = json.loads(self.file.read_text(encoding="utf-8")).get(name) if self.file.exists() else None
        return None if found is None else Aim.model_validate(found)

    def tell_stopped(self, name: str) -> None:
        (self._stopped / name).touch()

    def stopped(self) -> set[str]:
        """The runs of which no more is written; all that came before is on disk."""
        return {file.name for file in self._stopped.iterdir()}


def kinds_going_on(known: NodeRuns) -> set[str]:
    """Of the nodes that have begun and not ended."""
    return {_kind(known, id_) for id_, counts in known.counts.items() if counts["running"]}


def _kind(known: NodeRuns, id_: str) -> str:
    node = known.workflow.by_id()[id_]
    return "nested workflow" if isinstance(node, AgentNode) and node.agent == INNER else node.kind


class AimedTraces:
    """The app's own traces, of which those that are aimed at stop being written."""

    def __init__(self, traces: Traces, aims: Aims) -> None:
        self._traces, self._aims = traces, aims

    async def create(self, run_id: str, session_id: str) -> TraceWriter:
        return AimedWriter(await self._traces.create(run_id, session_id), self._aims)

    async def reopen(self, run_id: str) -> TraceWriter:
        return await self._traces.reopen(run_id)

    async def read(self, run_id: str, *, opening: Opening | None = None) -> StoredTrace:
        return await self._traces.read(run_id, opening=opening)


class AimedWriter:
    def __init__(self, writer: TraceWriter, aims: Aims) -> None:
        self._writer, self._aims = writer, aims
        self._known = NodeRuns()
        self._started: RunStarted | None = None
        self._name = ""
        self._aim: Aim | None = None
        self._inside = 0
        self._stopped = self._lost = False
        self._told: asyncio.Task[None] | None = None

    async def prepare(self, started: RunStarted) -> None:
        await self._writer.prepare(started)

    def append(self, entry: Entry) -> None:
        if self._stopped:
            self._lost = True
            return
        self._writer.append(entry)
        self._known.take(entry)
        match entry.event:
            case RunStarted() as started:
                self._started = started
            case MessageAdded(message=message) if not self._name:
                self._name = message.text.split()[-1]
                self._aim = self._mine(self._aims.at(self._name))
            case _:
                pass
        if self._aim is not None and (self._aim.below or self._aim.kind in kinds_going_on(self._known)):
            self._inside += 1
            self._stopped = self._inside >= self._aim.after
        if self._stopped:
            self._told = asyncio.create_task(self._tell())

    def checkpoint(self, draft: Draft) -> None:
        if not self._stopped:
            self._writer.checkpoint(draft)

    async def flush(self) -> None:
        if self._lost or (self._stopped and self._aim is not None and not self._aim.returns):
            await asyncio.Event().wait()
        await self._writer.flush()

    def flushing(self) -> Awaitable[None]:
        return asyncio.ensure_future(self.flush())

    async def close(self) -> None:
        await self.flush()
        await self._writer.close()

    def let_go(self) -> None:
        self._writer.let_go()

    async def abandon(self) -> None:
        await self._writer.abandon()

    def _mine(self, aim: Aim | None) -> Aim | None:
        """That of the run itself, or of the one that a node of the kind has started."""
        started = self._started
        if aim is None or started is None or aim.below != (started.parent is not None):
            return None
        is_nested = started.workflow is not None
        return aim if not aim.below or is_nested == (aim.kind == "nested workflow") else None

    async def _tell(self) -> None:
        await self._writer.flush()
        self._aims.tell_stopped(self._name)
