"""What may be decided on a pause: on exactly what was asked, and nothing else."""

from collections.abc import Sequence

from pydantic import JsonValue

from app.domain.errors import Conflict, NotFound, WorkbenchError
from app.domain.events import Decision, Entry, PauseRequested, PauseResolved
from app.domain.trace import open_pauses

DECIDED = "This question has been answered already, or its run has ended."
OTHER_ARGUMENTS = (
    "This approval is for other arguments than the call has. Decide on the call as it stands, or change its arguments "
    "with the decision 'edit'."
)
CHANGED = "What was asked has changed since it was shown. Look at it again before you decide."


def open_pause(entries: Sequence[Entry], asked: str) -> PauseRequested:
    """The pause of that id, or that of the call of that id. Raises `NotFound`, `Conflict` when it waits no more."""
    for pause in open_pauses(entries):
        if asked in (pause.pause_id, pause.call_id):
            return pause
    pauses = (entry.event for entry in entries if isinstance(entry.event, PauseRequested))
    if any(asked in (pause.pause_id, pause.call_id) for pause in pauses):
        raise Conflict(DECIDED)
    raise NotFound(f"Nothing named {asked!r} waits for a decision in this run.")


def decision_for(
    pause: PauseRequested,
    decision: Decision,
    *,
    arguments: dict[str, JsonValue] | None = None,
    note: str = "",
    by: str = "user",
    subject: str = "",
) -> PauseResolved:
    """The decision as it goes into the trace. `subject` is that of the pause as the person saw it.

    Raises `Conflict` for a decision on something else than was asked, `WorkbenchError` for one that is no answer to it.
    """
    if subject and subject != pause.subject:
        raise Conflict(CHANGED)
    if pause.reason == "approval":
        _check_approval(pause, decision, arguments)
    elif pause.reason == "oauth" and by != "app" and decision != "deny":
        raise WorkbenchError("Only a sign-in lets this call go on. Sign in by the link on its card, or decide 'deny'.")
    elif decision in ("always", "edit"):
        raise WorkbenchError(f"{decision!r} is no answer to a question. Decide 'answer' or 'deny'.")
    kept = arguments if pause.reason != "approval" or decision == "edit" else None
    return PauseResolved(
        pause_id=pause.pause_id, decision=decision, arguments=kept, note=note.strip(), by=by, subject=pause.subject
    )


def _check_approval(pause: PauseRequested, decision: Decision, arguments: dict[str, JsonValue] | None) -> None:
    if decision == "answer":
        raise WorkbenchError("A tool's call is approved or denied, not answered. Decide 'approve', 'edit' or 'deny'.")
    if decision == "edit" and arguments is None:
        raise WorkbenchError("The decision 'edit' needs the arguments to call the tool with.")
    if decision == "always" and pause.begun:
        raise WorkbenchError(
            "Whether a call runs once more is decided for that call alone. Decide 'approve' or 'deny'."
        )
    if decision in ("approve", "always") and arguments is not None and arguments != pause.arguments:
        raise Conflict(OTHER_ARGUMENTS)
