"""Gives a run all that it works with, whether it begins or goes on."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.events import Entry, RunStarted
from app.domain.trace import active_seconds, files_after
from app.engine.ports import Artifacts, Clock, Models, Spawner, Toolbox
from app.engine.run.ledger import Ledger
from app.engine.run.limits import Budget
from app.engine.run.recorder import Recorder
from app.engine.run.run import Run
from app.engine.run.stopwatch import Stopwatch
from app.engine.run.tools_since import ToolsSince
from app.engine.runs.resuming import allowed_before


@dataclass(frozen=True)
class Past:
    """What a run that goes on has to know of how far it came."""

    active_seconds: float
    files: dict[str, str]
    allowed: set[str]


def past_of(entries: Sequence[Entry]) -> Past:
    """Looks at each entry: of a long run in a thread."""
    return Past(active_seconds(entries), files_after(entries), allowed_before(entries))


@dataclass
class RunFactory:
    """What all runs share."""

    models: Models
    toolbox: Toolbox
    artifacts: Artifacts
    clock: Clock
    ledger: Ledger
    spawner: Spawner | None = None
    """Starts the runs that agents hand tasks to; without it they may not."""

    def run(self, started: RunStarted, recorder: Recorder, past: Past | None = None) -> Run:
        """The run, which may have come some way already: what it used up then counts."""
        past = past or past_of(recorder.entries)
        return Run(
            started=started,
            recorder=recorder,
            models=self.models,
            toolset=self.toolbox.lease(),
            artifacts=self.artifacts,
            budget=Budget(started.limits, self.ledger.open(recorder.run_id, started), self.ledger),
            clock=self.clock,
            stopwatch=Stopwatch(started.limits.total_time, used=past.active_seconds),
            files=past.files if recorder.entries else dict(started.files),
            allowed=past.allowed,
            since=ToolsSince.of(started, self.toolbox) if recorder.entries else ToolsSince(),
            spawner=self.spawner,
        )
