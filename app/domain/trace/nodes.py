"""The nodes of a workflow's run: how each of them stands, in each round of the maps and loops around it.

`NodeRuns` takes one entry after another, in time that does not grow with the run: pages follow a live one with it, and
a slider through a past one folds the entries up to a place anew.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias, assert_never

from pydantic import JsonValue

from app.domain.errors import ErrorInfo
from app.domain.events import (
    ChildStarted,
    Entry,
    FileChanged,
    Forked,
    NodeEnded,
    NodeStarted,
    PauseRequested,
    PauseResolved,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import FilePart, ToolResult
from app.domain.trace.calls import CallView, follow_call
from app.domain.values import json_in
from app.domain.workflows.document import Edge, Kind, LoopNode, Node, NoteNode, Workflow
from app.domain.workflows.schedule import NodeState

_Inner: TypeAlias = ToolCalled | ToolReturned | FileChanged | ChildStarted | PauseRequested
_ROUND = re.compile(r"(.*)\[(\d{1,9})\]", re.DOTALL)


@dataclass(slots=True)
class NodeRun:
    """A node in one round of the maps and loops that it stands in, as far as it is known."""

    call_id: str
    node: str
    rounds: tuple[int, ...] = ()
    title: str = ""
    """What it is called where it is shown; its id where it has no title."""
    kind: Kind | None = None
    """`None` where the run's workflow is not there."""
    round_words: str = ""
    """`item 3` or `item 3, round 1`, counted from 1; empty for one that stands in no map or loop."""
    place: tuple[tuple[int, int], ...] = ()
    """By document order, and by rounds within a map or loop."""
    state: NodeState = "waiting"
    attempt: int = 0
    """The last try, counted from 1; 0 for what never began."""
    seq: int = 0
    """The entry of its first beginning; for what never began, of its end."""
    end_seq: int | None = None
    started_at: datetime | None = None
    """When its first try began."""
    ended_at: datetime | None = None
    inputs: dict[str, JsonValue] = field(default_factory=dict)
    inputs_digest: str = ""
    whole_inputs: FilePart | None = None
    """The file with all of its inputs, where they are too large."""
    output: JsonValue = None
    calls: dict[str, CallView] = field(default_factory=dict)
    """Of its tool, one for each try."""
    as_returned: bool = False
    whole_output: FilePart | None = None
    port: str | None = None
    error: ErrorInfo | None = None
    """Of its last try that failed."""
    retry_at: datetime | None = None
    pinned: bool = False
    origin: Literal["", "recorded", "anew"] = ""
    """In a fork: whether it stands as it is recorded in the run before, or ran there anew."""
    children: list[str] = field(default_factory=list)
    """The runs that it has started, one for each try."""
    pauses: set[str] = field(default_factory=set)
    """Those that a person has not decided on."""
    done: int = 0
    """Of a map or loop: the rounds whose nodes have all ended."""
    of: int | None = None
    """Of a map the items, of a loop the rounds at most; `None` for any other node."""

    @property
    def label(self) -> str:
        """Its title, and of which round it is."""
        return f"{self.title}, {self.round_words}" if self.round_words else self.title

    @property
    def ended(self) -> bool:
        return self.state not in ("waiting", "ready", "running")

    @property
    def ms(self) -> float | None:
        """Milliseconds from its first beginning to its end; `None` while it goes on and for what never began."""
        if self.started_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.started_at).total_seconds() * 1000

    @property
    def value(self) -> JsonValue:
        """What it gave; `None` before it has ended."""
        last = next(reversed(self.calls.values()), None)
        return value_of(last.result) if self.as_returned and last and last.result else self.output

    def cost(self, costs: Mapping[str, float | None]) -> float | None:
        """US dollars of the runs that it has started, by those of each; `None` where one is not known."""
        known = [costs.get(run_id) for run_id in self.children]
        return None if None in known else sum(cost for cost in known if cost is not None)


class NodeRuns:
    """All that began or ended so far, by call id, in the order in which it was first heard of."""

    def __init__(self) -> None:
        self.workflow = Workflow()
        self.by_call: dict[str, NodeRun] = {}
        self.latest: dict[str, NodeRun] = {}
        """By node: its run that was last heard of."""
        self.counts: dict[str, Counter[NodeState]] = {}
        """By node: how many of its runs stand how."""
        self.ports: dict[str, set[str]] = {}
        """By node: where it went on, in whichever round."""
        self._edges: dict[str, list[Edge]] = {}
        self._nodes: Mapping[str, Node] = {}
        self._places: Mapping[str, int] = {}
        self._bodies: Counter[str] = Counter()
        """How many nodes end in each round of a map or loop."""
        self._ended: Counter[tuple[str, int]] = Counter()
        """How many have ended in that round of that call."""
        self._children: set[tuple[str, str]] = set()
        """Those of all nodes, each with the call that started it."""
        self._asked: dict[str, NodeRun] = {}
        """Whose each open pause is."""
        self._forked = False

    def after(self, node: str) -> Sequence[Edge]:
        """The edges that leave that node."""
        return self._edges.get(node, ())

    def of(self, call_id: str) -> NodeRun | None:
        """The node that such a call belongs to, by its own id or that of a call of one of its tries."""
        return self.by_call.get(call_id.partition("~")[0])

    def take(self, entry: Entry) -> NodeRun | None:
        """Take one more entry; the node it tells something new of, if any."""
        match entry.event:
            case RunStarted(workflow=workflow) if workflow is not None:
                self._begin(workflow)
            case Forked():
                self._forked = True
                for run in self.by_call.values():
                    run.origin = "recorded"
            case NodeStarted() as started:
                return self._started(started, entry)
            case NodeEnded() as ended:
                return self._end(ended, entry)
            case RunFinished():
                for run in [run for run in self.by_call.values() if not run.ended]:
                    self._close(run, "cancelled", entry)
            case PauseResolved(pause_id=pause_id) if pause_id in self._asked:
                asking = self._asked.pop(pause_id)
                asking.pauses.discard(pause_id)
                return asking
            case (ToolCalled() | ToolReturned() | FileChanged() | ChildStarted() | PauseRequested()) as event if (
                calling := self.of(event.call_id)
            ):
                self._take_inner(calling, event, entry)
                return calling
            case _:
                pass
        return None

    def _take_inner(self, run: NodeRun, event: _Inner, entry: Entry) -> None:
        """What the node's own tool, run or question did."""
        match event:
            case ToolCalled(call_id=call_id):
                run.calls.pop(call_id, None)
                follow_call(run.calls, entry)
            case ToolReturned() | FileChanged():
                follow_call(run.calls, entry)
            case ChildStarted(child_run_id=run_id):
                if (run.call_id, run_id) not in self._children:
                    self._children.add((run.call_id, run_id))
                    run.children.append(run_id)
                follow_call(run.calls, entry)
            case PauseRequested(pause_id=pause_id):
                self._asked[pause_id] = run
                run.pauses.add(pause_id)
            case _:
                assert_never(event)

    def _begin(self, workflow: Workflow) -> None:
        self.workflow, self._nodes = workflow, workflow.by_id()
        for edge in workflow.edges:
            self._edges.setdefault(edge.source, []).append(edge)
        self._places = {id_: place for place, id_ in enumerate(workflow.by_id())}
        self._bodies.update(node.scope for node in self._nodes.values() if not isinstance(node, NoteNode))

    def _known(self, event: NodeStarted | NodeEnded, entry: Entry) -> NodeRun:
        run = self.by_call.get(event.call_id)
        if run is None:
            run = self.by_call[event.call_id] = NodeRun(event.call_id, event.node, event.rounds, seq=entry.seq)
            node = self._nodes.get(event.node)
            run.title, run.kind = (node.title or node.id, node.kind) if node else (event.node, None)
            run.round_words, run.place = self._placed(event)
        self.latest[run.node] = run
        return run

    def _placed(self, event: NodeStarted | NodeEnded) -> tuple[str, tuple[tuple[int, int], ...]]:
        words, place = [], []
        for part in event.call_id.split(".")[:-1]:
            if found := _ROUND.fullmatch(part):
                noun = "round" if isinstance(self._nodes.get(found[1]), LoopNode) else "item"
                words.append(f"{noun} {int(found[2]) + 1:,}")
                place.append((self._places.get(found[1], 0), int(found[2])))
        return ", ".join(words), (*place, (self._places.get(event.node, 0), 0))

    def _started(self, started: NodeStarted, entry: Entry) -> NodeRun:
        run = self._known(started, entry)
        self._count(run, "running")
        run.origin = "anew" if self._forked else ""
        run.attempt, run.retry_at, run.of = started.attempt, None, started.of
        run.started_at = run.started_at or entry.at
        run.inputs, run.inputs_digest, run.whole_inputs = started.inputs, started.inputs_digest, started.whole
        return run

    def _end(self, ended: NodeEnded, entry: Entry) -> NodeRun:
        run = self._known(ended, entry)
        run.error = ended.error or (run.error if ended.status == "failed" else None)
        run.retry_at = ended.retry_at
        if ended.retry_at is not None:
            return run
        run.output, run.as_returned, run.whole_output = ended.output, ended.as_returned, ended.whole
        run.port, run.pinned = ended.port, ended.pinned
        if ended.port is not None:
            self.ports.setdefault(run.node, set()).add(ended.port)
        self._close(run, ended.status, entry)
        return run

    def _close(self, run: NodeRun, state: NodeState, entry: Entry) -> None:
        is_first = not run.ended
        self._count(run, state)
        run.end_seq, run.ended_at, run.retry_at = entry.seq, entry.at, None
        run.pauses.clear()
        around, _, _ = run.call_id.rpartition(".")
        if is_first and (found := _ROUND.fullmatch(around)) and (scope := self.by_call.get(found[1])):
            number = (scope.call_id, int(found[2]))
            self._ended[number] += 1
            scope.done += self._ended[number] == self._bodies[scope.node]

    def _count(self, run: NodeRun, state: NodeState) -> None:
        counts = self.counts.setdefault(run.node, Counter())
        if run.state != "waiting":
            counts[run.state] -= 1
        counts[state] += 1
        run.state = state


def nodes(entries: Iterable[Entry]) -> NodeRuns:
    """How the nodes stand after the last of these entries."""
    found = NodeRuns()
    for entry in entries:
        found.take(entry)
    return found


def inner_call(call_id: str, attempt: int) -> str:
    """The call id of the tool, run or question of a node's try: that of the node, for a second try `draft~2`."""
    return call_id if attempt <= 1 else f"{call_id}~{attempt}"


def scope_call(call_id: str) -> str:
    """The call id of the map or loop in whose round the node stands: of `each[3].draft` `each`; empty for none."""
    around, _, _ = call_id.rpartition(".")
    found = _ROUND.fullmatch(around)
    return found[1] if found else ""


def value_of(result: ToolResult) -> JsonValue:
    """What a node gives whose tool returned this: its text, read as JSON where it is."""
    try:
        return json_in(result.text, constant=_no_json)
    except (ValueError, RecursionError):
        return result.text


def text_of(value: JsonValue) -> str:
    """The value as a person reads it: a text as it stands, anything else as JSON."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _no_json(constant: str) -> JsonValue:
    raise ValueError(f"{constant} is no JSON.")
