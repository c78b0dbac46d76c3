"""What exports need from the outside, as protocols; the workbench plugs the store and the runs in."""

from collections.abc import Callable, Sequence
from typing import Protocol

from app.domain.agents import Agent
from app.domain.branches import Branches
from app.domain.evals.scores import Score
from app.domain.events import Entry, RunStarted
from app.domain.sessions import Session
from app.domain.trace import RunRow, StoredTrace


class RunReader(Protocol):
    async def trace(self, run_id: str) -> StoredTrace:
        """As of now, live or stored; raises `NotFound`."""
        ...

    def live(self, run_id: str) -> object | None:
        """The run, if it goes on now."""
        ...


class SessionRuns(RunReader, Protocol):
    def branches(self, session: Session) -> Branches:
        """What was answered beside what in the session."""
        ...


class ArtifactReader(Protocol):
    async def get(self, digest: str) -> bytes:
        """Raises `NotFound`, and `StorageError` for one that is damaged."""
        ...


class ArtifactStore(ArtifactReader, Protocol):
    async def put(self, content: bytes) -> str: ...


class TraceWriter(Protocol):
    async def prepare(self, started: RunStarted) -> None:
        """Called before the first entry is taken: what it knows may be much."""
        ...

    def append(self, entry: Entry) -> None: ...

    async def flush(self) -> None: ...

    async def close(self) -> None: ...

    async def abandon(self) -> None:
        """Close it with nothing of it left."""
        ...


class TraceStore(Protocol):
    async def create(self, run_id: str, session_id: str) -> TraceWriter: ...

    async def read(self, run_id: str) -> StoredTrace:
        """Raises `NotFound`."""
        ...


class RowStore(Protocol):
    def get(self, run_id: str) -> RunRow | None: ...

    async def save(self, row: RunRow) -> None: ...


class SessionStore(Protocol):
    async def create(self, session: Session) -> Session: ...

    async def remove(self, session_id: str) -> None:
        """As if it had never been."""
        ...


class AgentStore(Protocol):
    def all(self) -> Sequence[Agent]: ...


ScoresOf = Callable[[str], Sequence[Score]]
"""What was said of the run of that id."""


def no_scores(_: str) -> Sequence[Score]:
    """Where nobody knows of any."""
    return ()


class ScoreStore(Protocol):
    async def save(self, value: Score) -> Score: ...


Secrets = Callable[[], Sequence[str]]
"""The keys that this app knows, as of now."""
