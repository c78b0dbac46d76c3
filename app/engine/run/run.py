"""One run with everything it works with."""

from collections.abc import Callable
from dataclasses import dataclass, field

from app.domain.events import LimitReached, RunStarted
from app.domain.messages import Message, ToolCall
from app.domain.streaming import ModelRequest
from app.domain.tools import GrantedTool
from app.domain.trace import sent_conversation
from app.engine.ports import Artifacts, Clock, Models, Spawner, Toolset
from app.engine.run.control import Control
from app.engine.run.limits import Budget, Prompt
from app.engine.run.recorder import Recorder
from app.engine.run.stopwatch import Stopwatch
from app.engine.run.tools_since import ToolsSince


def nothing_recorded(_call: ToolCall) -> bool:
    """Each call is made."""
    return False


@dataclass
class Run:
    started: RunStarted
    recorder: Recorder
    models: Models
    toolset: Toolset
    artifacts: Artifacts
    budget: Budget
    clock: Clock
    stopwatch: Stopwatch
    files: dict[str, str]
    """Path to sha256 of the session's files, as they are now."""
    control: Control = field(default_factory=Control)
    allowed: set[str] = field(default_factory=set)
    """Tools that a person let be called without being asked again, in the course of the run."""
    since: ToolsSince = field(default_factory=ToolsSince)
    """How the tools differ from those the run began with, where it was resumed."""
    only_recorded: Callable[[ToolCall], bool] = nothing_recorded
    """Whether the call is answered out of a record: nobody is asked for leave to read that."""
    spawner: Spawner | None = None
    """Starts the runs that it hands tasks to."""
    over: LimitReached | None = None
    """The limit that one of its calls went over."""
    prompt: Prompt | None = None
    """What the model is asked next, as it was last counted."""

    @property
    def cut_short(self) -> bool:
        """True when a cancellation is the run's own: stopped or steered by a person, or out of time.

        What was left unfinished is then recorded; a process that ends records nothing.
        """
        return self.control.stopped or self.control.steered or self.stopwatch.timer.expired()

    def granted(self, name: str) -> GrantedTool | None:
        """The tool as it was granted to this run, `None` where it was not."""
        return next((tool for tool in self.started.tools if tool.spec.name == name), None)

    def digest_now(self, tool: GrantedTool) -> str:
        """The digest of the tool's spec as it is called now."""
        return self.since.changed.get(tool.spec.name, tool.spec.digest)

    def request(self) -> ModelRequest:
        """What the model is asked next, without what was left out of the conversation."""
        return request_of(self.started, tuple(sent_conversation(self.recorder.entries)))


def request_of(started: RunStarted, messages: tuple[Message, ...]) -> ModelRequest:
    """What a run that began like this asks when the conversation stands so."""
    return ModelRequest(
        model=started.model,
        messages=messages,
        system=started.system,
        tools=tuple(tool.spec for tool in started.tools),
        parameters=started.parameters,
        output_schema=started.output_schema,
        idle_timeout=started.limits.idle_timeout,
    )
