"""One run with everything it works with."""

from dataclasses import dataclass, field

from app.domain.events import GrantedTool, LimitReached, RunStarted
from app.domain.messages import Message
from app.domain.streaming import ModelRequest
from app.domain.trace import conversation
from app.engine.control import Control
from app.engine.limits import Budget
from app.engine.ports import Artifacts, Clock, Models, Toolset
from app.engine.recorder import Recorder
from app.engine.stopwatch import Stopwatch


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

    @property
    def ending(self) -> bool:
        """True when a cancellation ends the run itself: stopped by a person, or out of time."""
        return self.control.stopped or self.stopwatch.timer.expired()

    def granted(self, name: str) -> GrantedTool | None:
        """The tool as it was granted to this run, `None` where it was not."""
        return next((tool for tool in self.started.tools if tool.spec.name == name), None)

    def request(self) -> ModelRequest:
        """What the model is asked next."""
        return request_of(self.started, tuple(conversation(self.recorder.entries)))

    async def limit_reached(self) -> LimitReached | None:
        """The limit that forbids one more model call, if one does."""
        return await self.budget.forbids(self.recorder.entries, self.request)


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
