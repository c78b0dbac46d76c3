"""How the nodes of workflows are told: a name and a picture for each kind, and how one stands in a run."""

from collections.abc import Mapping

from app.domain.trace import NodeRun
from app.domain.workflows.document import ERROR, NEXT, Kind
from app.domain.workflows.schedule import NodeState
from app.ui.elements.format import duration, head, plural
from app.ui.elements.visible import visible

KINDS: Mapping[Kind, tuple[str, str, str]] = {
    "input": ("Input", "input", "Where a run begins"),
    "output": ("Output", "output", "What the run answers"),
    "agent": ("Agent", "smart_toy", "Asks one of your agents, or another workflow"),
    "tool": ("Tool", "build", "Calls a tool"),
    "transform": ("Transform", "transform", "Makes a value of others: JMESPath, formula or Python"),
    "branch": ("Branch", "call_split", "Goes on one way or another"),
    "map": ("Map", "repeat", "Does its body for each item of a list"),
    "loop": ("Loop", "loop", "Does its body until a formula holds"),
    "approval": ("Approval", "how_to_reg", "Asks a person"),
    "join": ("Join", "call_merge", "Goes on once some or all of several ways are there"),
    "note": ("Note", "sticky_note_2", "Words on the canvas"),
}
"""By kind: title, icon and what it is for."""
STATES: Mapping[NodeState, str] = {
    "waiting": "Waiting",
    "ready": "Waiting",
    "running": "Running",
    "done": "Done",
    "failed": "Failed",
    "skipped": "Skipped",
    "cancelled": "Stopped",
}


_ORIGINS = {"": "", "recorded": "from the record", "anew": "anew"}


def kind_icon(run: NodeRun) -> str:
    return KINDS[run.kind][1] if run.kind else "schema"


def kind_words(run: NodeRun) -> str:
    """`Tool`, or `Node` where the run's workflow cannot be read."""
    return KINDS[run.kind][0] if run.kind else "Node"


def state_words(run: NodeRun, *, alive: bool = True) -> str:
    """`Done in 1.2 s`, with what is unusual about it; `alive`: the run goes on, so that it may still end."""
    took = (
        f" in {duration(run.ms)}"
        if run.ms is not None and run.origin != "recorded" and run.state in ("done", "failed")
        else ""
    )
    stands_in = run.state == "failed" and run.port not in (None, ERROR)
    told = [
        standing(run, alive=alive) + took,
        f"{run.done:,} of {plural(run.of, 'round')}" if run.of is not None else "",
        f"{run.attempt} tries" if run.attempt > 1 else "",
        "to be tried again" if run.retry_at else "",
        f"goes on at “{visible(head(run.port, 40))}”" if run.port and run.port != NEXT and not stands_in else "",
        "a value stands in for it" if stands_in else "",
        "pinned by you" if run.pinned else _ORIGINS[run.origin] if run.ended else "",
    ]
    return ", ".join(filter(None, told))


def standing(run: NodeRun, *, alive: bool) -> str:
    """The same in a word or two."""
    if not run.ended and run.pauses:
        return "Waits for a person"
    if not run.ended and run.started_at and not alive:
        return "Never finished"
    return STATES[run.state]
