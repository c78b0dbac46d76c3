"""Which nodes of a run may begin, are skipped or are cancelled: what follows from what has ended so far.

It does nothing itself: whoever runs the nodes tells it what began and ended and does what it says. Told the same again
it says the same, which is all that going on after a kill takes. In each round of its scope each node ends once.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from app.domain.workflows.availability import needed
from app.domain.workflows.document import InputNode, JoinNode, NoteNode, OutputNode, Workflow
from app.domain.workflows.graph import Graph

NodeStatus = Literal["done", "failed", "skipped", "cancelled"]
NodeState = Literal["waiting", "ready", "running", "done", "failed", "skipped", "cancelled"]


class Place(NamedTuple):
    """A node in a round of each of the maps and loops that it stands in."""

    node: str
    rounds: tuple[int, ...] = ()
    """From 0, of the outermost first."""


WHOLE = Place("")
"""In place of a map or loop, for the nodes that stand in none."""


class Round(NamedTuple):
    scope: Place
    number: int


@dataclass(slots=True)
class Moves:
    """What follows from what was told; each in the order in which it follows."""

    ready: list[Place] = field(default_factory=list)
    """They may begin, all beside each other."""
    skipped: list[Place] = field(default_factory=list)
    """They have ended without a value. Those that were ready before are not to begin any more."""
    cancelled: list[Place] = field(default_factory=list)
    """They have begun, and are to be stopped; they count as ended already, those in a body before their map."""
    closed: list[Round] = field(default_factory=list)
    """All of their nodes have ended: the map or loop opens another round or ends. `WHOLE`: the run ends."""
    failed: list[Round] = field(default_factory=list)
    """Closed since a node in them failed and led nowhere: the map, loop or run fails, unless a map can do without."""


class Schedule:
    """Of a workflow without errors. Steps take time in proportion to the edges they follow, not to what was before."""

    def __init__(self, workflow: Workflow) -> None:
        self._graph = Graph(workflow)
        self._bodies = {
            scope: [id_ for id_ in body if not isinstance(self._graph.nodes[id_], NoteNode)]
            for scope, body in self._graph.bodies.items()
        }
        self._rounds: dict[Round, _Body] = {}
        self._open: dict[Place, list[Round]] = {}

    def begin(self) -> Moves:
        """The run begins: its input is ready."""
        return self._opened(Round(WHOLE, 0))

    def open(self, scope: Place, number: int) -> Moves:
        """The body of a map or loop that goes on begins a round: those nodes are ready to which no edge leads."""
        if self.state(scope) != "running":
            raise ValueError(f"{scope} does not go on, so that no round of it begins.")
        return self._opened(Round(scope, number))

    def start(self, place: Place) -> None:
        """The node begins, which was ready."""
        self._expect(place, "ready")
        self._body(place).states[place.node] = "running"

    def end(self, place: Place, *, status: Literal["done", "failed"] = "done", port: str | None = None) -> Moves:
        """The node has ended and goes on at that port; without one it leads nowhere.

        What is left of its rounds is cancelled. One that failed and leads nowhere takes its own round along.
        """
        self._expect(place, "running")
        moves = Moves()
        self._drop_rounds(place, moves)
        number = self.round_of(place)
        body = self._body(place)
        body.states[place.node] = status
        body.left -= 1
        if status == "failed" and port is None:
            self._drop(number, moves)
            moves.failed.append(number)
            self._forget(number)
        else:
            self._settle(number, deque([(place.node, port)]), moves)
        return self._sorted(moves)

    def state(self, place: Place) -> NodeState:
        """How it is with a node; `waiting` also for one whose round is not open."""
        body = self._rounds.get(self.round_of(place))
        return body.states.get(place.node, "waiting") if body else "waiting"

    def answer(self) -> str:
        """The first output in the document that has ended with a value; empty for none."""
        states = self._rounds[Round(WHOLE, 0)].states
        outputs = (id_ for id_ in self._bodies[""] if isinstance(self._graph.nodes[id_], OutputNode))
        return next((id_ for id_ in outputs if states[id_] == "done"), "")

    def call_id(self, place: Place) -> str:
        """`each[3].draft`: the same for the same node in the same rounds, in every run of the workflow."""
        scopes = reversed([*self._graph.chain(self._graph.nodes[place.node].scope)])
        return "".join(f"{scope}[{number}]." for scope, number in zip(scopes, place.rounds, strict=True)) + place.node

    def round_of(self, place: Place) -> Round:
        """The round of its map or loop that the node stands in."""
        scope = self._graph.nodes[place.node].scope
        return Round(Place(scope, place.rounds[:-1]), place.rounds[-1]) if scope else Round(WHOLE, 0)

    def _opened(self, number: Round) -> Moves:
        if number in self._rounds:
            raise ValueError(f"{number} is open already.")
        ids = self._bodies.get(number.scope.node, [])
        self._rounds[number] = body = _Body(dict.fromkeys(ids, "waiting"), left=len(ids))
        self._open.setdefault(number.scope, []).append(number)
        moves = Moves()
        for id_ in ids:
            body.unsettled[id_] = len(self._graph.before[id_])
        entries = [id_ for id_ in ids if not self._graph.before[id_]]
        skipped: deque[tuple[str, str | None]] = deque()
        for id_ in entries:
            if number.scope != WHOLE or isinstance(self._graph.nodes[id_], InputNode):
                body.states[id_] = "ready"
                moves.ready.append(self._place(number, id_))
            else:  # on the canvas and not connected
                self._skip(number, id_, moves)
                skipped.append((id_, None))
        self._settle(number, skipped, moves)
        return self._sorted(moves)

    def _settle(self, number: Round, ended: deque[tuple[str, str | None]], moves: Moves) -> None:
        """Follow the edges of what has ended at a port; at `None` all are dead."""
        body = self._rounds[number]
        while ended:
            source, port = ended.popleft()
            for edge in self._graph.after[source]:
                target = edge.target
                body.unsettled[target] -= 1
                body.alive[target] = body.alive.get(target, 0) + (edge.port == port)
                match self._decided(body, target):
                    case "ready":
                        body.states[target] = "ready"
                        moves.ready.append(self._place(number, target))
                        ended.extend((id_, None) for id_ in self._cancelled_by(number, target, moves))
                    case "skipped":
                        self._skip(number, target, moves)
                        ended.append((target, None))
        if not body.left:
            moves.closed.append(number)
            self._forget(number)

    def _decided(self, body: "_Body", id_: str) -> Literal["waiting", "ready", "skipped"]:
        """What becomes of a node to which an edge was just settled."""
        unsettled, alive = body.unsettled[id_], body.alive[id_]
        if body.states[id_] != "waiting":
            return "waiting"  # as it is: a join has begun, or was skipped, before the last edge to it is settled
        if count := needed(self._graph.nodes[id_]):
            return "ready" if alive >= count else "skipped" if alive + unsettled < count else "waiting"
        return "waiting" if unsettled else "ready" if alive else "skipped"

    def _cancelled_by(self, number: Round, join: str, moves: Moves) -> Iterator[str]:
        """What leads to this join only and has not ended, where it wants it to be cancelled."""
        node, body = self._graph.nodes[join], self._rounds[number]
        if not isinstance(node, JoinNode) or not node.cancel_rest:
            return
        for id_ in self._graph.only_before(join):
            if body.states[id_] == "running":
                place = self._place(number, id_)
                self._drop_rounds(place, moves)
                body.states[id_] = "cancelled"
                body.left -= 1
                moves.cancelled.append(place)
                yield id_
            elif body.states[id_] in ("waiting", "ready"):
                self._skip(number, id_, moves)
                yield id_

    def _skip(self, number: Round, id_: str, moves: Moves) -> None:
        body, place = self._rounds[number], self._place(number, id_)
        if body.states[id_] == "ready" and place in moves.ready:
            moves.ready.remove(place)
        body.states[id_] = "skipped"
        body.left -= 1
        moves.skipped.append(place)

    def _drop_rounds(self, scope: Place, moves: Moves) -> None:
        """End what is left in the rounds of a map or loop."""
        for number in self._open.pop(scope, []):
            self._drop(number, moves)
            del self._rounds[number]

    def _drop(self, number: Round, moves: Moves) -> None:
        body = self._rounds[number]
        for id_, state in body.states.items():
            place = self._place(number, id_)
            if state == "running":
                self._drop_rounds(place, moves)
                body.states[id_] = "cancelled"
                moves.cancelled.append(place)
            elif state in ("waiting", "ready"):
                self._skip(number, id_, moves)

    def _forget(self, number: Round) -> None:
        if number.scope != WHOLE:
            del self._rounds[number]
            self._open[number.scope].remove(number)

    def _place(self, number: Round, id_: str) -> Place:
        return Place(id_, () if number.scope == WHOLE else (*number.scope.rounds, number.number))

    def _body(self, place: Place) -> "_Body":
        return self._rounds[self.round_of(place)]

    def _expect(self, place: Place, state: NodeState) -> None:
        if self.state(place) != state:
            raise ValueError(f"{place} is {self.state(place)}, not {state}.")

    def _sorted(self, moves: Moves) -> Moves:
        moves.ready.sort(key=lambda place: (place.rounds, self._graph.places[place.node]))
        return moves


@dataclass(slots=True)
class _Body:
    """The nodes of a round of a scope."""

    states: dict[str, NodeState]
    left: int
    """Nodes that have not ended."""
    unsettled: dict[str, int] = field(default_factory=dict)
    """By node: the edges to it of which nothing is known yet."""
    alive: dict[str, int] = field(default_factory=dict)
