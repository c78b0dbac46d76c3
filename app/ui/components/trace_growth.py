"""What a page shows of one run, kept up with its trace entry by entry."""

from collections.abc import Sequence
from datetime import datetime

from app.domain.events import Entry, Forked, ModelCalled, RunStarted, ToolCalled
from app.domain.tools import ToolSpec
from app.domain.trace import CallView, RunRow, RunStatus, Step, error_of
from app.domain.trace.attempts import FailedAttempt, follow_attempt
from app.domain.trace.steps import steps_of
from app.ui.components.figures import Figures
from app.ui.components.trace_marks import TraceMark, mark_of


class RunSoFar:
    """Never looks at an entry twice, so that a page can follow a run of any length."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.entries: list[Entry] = []
        self.steps: list[Step] = []
        self.figures = Figures()
        self.model_calls = 0
        self.tool_calls = 0
        self.started: RunStarted | None = None
        """`None` where the first record of the trace is damaged."""
        self.specs: dict[str, ToolSpec] = {}
        """The tools as the run was granted them, by name."""
        self.attempts: list[FailedAttempt] = []
        """The model calls that failed."""
        self.marks: list[TraceMark] = []
        """What happened between the steps."""
        self._calls: dict[str, CallView] = {}

    @property
    def began(self) -> datetime | None:
        return self.entries[0].at if self.entries else None

    @property
    def request(self) -> str:
        """What the user asked first."""
        return next((step.text for step in self.steps[:20] if step.type == "user-request"), "")

    def take(self, entries: Sequence[Entry]) -> None:
        """Add the entries that came next."""
        for entry in entries:
            self.entries.append(entry)
            self.steps.extend(steps_of(entry, self._calls))
            self.figures.take(entry)
            follow_attempt(self.attempts, entry)
            self._count(entry)
            if (mark := mark_of(entry)) is not None:
                self.marks.append(mark)

    def marks_before(self, index: int) -> list[TraceMark]:
        """The marks between the step with that index and the one before it; behind the last step all that follow."""
        start = self.steps[index - 1].seq if 0 < index <= len(self.steps) else -1
        end = self.steps[index].seq if index < len(self.steps) else len(self.entries)
        return [mark for mark in self.marks if start < mark.seq < end]

    def place(self, seq: int) -> int | None:
        """The index of the first step of that entry, or of the next one after it; `None` behind the last."""
        return next((index for index, step in enumerate(self.steps) if step.seq >= seq), None)

    def row(self, status: RunStatus) -> RunRow | None:
        """The row of the run as of now, `None` where the first record is damaged."""
        if self.started is None:
            return None
        going_on = status in ("running", "paused")
        first, last = self.entries[0], self.entries[-1]
        error = error_of(self.entries)
        return RunRow(
            run_id=self.run_id,
            session_id=self.started.session_id,
            agent=self.started.agent,
            model=self.started.model,
            status=status,
            request=self.request[:200],
            purpose=self.started.purpose,
            trigger=self.started.trigger,
            started_at=first.at,
            finished_at=None if going_on else last.at,
            duration_ms=None if going_on else (last.at - first.at).total_seconds() * 1000,
            model_calls=self.model_calls,
            tool_calls=self.tool_calls,
            input_tokens=self.figures.input_tokens,
            output_tokens=self.figures.output_tokens,
            cost=self.figures.cost,
            unpriced=self.figures.unpriced,
            failure=error.failure if error else None,
        )

    def _count(self, entry: Entry) -> None:
        match entry.event:
            case RunStarted() as started:
                self.started = started
                self.specs = {tool.spec.name: tool.spec for tool in started.tools}
            case Forked():
                self.model_calls = self.tool_calls = 0
            case ModelCalled():
                self.model_calls += 1
            case ToolCalled():
                self.tool_calls += 1
            case _:
                pass
