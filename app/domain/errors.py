"""What can go wrong, by who is told.

* `WorkbenchError`: the user, who can do something about it; its message says what.
* `ToolError`: the model, which may try something else.
* `ModelFailure`: a model call that did not come to its end, in exactly one class.

Anything else is a bug: it fails the run and keeps its traceback.
"""

from collections.abc import Sequence
from typing import Literal

from app.domain.values import Text, Value

FailureClass = Literal[
    "rate_limit",
    "quota",
    "context_overflow",
    "invalid_key",
    "model_unavailable",
    "safety_filter",
    "timeout",
    "network",
    "provider_error",
    "bad_response",
    "bad_request",
    "cancelled",
    "limit",
    "node",
    "internal",
]


class ErrorInfo(Value):
    """An error as the trace keeps it."""

    failure: FailureClass
    text: Text
    """One or two sentences for a person."""
    traceback: Text = ""
    """Where it came from, for a developer who asks; empty when it is no bug."""


class NodeFailure(Exception):
    """A node of a workflow did not come to its end, for that reason."""

    def __init__(self, error: ErrorInfo) -> None:
        super().__init__(error.text)
        self.error = error


class WorkbenchError(Exception):
    """The user can do something about this; the message says what."""

    code = "invalid"
    """The API's word for it."""


class NotFound(WorkbenchError):
    code = "not_found"


class Conflict(WorkbenchError):
    code = "conflict"


class TooLarge(WorkbenchError):
    code = "too_large"


class FaultyWorkflow(WorkbenchError):
    """A workflow that cannot be saved; `faults` says why, each with its place."""

    def __init__(self, text: str, faults: Sequence[Value]) -> None:
        super().__init__(text)
        self.faults = faults


class StorageError(WorkbenchError):
    """Something could not be written or read; what was stored before is unharmed."""

    code = "storage"


class FolderInUse(StorageError):
    """Another process holds the data folder."""


class ToolError(Exception):
    """A tool could not do what it was asked; the model gets to see the message."""


class InvalidArguments(ToolError):
    """The arguments do not fit the tool's schema; the message names each one that does not."""


class ToolCrashed(ToolError):
    """A tool broke down in its own process; the model gets the message, the developer `traceback`."""

    def __init__(self, text: str, *, traceback: str = "") -> None:
        super().__init__(text)
        self.traceback = traceback


class Denied(ToolError):
    """A person did not allow what the tool needs, or did not do their part; the message says which."""


class ToolTimedOut(ToolError):
    """A tool used up all of its own time; the message says how much that is."""


class UnknownTool(ToolError):
    """There is no tool of that name; the message names those there are."""


class ModelFailure(Exception):
    """A model call that did not come to its end.

    `retry_after` is what the provider asked for, in seconds. `status` is the HTTP status where there was one.
    """

    def __init__(
        self, failure: FailureClass, text: str, *, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(text)
        self.failure: FailureClass = failure
        self.text = text
        self.retry_after = retry_after
        self.status = status
