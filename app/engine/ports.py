"""What the engine needs from the outside, as protocols. Adapters match these by shape; the workbench plugs them in."""

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from pydantic import JsonValue

from app.domain.agents import Agent
from app.domain.branches import Turn
from app.domain.comparisons import Comparison
from app.domain.evals.scores import Score
from app.domain.events import Entry, RunStarted
from app.domain.messages import ToolCall
from app.domain.models import Price
from app.domain.reading.expressions import Expressions
from app.domain.sessions import Session
from app.domain.streaming import Draft, Model, ModelRequest
from app.domain.tools import CallContext, Progress, Task, TaskEnd, ToolOutput, ToolSpec
from app.domain.trace import Excerpt, RunFilter, RunPage, RunRow, SortKey, StoredTrace

V = TypeVar("V")


class Models(Protocol):
    async def open(self, name: str) -> Model:
        """The model behind `provider/model` or an alias; raises `ModelFailure` where there is none."""
        ...

    async def check(self, name: str) -> None:
        """Raises `NotFound`, in words, where no model can be behind that name; asks nobody and needs no key."""
        ...

    def price(self, name: str) -> Price | None:
        """What its tokens cost, `None` when nobody said."""
        ...

    async def window(self, name: str) -> int | None:
        """Tokens of prompt that it takes, `None` when nobody said; afterwards `price` reads nothing."""
        ...

    def sends_bills(self, name: str) -> bool:
        """False for a model on this machine, which costs nothing even where nobody said so."""
        ...

    async def count_tokens(self, request: ModelRequest) -> int:
        """About how many tokens the request's prompt has."""
        ...

    async def prepared(self, request: ModelRequest) -> ModelRequest:
        """The request with how each of its attachments goes along, made ready for that; raises nothing for one."""
        ...


class Toolset(Protocol):
    """Tools as they were when a run began; newer versions do not touch them."""

    async def call(self, call: ToolCall, context: CallContext) -> ToolOutput:
        """Run the tool. Raises `UnknownTool`, `InvalidArguments` or another `ToolError` for the model to see.

        Cancelling it ends the tool: nothing of it goes on afterwards.
        """
        ...

    def reads_outside(self, name: str) -> bool:
        """Whether what the tool gives back may come from outside of the session."""
        ...

    def label(self, name: str) -> str:
        """Whose the tool is and its name, such as `weather › forecast`; empty for one of the app itself."""
        ...

    def release(self) -> None:
        """Called once, when the run has ended."""
        ...


class Toolbox(Protocol):
    def specs(self, names: tuple[str, ...]) -> tuple[ToolSpec, ...]:
        """The tools behind names of tools and kits, in that order; unknown and disabled ones are left out."""
        ...

    def missing(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names among these behind which there is no tool."""
        ...

    def lease(self) -> Toolset:
        """The tools as of now, kept callable until released."""
        ...


class ViewServer(Protocol):
    """The server of a view, as the calls of the view reach it."""

    def for_apps(self, own_name: str) -> ToolSpec | None:
        """The tool that its views know under that name, if they may call it."""
        ...

    def label_of(self, name: str) -> str:
        """Whose the tool is and its name, such as `weather › forecast`."""
        ...

    async def returned(
        self, name: str, arguments: Mapping[str, JsonValue], context: CallContext
    ) -> tuple[dict[str, JsonValue], ToolOutput]:
        """All that the call returned, and what of that is the tool's output. Raises `ToolError`."""
        ...

    async def asked(self, method: str, params: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """What it answers to anything else. Raises `ToolError`."""
        ...


class Spawner(Protocol):
    """Starts runs for agents that hand over a part of their work."""

    async def spawn(self, run_id: str, call_id: str, task: Task) -> str:
        """The id of the run that this call of that run starts, or has started. Raises `ToolError`."""
        ...

    async def join(self, run_id: str, call_id: str, task_id: str, progressed: Callable[[Progress], None]) -> TaskEnd:
        """What came of the task, once it has ended; its files are those of the run that asks. Raises `ToolError`."""
        ...

    def stop(self, run_id: str, call_id: str) -> None:
        """End the runs that this call of that run has started and that go on; returns at once."""
        ...

    def draft(self, task_id: str) -> Draft | None:
        """What the run of the task is just saying in plain words; `None` where it does not go on."""
        ...


class Computing(Expressions, Protocol):
    """What nodes of workflows calculate with."""

    async def python(self, code: str, inputs: Mapping[str, JsonValue]) -> JsonValue:
        """The value of the program's last expression, which reads `inputs`. Raises `ToolError`."""
        ...


class TraceWriter(Protocol):
    """The stored end of one run's trace."""

    async def prepare(self, started: RunStarted) -> None:
        """Called before the first entry is taken: what it knows may be much."""
        ...

    def append(self, entry: Entry) -> None:
        """Take the entry to be written; returns at once."""
        ...

    def checkpoint(self, draft: Draft) -> None:
        """Take what is new of the live text to be written, or forget all of it when the draft is empty."""
        ...

    async def flush(self) -> None:
        """Return when all that was taken is on disk; raises `StorageError`, and a later flush tries it again."""
        ...

    def flushing(self) -> Awaitable[None]:
        """Have it written now; to be awaited, or not, like `flush`: whatever is taken from here on is not meant."""
        ...

    async def close(self) -> None: ...

    def let_go(self) -> None:
        """Close it without waiting for what is not on disk yet; that is written nevertheless where it can be."""
        ...

    async def abandon(self) -> None:
        """Close it, and forget what the disk does not take; a new trace is removed."""
        ...


Opening = Callable[[list[Entry]], None]
"""Takes the first entries of a trace while the others are still read; called on the event loop."""


class Traces(Protocol):
    async def create(self, run_id: str, session_id: str) -> TraceWriter: ...

    async def reopen(self, run_id: str) -> TraceWriter:
        """Go on behind the last entry of a stored run."""
        ...

    async def read(self, run_id: str, *, opening: Opening | None = None) -> StoredTrace:
        """Raises `NotFound`. `opening` is called before, with the first entries of a long trace."""
        ...


class RunRows(Protocol):
    """The kept rows of all runs."""

    def get(self, run_id: str) -> RunRow | None: ...

    def find(
        self,
        filter: RunFilter,
        *,
        sort: SortKey = "started_at",
        descending: bool = True,
        offset: int = 0,
        limit: int = 50,
        matching: Container[str] = (),
    ) -> RunPage:
        """`matching`: runs whose trace says the filter's text; of all others it is looked for in the row itself."""
        ...

    def cost_since(self, moment: datetime) -> float:
        """US dollars of the runs that started since then."""
        ...

    def cost_of_session(self, session_id: str) -> float:
        """US dollars of the session's runs."""
        ...

    def turns(self, session_id: str) -> Sequence[Turn]:
        """The runs that were ever started in the session, deleted ones included, in no order."""
        ...

    def below(self, run_id: str) -> Sequence[RunRow]:
        """The runs that it started, each followed by those that it started in turn."""
        ...

    async def save(self, row: RunRow) -> None:
        """Insert or replace."""
        ...


class RunSearch(Protocol):
    """Search through what was said and called in all runs."""

    async def matching(self, text: str) -> Container[str]:
        """The runs that say all of these words."""
        ...

    async def excerpts(self, run_ids: Sequence[str], text: str) -> Mapping[str, Excerpt]:
        """By run id: where these runs say some of the words."""
        ...


class AgentStore(Protocol):
    def get(self, agent_id: str) -> Agent:
        """Also a deleted one; raises `NotFound`."""
        ...

    def all(self) -> list[Agent]:
        """Those that are not deleted, by name."""
        ...


class Store(Protocol[V]):
    """Values by their ids."""

    async def create(self, value: V) -> V: ...

    def get(self, key: str) -> V:
        """Raises `NotFound`."""
        ...

    async def change(self, key: str, change: Callable[[V], V]) -> V:
        """Apply `change` to the newest state and store it; returns what was stored."""
        ...


class ScoreStore(Protocol):
    """What was said of runs."""

    def of(self, run_id: str) -> Sequence[Score]:
        """The run's scores, the oldest first."""
        ...

    async def give(self, score: Score) -> Score:
        """Store it in place of what it replaces."""
        ...

    async def delete(self, key: str) -> None: ...


class SessionStore(Store[Session], Protocol):
    async def remove(self, key: str) -> None:
        """Forget it for good; nothing happens where there is none."""
        ...


ComparisonStore = Store[Comparison]


Clean = Callable[[bytes], bytes]
"""Gives back a content without secrets."""


class Artifacts(Protocol):
    """Contents by their sha256."""

    async def put(self, content: bytes, *, clean: Clean | None = None) -> str:
        """The content's sha256; `clean` takes secrets out of it, in place of what does so by default."""
        ...

    async def get(self, digest: str) -> bytes:
        """Raises `NotFound`."""
        ...


class ScorerFiles(Protocol):
    """Python files that score."""

    async def judged(self, name: str, given: Mapping[str, JsonValue]) -> tuple[str, JsonValue]:
        """The file's text, and what its `score` returned. Raises `ToolError` where it may not run or did not end well,
        `ToolCrashed` with a traceback where it broke down."""
        ...


class Clock(Protocol):
    """Waiting, so that a test need not."""

    def now(self) -> datetime: ...

    async def sleep(self, seconds: float) -> None: ...
