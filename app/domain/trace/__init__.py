"""What a trace means: pure functions from entries to a view of them, one view a file."""

from app.domain.trace.alignment import AlignedStep, Verdict, align
from app.domain.trace.calls import CallView, call_views, leave
from app.domain.trace.children import Child, children
from app.domain.trace.conversation import conversation
from app.domain.trace.edited import NONE_EDITED, Edited, Edits, edits_of, origins_of, said_anew, without_secrets
from app.domain.trace.files import files_after
from app.domain.trace.left import LeftCall, active_seconds, last_words, left_calls, unanswered_request
from app.domain.trace.loaded import sent_tools, unsent_tools
from app.domain.trace.model_tallies import ModelTally, model_tallies
from app.domain.trace.nodes import NodeRun, NodeRuns, inner_call, nodes, scope_call, text_of, value_of
from app.domain.trace.progress import JobProgress, job_progress
from app.domain.trace.row import (
    FORM,
    Excerpt,
    KeyRuns,
    RunFilter,
    RunKind,
    RunPage,
    RunRow,
    SortKey,
    Week,
    answer_head,
    began_at,
    run_row,
    took_ms,
)
from app.domain.trace.said import Passage, said
from app.domain.trace.sent import left_out_of, sent_conversation, stub
from app.domain.trace.status import (
    UNFINISHED,
    PausesSoFar,
    RunStatus,
    error_of,
    finished,
    limit_of,
    open_pauses,
    status,
)
from app.domain.trace.steps import Step, StepType, steps
from app.domain.trace.stored import StoredTrace
from app.domain.trace.tallies import ToolStats, ToolTally, tallies
from app.domain.trace.trajectory import Decision, TrajectoryStep, trajectory
from app.domain.trace.usage import Totals, totals

__all__ = [
    "FORM",
    "NONE_EDITED",
    "UNFINISHED",
    "AlignedStep",
    "CallView",
    "Child",
    "Decision",
    "Edited",
    "Edits",
    "Excerpt",
    "JobProgress",
    "KeyRuns",
    "LeftCall",
    "ModelTally",
    "NodeRun",
    "NodeRuns",
    "Passage",
    "PausesSoFar",
    "RunFilter",
    "RunKind",
    "RunPage",
    "RunRow",
    "RunStatus",
    "SortKey",
    "Step",
    "StepType",
    "StoredTrace",
    "ToolStats",
    "ToolTally",
    "Totals",
    "TrajectoryStep",
    "Verdict",
    "Week",
    "active_seconds",
    "align",
    "answer_head",
    "began_at",
    "call_views",
    "children",
    "conversation",
    "edits_of",
    "error_of",
    "files_after",
    "finished",
    "inner_call",
    "job_progress",
    "last_words",
    "leave",
    "left_calls",
    "left_out_of",
    "limit_of",
    "model_tallies",
    "nodes",
    "open_pauses",
    "origins_of",
    "run_row",
    "said",
    "said_anew",
    "scope_call",
    "sent_conversation",
    "sent_tools",
    "status",
    "steps",
    "stub",
    "tallies",
    "text_of",
    "took_ms",
    "totals",
    "trajectory",
    "unanswered_request",
    "unsent_tools",
    "value_of",
    "without_secrets",
]
