"""Each tool call of a run with all that is known of it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from app.domain.events import ChildStarted, Entry, FileChanged, MessageAdded, ToolCalled, ToolReturned
from app.domain.messages import ToolResult
from app.domain.trace.edited import Edited, Edits

_RUN_ID = re.compile(r"[\w-]{1,64}")
CallState = Literal["pending", "running", "left", "done", "failed"]


@dataclass(slots=True)
class CallView:
    call_id: str
    name: str
    arguments: dict[str, JsonValue]
    asked_seq: int
    """Where the model asked for it."""
    label: str = ""
    """Whose the tool was and its name; empty for one of the app itself, and before it is called."""
    malformed: str | None = None
    started_at: datetime | None = None
    result: ToolResult | None = None
    result_seq: int | None = None
    ms: float | None = None
    printed: str = ""
    traceback: str = ""
    attempts: int = 1
    times: int = 1
    """How many calls of an app it stands for, all the same."""
    changes: list[FileChanged] = field(default_factory=list)
    task_run: str = ""
    """The run that it began for a task, or waits for."""
    left: bool = False
    """Whether its run was left before it had a result, so that nobody works on it."""
    edited_arguments: Edited | None = None
    edited_result: Edited | None = None
    """What it gave is what a person wrote."""

    def note_edits(self, edits: Edits) -> None:
        """Say of it what was edited, so that all who show it know."""
        self.edited_arguments = edits.arguments(self.call_id)
        self.edited_result = edits.result(self.call_id)

    @property
    def state(self) -> CallState:
        if self.result is not None:
            return "failed" if self.result.failed else "done"
        if self.left:
            return "left"
        return "pending" if self.started_at is None else "running"


def call_views(entries: Iterable[Entry]) -> dict[str, CallView]:
    """By call id, in the order the model asked."""
    views: dict[str, CallView] = {}
    for entry in entries:
        follow_call(views, entry)
    return views


def follow_call(views: dict[str, CallView], entry: Entry) -> CallView | None:
    """Take one more entry into `views`; the view it changed last, if any. For pages that follow a live run."""
    match entry.event:
        case MessageAdded(message=message):
            changed = None
            for call in message.tool_calls:
                changed = views[call.call_id] = CallView(
                    call.call_id, call.name, call.arguments, asked_seq=entry.seq, malformed=call.malformed
                )
            return changed
        case ToolCalled(call_id=call_id, name=name, arguments=arguments, label=label):
            view = views.setdefault(call_id, CallView(call_id, name, arguments, asked_seq=entry.seq))
            view.arguments, view.started_at, view.label = arguments, entry.at, label
            view.task_run = view.task_run or _joined(name, arguments)
            return view
        case ChildStarted(call_id=call_id, child_run_id=run_id) if call_id in views:
            views[call_id].task_run = run_id
            return views[call_id]
        case FileChanged(call_id=call_id) as change:
            writer = views.get(call_id)
            if writer is not None:
                writer.changes.append(change)
            return writer
        case ToolReturned(call_id=call_id, result=result) as returned:
            view = views.setdefault(call_id, CallView(call_id, result.name, {}, asked_seq=entry.seq))
            view.result, view.result_seq = result, entry.seq
            view.ms, view.printed, view.traceback = returned.ms, returned.printed, returned.traceback
            view.attempts, view.times = returned.attempts, returned.times
            return view
        case _:
            return None


def leave(calls: Iterable[CallView], *, alive: bool) -> None:
    """Say of those without a result whether their run was left; `alive` where it goes on."""
    for call in calls:
        call.left = not alive


def _joined(name: str, arguments: dict[str, JsonValue]) -> str:
    """The run that the call waits for, by the id that the model was given."""
    task = arguments.get("task_id") if name == "join_task" else None
    return task.strip() if isinstance(task, str) and _RUN_ID.fullmatch(task.strip()) else ""
