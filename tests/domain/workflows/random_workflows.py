"""Workflows at random, walked at random: what a schedule says is compared with what its rules say."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from app.domain.workflows.availability import Availability
from app.domain.workflows.document import (
    ApprovalNode,
    BranchCase,
    BranchNode,
    Edge,
    InputNode,
    JoinNode,
    LoopNode,
    MapNode,
    NoteNode,
    OutputNode,
    ToolNode,
    Workflow,
    ports,
)
from app.domain.workflows.graph import Graph
from app.domain.workflows.schedule import WHOLE, Moves, Place, Round, Schedule

MOST_DEEP = 2


def random_workflow(random: Random, most: int = 9) -> Workflow:
    """Maps and loops in each other, joins of all kinds, branches, failures that lead on, nodes without edges."""
    nodes, edges = [InputNode(id="input")], []
    _body(random, "", nodes, edges, most, depth=0)
    return Workflow(nodes=tuple(nodes), edges=tuple(edges))


def _body(random, scope, nodes, edges, most, *, depth):
    here = [node for node in nodes if node.scope == scope]
    for _ in range(random.randint(0 if depth else 1, most)):
        node = _node(random, f"n{len(nodes)}", scope, depth)
        nodes.append(node)
        if isinstance(node, MapNode | LoopNode):
            _body(random, node.id, nodes, edges, most // 2, depth=depth + 1)
        if not isinstance(node, NoteNode):
            sources = [one for one in here if ports(one)]
            for source in random.sample(sources, min(len(sources), random.choice([0, 1, 1, 1, 2, 2, 3]))):
                chosen = random.sample(ports(source), random.randint(1, len(ports(source))))
                edges += [Edge(source=source.id, port=port, target=node.id) for port in chosen]
            here.append(node)


def _node(random, id_, scope, depth):
    common = {"id": id_, "scope": scope}
    working = common | {"on_error": random.choice(["fail", "fail", "route", "value"])}
    kind = random.choice(["tool", "tool", "tool", "branch", "join", "join", "approval", "scope", "output", "note"])
    if kind == "scope" and depth < MOST_DEEP:
        return random.choice(
            [MapNode(each_error=random.choice(["fail", "null"]), **working), LoopNode(most=3, **working)]
        )
    if kind == "branch":
        return BranchNode(cases=tuple(BranchCase(name=f"c{n}") for n in range(random.randint(0, 2))), **working)
    if kind == "join":
        return JoinNode(need=random.choice(["all", "any", 2, 3]), cancel_rest=random.random() < 0.5, **working)
    if kind == "output" and not depth:
        return OutputNode(**common)
    if kind == "note":
        return NoteNode(**common)
    return ApprovalNode(**working) if kind == "approval" else ToolNode(**working)


@dataclass
class Walk:
    """A run of a workflow in which chance decides what ends when, and how."""

    workflow: Workflow
    random: Random
    failures: float = 0.1
    told: list[tuple] = field(default_factory=list)
    """What the schedule was told and what it said to it."""
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.schedule = Schedule(self.workflow)
        self.nodes = self.workflow.by_id()
        self.ready, self.running = [], []
        self.ports, self.ends = {}, Counter()
        self.rounds, self.left = [], {}
        self.over = False
        self.available = Availability(Graph(self.workflow))

    def go(self) -> list[str]:
        """What was wrong on the way."""
        self._tell("begin")
        while self.ready or self.running:
            leaf = [place for place in self.running if place not in self.left]
            if self.ready and (not leaf or self.random.random() < 0.5):
                self._start(self.ready.pop(self.random.randrange(len(self.ready))))
            elif leaf:
                self._end(self.random.choice(leaf))
            else:
                self.wrong.append(f"stuck: {self.running}")
                break
        if not self.over:
            self.wrong.append("the run never ended")
        for number in self.rounds:
            for node in self.nodes.values():
                if node.scope == number.scope.node and not isinstance(node, NoteNode):
                    place = self._place(number, node.id)
                    if self.ends[place] != 1:
                        self.wrong.append(f"{place} ended {self.ends[place]} times")
        return self.wrong

    def _place(self, number: Round, id_: str) -> Place:
        return Place(id_, () if number.scope == WHOLE else (*number.scope.rounds, number.number))

    def _tell(self, what, *args, **more):
        moves = getattr(self.schedule, what)(*args, **more)
        self.told.append((what, args, more, moves))
        if what in ("begin", "open"):
            self.rounds.append(Round(*args) if args else Round(WHOLE, 0))
        if moves:
            self._take(moves)

    def _take(self, moves: Moves):
        for place in moves.skipped:
            if place in self.ready:
                self.ready.remove(place)
            self.ends[place] += 1
        for place in moves.cancelled:
            if place not in self.running:
                self.wrong.append(f"{place} was cancelled and did not run")
            else:
                self.running.remove(place)
            self.left.pop(place, None)
            self.ends[place] += 1
        for place in moves.ready:
            self._check_ready(place)
        self.ready += moves.ready
        for number in moves.closed:
            self._closed(number, failed=False)
        for number in moves.failed:
            self._closed(number, failed=True)

    def _check_ready(self, place: Place):
        """Against the rule itself: all edges settled, some alive; for a join so many alive."""
        if self.ends[place] or place in self.ready or place in self.running:
            self.wrong.append(f"{place} was ready twice")
        node = self.nodes[place.node]
        edges = [edge for edge in self.workflow.edges if edge.target == place.node]
        sources = [Place(edge.source, place.rounds) for edge in edges]
        alive = sum(self.ports.get(source) == edge.port for source, edge in zip(sources, edges, strict=True))
        need = node.need if isinstance(node, JoinNode) else "all"
        if edges and need == "all" and not (alive and all(self.ends[source] for source in sources)):
            self.wrong.append(f"{place} was ready before its time")
        for id_ in self.nodes:
            if (
                self.available.holds(self.available.sure(place.node), id_)
                and Place(id_, place.rounds) not in self.ports
            ):
                self.wrong.append(f"{id_} was to be there for {place}")
        if edges and need != "all" and alive < (1 if need == "any" else need):
            self.wrong.append(f"{place} was ready with too few")

    def _start(self, place: Place):
        self._tell("start", place)
        self.running.append(place)
        node = self.nodes[place.node]
        if isinstance(node, MapNode):
            count = self.random.choice([0, 1, 2, 3])
            if count:
                self.left[place] = count
                for number in range(count):
                    if place in self.running:
                        self._tell("open", place, number)
        elif isinstance(node, LoopNode):
            self.left[place] = self.random.randint(1, 3)
            self._tell("open", place, 0)

    def _closed(self, number: Round, *, failed: bool):
        if number.scope == WHOLE:
            self.over = True
        elif number.scope in self.left:
            for id_ in self.nodes:
                sure = self.available.holds(self.available.sure_in(number.scope.node), id_)
                if sure and not failed and self._place(number, id_) not in self.ports:
                    self.wrong.append(f"{id_} was to be there at the end of {number}")
            node = self.nodes[number.scope.node]
            self.left[number.scope] -= 1
            if failed and not (isinstance(node, MapNode) and node.each_error == "null"):
                self._end(number.scope, fails=True)
            elif not self.left[number.scope]:
                self._end(number.scope, fails=False)
            elif isinstance(node, LoopNode):
                self._tell("open", number.scope, number.number + 1)

    def _end(self, place: Place, *, fails: bool | None = None):
        node = self.nodes[place.node]
        self.left.pop(place, None)
        self.running.remove(place)
        self.ends[place] += 1
        way_out = {"fail": None, "route": "error", "value": "next"}[getattr(node, "on_error", "fail")]
        fails = fails if fails is not None else hasattr(node, "on_error") and self.random.random() < self.failures
        own = [port for port in ports(node) if port != "error"]
        if fails and way_out == "next" and "next" not in own:
            way_out = own[0]
        port = way_out if fails else self.random.choice(own) if own else None
        self.ports[place] = port
        self._tell("end", place, status="failed" if fails else "done", port=port)


def told_again(walk: Walk) -> bool:
    """Whether another schedule, told the same, says the same."""
    other = Schedule(walk.workflow)
    return all(getattr(other, what)(*args, **more) == moves for what, args, more, moves in walk.told)
