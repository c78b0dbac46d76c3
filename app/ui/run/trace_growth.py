"""What a page shows of one run, kept up with its trace entry by entry."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from app.domain.events import (
    ChildFinished,
    ChildStarted,
    Entry,
    Event,
    FinalStatus,
    Forked,
    LimitReached,
    MessageAdded,
    ModelCalled,
    ModelFailed,
    NodeEnded,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import Message, SentAttachment, SentKey, sent_key
from app.domain.tools import ToolSpec
from app.domain.trace import NONE_EDITED, Edited, Edits, RunRow, RunStatus, Step, error_of, took_ms
from app.domain.trace.attempts import FailedAttempt, follow_attempt
from app.domain.trace.clock import RunClock
from app.domain.trace.fork_points import call_of
from app.domain.trace.nodes import NodeRuns
from app.domain.trace.steps import StepsSoFar
from app.domain.trace.trajectory import begins_step
from app.domain.values import now
from app.ui.conversation.figures import Figures
from app.ui.conversation.trace_marks import TraceMark, mark_of

P = TypeVar("P")

THREAD_ENTRIES = 1000
"""Entries from which on a projection may take longer than the event loop should wait."""


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
        self.sent: dict[SentKey, SentAttachment] = {}
        """How files and pictures went along when they were first sent."""
        self.troubles: list[int] = []
        """The entries by which something failed, or ended too early."""
        self.children: dict[str, FinalStatus | None] = {}
        """The runs that it started itself, and how they ended."""
        self.edits: Edits = NONE_EDITED
        """What a person edited of it."""
        self.forked: Forked | None = None
        """Where its copied beginning comes from."""
        self.decisions: list[int] = []
        """The entries with an answer of the model or a node: each begins a step as the trajectory counts them."""
        self._forked_at: datetime | None = None
        self._clock = RunClock()
        self._so_far = StepsSoFar()
        self._begun: set[str] = set()
        self._owners: dict[int, int] = {}
        """By the entry of what a node did: where that node began."""

    def let_go(self) -> None:
        """Hold nothing of it any more."""
        vars(self).update(vars(RunSoFar(self.run_id)))

    @property
    def nodes(self) -> NodeRuns:
        """The nodes of a workflow, as far as they are known."""
        return self._so_far.nodes

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
            if not self.entries:
                self._clock.begin(entry)
            self.entries.append(entry)
            steps = list(self._so_far.take(entry))
            for call in (step.call for step in steps if step.call is not None):
                call.note_edits(self.edits)
            self.steps.extend(steps)
            self.figures.take(entry)
            follow_attempt(self.attempts, entry)
            self._count(entry)
            self._follow_others(entry)
            if begins_step(entry, self._begun):
                self.decisions.append(entry.seq)
            if (node := self.nodes.of(call_of(entry))) is not None:
                self._owners[entry.seq] = node.seq
            if is_trouble(entry.event):
                self.troubles.append(entry.seq)
            is_told = node is not None and isinstance(entry.event, ChildStarted)
            if (mark := mark_of(entry)) is not None and not is_told:
                self.marks.append(mark)

    def note_edits(self, edits: Edits) -> None:
        """Say what a person edited, also of what was taken already."""
        self.edits = edits
        for call in self._so_far.calls.values():
            call.note_edits(edits)
        if (prompt := edits.prompt()) is not None:
            self.marks.insert(0, TraceMark(0, "edit", prompt.words, "prompt edited by you", prompt))

    def edited(self, step: Step) -> Edited | None:
        """What a person edited of what the step says."""
        match step.type:
            case "tool-call":
                return step.call.edited_arguments if step.call else None
            case "tool-result":
                return step.call.edited_result if step.call else None
            case "agent-thought" if step.message is None or not step.message.tool_calls:
                return None  # the words are the answer, which is a step of its own
            case _:
                return self.edits.message(step.seq)

    def edited_in(self, message: Message) -> list[Edited]:
        """All that a person edited of a message that was sent: of its words, its calls, its results."""
        calls = (self.edits.arguments(call.call_id) for call in message.tool_calls)
        results = (self.edits.result(part.call_id) for part in message.parts if part.type == "tool_result")
        return [one for one in (self.edited_message(message), *calls, *results) if one is not None]

    def edited_message(self, message: Message) -> Edited | None:
        """What was edited of its words; there are few edits in a run."""
        found = ((one, self.entries[self.entry_place(one.seq)].event) for one in self.edits.all if self.entries)
        said = (one for one, event in found if isinstance(event, MessageAdded) and event.message == message)
        return next((one for one in said if one.what == "message"), None)

    def began_for(self, seq: int) -> datetime:
        """When the run began, as the time of that entry is counted: a fork goes on where its prefix ends."""
        return self._clock.began(seq) or now()

    def number(self, seq: int) -> int:
        """The step that the entry belongs to, as the trajectory counts them; 0 before the first."""
        return bisect_right(self.decisions, seq)

    def marks_before(self, index: int) -> list[TraceMark]:
        """The marks between the step with that index and the one before it; behind the last step all that follow."""
        start = self.steps[index - 1].seq if 0 < index <= len(self.steps) else -1
        end = self.steps[index].seq if index < len(self.steps) else len(self.entries)
        return [mark for mark in self.marks if start < mark.seq < end]

    def place(self, seq: int) -> int | None:
        """The index of the first step of that entry, or of the next one after it; `None` behind the last."""
        index = bisect_left(self.steps, self._owners.get(seq, seq), key=lambda step: step.seq)
        return index if index < len(self.steps) else None

    def nearest(self, seq: int) -> int | None:
        """The same; behind the last step that one. `None` for a run without steps."""
        place = self.place(seq)
        return place if place is not None or not self.steps else len(self.steps) - 1

    def entry_place(self, seq: int) -> int:
        """The index of that entry, or of the next one after it; damaged traces have gaps."""
        return min(bisect_left(self.entries, seq, key=lambda entry: entry.seq), max(0, len(self.entries) - 1))

    def row(self, status: RunStatus) -> RunRow | None:
        """The row of the run as of now, `None` where the first record is damaged."""
        if self.started is None:
            return None
        going_on = status in ("running", "paused")
        began, last = self._forked_at or self.entries[0].at, self.entries[-1]
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
            background=self.started.background,
            parent=self.started.parent,
            started_at=began,
            finished_at=None if going_on else last.at,
            duration_ms=None if going_on else took_ms(began, last.at),
            model_calls=self.model_calls,
            tool_calls=self.tool_calls,
            input_tokens=self.figures.input_tokens,
            output_tokens=self.figures.output_tokens,
            cost=self.figures.cost,
            unpriced=self.figures.unpriced,
            failure=error.failure if error else None,
        )

    def _follow_others(self, entry: Entry) -> None:
        """Keep which other runs belong to this one."""
        match entry.event:
            case ChildStarted(child_run_id=child, of_run=""):
                self.children[child] = None
            case ChildFinished(child_run_id=child, status=status) if child in self.children:
                self.children[child] = status
            case Forked() as forked:
                self.forked, self.children, self._forked_at = forked, {}, entry.at
                self._clock.fork(entry, self.entries[-2 if len(self.entries) > 1 else -1].at)
            case _:
                pass

    def _count(self, entry: Entry) -> None:
        match entry.event:
            case RunStarted() as started:
                self.started = started
                self.specs = {tool.spec.name: tool.spec for tool in started.tools}
            case Forked():
                self.model_calls = self.tool_calls = 0
            case ModelCalled(attachments=sent):
                self.model_calls += 1
                for fact in sent:
                    self.sent.setdefault(sent_key(fact), fact)
            case ToolCalled():
                self.tool_calls += 1
            case _:
                pass


async def projected(project: Callable[[Sequence[Entry]], P], entries: Sequence[Entry]) -> P:
    """What the projection makes of the entries, in a thread where they are so many that the event loop would wait."""
    return await asyncio.to_thread(project, entries) if len(entries) > THREAD_ENTRIES else project(entries)


def is_trouble(event: Event) -> bool:
    """Whether something failed by it, or ended too early."""
    match event:
        case ToolReturned(result=result):
            return result.failed
        case MessageAdded(message=message):
            return message.partial
        case NodeEnded(status=status):
            return status == "failed"
        case ModelFailed() | LimitReached():
            return True
        case _:
            return False
