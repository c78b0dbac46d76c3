"""What a fork keeps of a workflow's run: nodes that stand as they are recorded, whatever their places in the trace."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from sys import maxsize

from pydantic import JsonValue

from app.domain.errors import WorkbenchError
from app.domain.events import Entry, MessageAdded, NodeEnded, NodeStarted, PauseRequested, PauseResolved, RunStarted
from app.domain.forks.node_files import check_files
from app.domain.trace.fork_points import call_of
from app.domain.trace.nodes import NodeRun, nodes
from app.domain.values import Strict
from app.domain.workflows.document import (
    Edge,
    FoundValue,
    JoinNode,
    Node,
    NodeId,
    NoteNode,
    OutputNode,
    Workflow,
    port_for,
    ports,
    titled,
)
from app.domain.workflows.graph import Graph

_FIRST = re.compile(r"[a-z][a-z0-9_]*")
_ASIDE = {"title", "note", "x", "y", "policy"}
_TRIES = {"timeout", "retries"}
"""They decide nothing of what a node gave that did not fail."""
_ANSWER = "value_of_{}"


class NodePlan(Strict):
    """What of a workflow's run is run anew."""

    again: tuple[NodeId, ...] = ()
    """These nodes, and all that comes after them; without any what had not ended."""
    to: NodeId | None = None
    """The last node: what it does not need is left out, and its value is the answer."""
    pins: dict[NodeId, JsonValue] = {}
    """By node: the value that stands for what it gives. It does not run; what comes after it runs anew."""
    variant: int | None = None
    """Another variant of the workflow: what differs there runs anew."""


@dataclass(frozen=True, slots=True)
class KeptNodes:
    workflow: Workflow
    """What the fork runs."""
    entries: tuple[Entry, ...]
    """What is copied, counted from 0: how the run began, its message, and all of the nodes that are kept."""
    edited: tuple[int, ...]
    """The places of what a person wrote."""
    last: Entry
    """The last entry that was copied, as it is in the run."""
    kept: tuple[str, ...]
    anew: tuple[str, ...]


def kept_nodes(
    entries: Sequence[Entry], after: Workflow, plan: NodePlan, below: Mapping[str, Sequence[Entry]] | None = None
) -> KeptNodes:
    """What a fork with that document keeps; `below` are the entries of runs that nodes have started.

    Raises `WorkbenchError` for a node there is not, or in a body, and for a kept one that used a file of one that is
    not.
    """
    began = entries[0].event
    before = began.workflow if isinstance(began, RunStarted) and began.workflow else Workflow()
    for id_ in (*plan.again, *plan.pins, *([plan.to] if plan.to else ())):
        _check(after, id_)
    after = after if plan.to is None else _up_to(after, plan.to)
    graph = Graph(after)
    known = nodes(entries).by_call
    failed = {found[0] for run in known.values() if run.state == "failed" and (found := _FIRST.match(run.call_id))}
    differs = _changed(before, after, _ASIDE | _TRIES) | (_changed(before, after, _ASIDE) & failed)
    anew = graph.reached([*(set(plan.again) | differs) & graph.nodes.keys()])
    same = {id_ for id_, value in plan.pins.items() if id_ in graph.nodes and _is_pinned(known.get(id_), value)}
    pins = {id_: value for id_, value in plan.pins.items() if id_ not in same}
    anew |= graph.reached([edge.target for id_ in pins if id_ in graph.nodes for edge in graph.after[id_]])
    kept = (_ended(known.values()) & {*graph.bodies.get("", ())} - anew - pins.keys()) | same
    kept |= {*_given_up(graph, kept, known)} - anew - pins.keys()
    placed = [*_by_node(entries)]
    check_files(placed, kept, before, below or {})
    copied = [entry for entry, node in placed if node is None or node in kept]
    pinned = [copied[-1].model_copy(update={"event": event}) for event in _pinned(after, pins)]
    taken = tuple(one.model_copy(update={"seq": seq}) for seq, one in enumerate((*copied, *pinned)))
    edited = tuple(range(len(copied), len(taken)))
    stands = kept | pins.keys()
    runs = (one.id for one in after.body("") if not isinstance(one, NoteNode) and one.id not in stands)
    return KeptNodes(after, taken, edited, copied[-1], tuple(sorted(kept)), tuple(runs))


def _ended(known: Iterable[NodeRun]) -> set[str]:
    """The nodes in no body that stand as they ended; not what was skipped since one failed and led nowhere."""
    top = [run for run in known if not run.rounds]
    lost = min((run.end_seq or 0 for run in top if run.state == "failed" and run.port is None), default=maxsize)
    skipped = {run.node for run in top if run.state == "skipped" and (run.end_seq or 0) < lost}
    gone_on = {run.node for run in top if run.state == "failed" and run.port is not None}
    return {run.node for run in top if run.state == "done"} | skipped | gone_on


def _given_up(graph: Graph, kept: set[str], known: Mapping[str, NodeRun]) -> Iterator[str]:
    """What a join cancelled that is kept: nothing would wait for it."""
    for id_ in kept:
        if isinstance(node := graph.nodes[id_], JoinNode) and node.cancel_rest:
            yield from (one for one in graph.only_before(id_) if one in known and known[one].state == "cancelled")


def _is_pinned(run: NodeRun | None, value: JsonValue) -> bool:
    """Whether it gave that value already, because somebody wrote it."""
    return run is not None and run.pinned and run.value == value


def _check(workflow: Workflow, id_: str) -> None:
    node = workflow.by_id().get(id_)
    if node is None or isinstance(node, NoteNode):
        raise WorkbenchError(f"This workflow has no node {id_!r} that runs. Choose one of its nodes.")
    if node.scope:
        raise WorkbenchError(f"{titled(node)} runs in each round of “{node.scope}”. Choose that one.")


def _up_to(workflow: Workflow, last: str) -> Workflow:
    """The node and what it needs, with an output that gives its value where it is none."""
    graph = Graph(workflow)
    needed = graph.reached([last], backwards=True)
    inside = [node for node in workflow.nodes if {node.id, *graph.chain(node.scope)} & needed]
    names = {node.id for node in inside}
    edges = [edge for edge in workflow.edges if {edge.source, edge.target} <= names]
    node = graph.nodes[last]
    if isinstance(node, OutputNode):
        return Workflow(nodes=tuple(inside), edges=tuple(edges))
    answer = OutputNode(id=_ANSWER.format(last)[:60], value=FoundValue(path=f"{last} ?? null"))
    edges += [Edge(source=last, port=port, target=answer.id) for port in ports(node)]
    return Workflow(nodes=(*inside, answer), edges=tuple(edges))


def _changed(before: Workflow, after: Workflow, aside: set[str]) -> set[str]:
    """The nodes in no body that are not as they were: their settings, what leads to them, or their body."""
    old, new = _told(before, aside), _told(after, aside)
    return {id_ for id_, told in new.items() if old.get(id_) != told}


def _told(workflow: Workflow, aside: set[str]) -> dict[str, object]:
    """By node in no body: all that decides what it gives from what it reads."""
    graph = Graph(workflow)
    bodies: dict[str, list[Node]] = {}
    for node in workflow.nodes:
        for scope in graph.chain(node.scope):
            bodies.setdefault(scope, []).append(node)
    return {
        node.id: [_settings(one, graph, aside) for one in (node, *bodies.get(node.id, ()))]
        for node in workflow.body("")
    }


def _settings(node: Node, graph: Graph, aside: set[str]) -> object:
    return node.model_dump(exclude=aside), sorted((edge.source, edge.port) for edge in graph.before[node.id])


def _by_node(entries: Iterable[Entry]) -> Iterator[tuple[Entry, str | None]]:
    """How the run began and what it was told, and each entry of a node with that; of a body that of its map or loop."""
    asked: dict[str, str] = {}
    for entry in entries:
        match entry.event:
            case RunStarted():
                yield entry, None
            case MessageAdded(origin=origin) if origin != "model":
                yield entry, None
            case PauseResolved(pause_id=pause_id):
                if pause_id in asked:
                    yield entry, asked[pause_id]
            case event:
                call_id = event.call_id if isinstance(event, NodeStarted) else call_of(entry)
                if not (found := _FIRST.match(call_id)):
                    continue
                if isinstance(event, PauseRequested):
                    asked[event.pause_id] = found[0]
                yield entry, found[0]


def _pinned(workflow: Workflow, pins: Mapping[str, JsonValue]) -> Iterator[NodeEnded]:
    for id_, value in pins.items():
        if (node := workflow.by_id().get(id_)) is not None:
            port = port_for(node, value)
            yield NodeEnded(call_id=id_, node=id_, status="done", port=port, output=value, pinned=True)
