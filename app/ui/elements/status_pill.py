"""Where a run, a session, an experiment or an MCP server stands, as a small coloured word."""

from typing import TYPE_CHECKING

from app.domain.trace import RunStatus
from app.ui.elements.markup import Html, tag

if TYPE_CHECKING:
    from app.domain.evals.experiments import ExperimentStatus
    from app.tools.mcp.states import ServerState, ServerStatus

_RUN_WORDS: dict[RunStatus, tuple[str, str]] = {
    "running": ("Running", "running"),
    "paused": ("Paused", "paused"),
    "completed": ("Completed", "done"),
    "failed": ("Failed", "failed"),
    "cancelled": ("Stopped", "stopped"),
    "limited": ("Limit reached", "paused"),
    "interrupted": ("Interrupted", "paused"),
}
_EXPERIMENT_WORDS: dict["ExperimentStatus", tuple[str, str]] = {
    "planned": ("Planned", "stopped"),
    "running": ("Running", "running"),
    "paused": ("Paused", "paused"),
    "completed": ("Completed", "done"),
    "cancelled": ("Stopped", "stopped"),
    "interrupted": ("Interrupted", "paused"),
}

SERVER_WORDS: dict["ServerStatus", tuple[str, str]] = {
    "off": ("Switched off", ""),
    "consent": ("Waits for you to allow it", "is-warn"),
    "connecting": ("Connecting…", "is-busy"),
    "ready": ("Ready", "is-good"),
    "waiting": ("Connection lost, is tried again", "is-warn"),
    "failed": ("Cannot be connected", "is-bad"),
    "changed": ("Paused: its tools have changed", "is-warn"),
    "sign-in": ("Waits for you to sign in", "is-warn"),
}
"""By status: words and look."""


def status_words(status: RunStatus) -> str:
    """The status of a run in words."""
    return _RUN_WORDS[status][0]


def status_pill(status: RunStatus) -> Html:
    """The status of a run."""
    words, tone = _RUN_WORDS[status]
    return _pill(words, tone)


def session_pill(status: RunStatus | None) -> Html:
    """The status of a session by its last run: Ready, Running, Paused or Failed; `None` when it has none yet."""
    match status:
        case "running":
            return _pill("Running", "running")
        case "paused":
            return _pill("Paused", "paused")
        case "failed":
            return _pill("Failed", "failed")
        case _:
            return _pill("Ready", "done")


def experiment_pill(status: "ExperimentStatus") -> Html:
    """The status of an experiment."""
    words, tone = _EXPERIMENT_WORDS[status]
    return _pill(words, tone)


def server_chip(state: "ServerState") -> Html:
    """How an MCP server is doing."""
    words, look = SERVER_WORDS[state.status]
    dot = tag("span", cls="status-dot", aria_hidden="true")
    return tag(
        "span",
        dot,
        words,
        cls=f"chip {look}".strip(),
        data_status=state.status,
        data_testid="server-status",
    )


def _pill(words: str, tone: str) -> Html:
    return tag("span", tag("span", cls="pill-dot", aria_hidden="true"), words, cls=f"pill pill-{tone}")
