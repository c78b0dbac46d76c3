"""What of a workflow runs when a part of it is tried from one of its nodes, and why it cannot be where it cannot."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from app.domain.forks.node_forks import KeptNodes, NodePlan
from app.domain.workflows.document import Node, NoteNode, Workflow
from app.ui.elements.format import plural
from app.ui.elements.visible import visible
from app.ui.graph.words import title_of

Way = Literal["run-to", "run-from", "run-only", "pin"]
WAYS: Mapping[Way, tuple[str, str, str]] = {
    "run-to": ("Run to here", "keyboard_tab", "What this node needs runs, and this node; what comes after it does not"),
    "run-from": ("Run from here", "fork_right", "This node runs, and all that comes after it"),
    "run-only": ("Run this node", "play_arrow", "This node runs alone, with what is recorded of the others"),
    "pin": ("Pin", "push_pin", "Write a value that stands for what this node gives"),
}
"""By way: its words, icon and meaning."""
AGAIN: tuple[Way, ...] = ("run-to", "run-from", "run-only")


def pins_in(workflow: Workflow, pins: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Those of nodes that are there, in no map or loop: a node that was removed may come back by an undo."""
    nodes = {node.id for node in workflow.body("") if not isinstance(node, NoteNode)}
    return {id_: value for id_, value in pins.items() if id_ in nodes}


def plan_of(way: Way, node: str, pins: Mapping[str, JsonValue]) -> NodePlan:
    again = (node,) if way in ("run-from", "run-only") else ()
    return NodePlan(again=again, to=node if way in ("run-to", "run-only") else None, pins=dict(pins))


def why_not(way: Way, node: Node, workflow: Workflow, *, run_id: str, going_on: bool, pinned: bool) -> str:
    """Why that cannot be done from the node, and what to do instead; empty where it can."""
    if node.scope:
        scope = workflow.by_id().get(node.scope)
        return f"It runs in each round of “{visible(title_of(scope)) if scope else node.scope}”. Choose that one."
    if way == "pin":
        return ""
    if not run_id:
        return "Run the workflow once first: what a part of it is given comes from a run."
    if going_on:
        return "A run goes on. Wait until it has ended, or stop it."
    if pinned and way != "run-from":
        return "A pinned value stands for this node. Take the pin off to run it."
    return ""


def begun_words(kept: KeptNodes) -> str:
    """What runs, and what stands as it is recorded."""
    pinned = f", {len(kept.edited)} pinned" if kept.edited else ""
    return f"{plural(len(kept.anew), 'node')} to run, {len(kept.kept)} from the record{pinned}."
