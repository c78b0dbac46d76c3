"""What a run's trace says already of its nodes, told to the schedule again in the order in which it happened."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from pydantic import JsonValue
from pydantic_core import from_json

from app.domain.events import Entry, NodeEnded, NodeStarted, PauseRequested, PauseResolved, ToolCalled, ToolReturned
from app.domain.messages import ToolCall, ToolResult
from app.domain.trace import LeftCall
from app.domain.trace.nodes import NodeRun, NodeRuns
from app.domain.workflows.graph import Graph
from app.domain.workflows.schedule import Moves, NodeStatus, Place, Round, Schedule
from app.engine.ports import Artifacts
from app.engine.workflows.given import NodeFailed, titled

FREE_SECONDS = 0.005
"""The loop is left to others this often."""


@dataclass
class Past:
    schedule: Schedule
    graph: Graph
    runs: NodeRuns = field(default_factory=NodeRuns)
    values: dict[Round, dict[str, JsonValue]] = field(default_factory=dict)
    """What the nodes of each round gave."""
    alive: dict[Place, None] = field(default_factory=dict)
    """What is ready or was begun, in the order in which it became so."""
    closed: dict[Round, NodeFailed | None] = field(default_factory=dict)
    """The rounds in which all has ended, with what failed in them and led nowhere."""
    not_run: dict[Place, NodeStatus] = field(default_factory=dict)
    """What was skipped or cancelled, whether the trace says so or not."""
    starts: int = 0
    _pins: dict[Place, tuple[NodeEnded, NodeRun]] = field(default_factory=dict)
    """Values that a person wrote of nodes whose turn has not come yet."""
    _calls: dict[str, list[Entry]] = field(default_factory=dict)
    """By call: what happened in it."""
    _asked: dict[str, str] = field(default_factory=dict)

    async def tell(self, entries: Sequence[Entry], artifacts: Artifacts) -> None:
        """The schedule stands afterwards as it stood when the last of these was written."""
        self._follow(self.schedule.begin())
        began = perf_counter()
        for entry in entries:
            run = self.runs.take(entry)
            match entry.event:
                case NodeStarted() as started:
                    self._start(Place(started.node, started.rounds))
                    self.starts += 1
                case NodeEnded(retry_at=None, status="done" | "failed") as ended if run is not None:
                    await self._end(ended, run, artifacts)
                case ToolCalled(call_id=call_id) | ToolReturned(call_id=call_id):
                    self._calls.setdefault(call_id, []).append(entry)
                case PauseRequested(call_id=call_id, pause_id=pause_id):
                    self._asked[pause_id] = call_id
                    self._calls.setdefault(call_id, []).append(entry)
                case PauseResolved(pause_id=pause_id) if asked := self._asked.get(pause_id):
                    self._calls.setdefault(asked, []).append(entry)
                case _:
                    pass
            if perf_counter() - began > FREE_SECONDS:
                await asyncio.sleep(0)
                began = perf_counter()

    def node(self, place: Place) -> NodeRun | None:
        """What is known of a node, if it had begun."""
        return self.runs.by_call.get(self.schedule.call_id(place))

    def left(self, call: ToolCall) -> LeftCall:
        """The call as far as it came."""
        found = LeftCall(call)
        for entry in self._calls.get(call.call_id, ()):
            found.take(entry)
        return found

    def returned(self, call_id: str) -> ToolResult | None:
        """What the call came to, if it did."""
        events = (entry.event for entry in self._calls.get(call_id, ()))
        return next((event.result for event in events if isinstance(event, ToolReturned)), None)

    def _start(self, place: Place) -> bool:
        """Whether it goes on now."""
        if not self._opened(place):
            return False
        if self.schedule.state(place) == "ready":
            self.schedule.start(place)
        return self.schedule.state(place) == "running"

    def _opened(self, place: Place) -> bool:
        """Open the rounds that the node stands in; false where it stands nowhere in this workflow."""
        if place.node not in self.graph.nodes:
            return False
        scopes = [*self.graph.chain(self.graph.nodes[place.node].scope)][::-1]
        for depth, scope in enumerate(scopes, start=1):
            around = Place(scope, place.rounds[: depth - 1])
            number = Round(around, place.rounds[depth - 1])
            if number in self.closed or self.schedule.state(around) != "running":
                return False
            if number not in self.values:
                self.values[number] = {}
                self._follow(self.schedule.open(around, number.number))
        return True

    async def _end(self, ended: NodeEnded, run: NodeRun, artifacts: Artifacts) -> None:
        place = Place(ended.node, ended.rounds)
        if not self._start(place):
            if ended.pinned:
                self._pins[place] = ended, run
            return
        whole = run.whole_output
        value = run.value if whole is None else from_json(await artifacts.get(whole.artifact))
        number = self.schedule.round_of(place)
        self.values.setdefault(number, {})[place.node] = value
        self.alive.pop(place, None)
        moves = self.schedule.end(place, status="failed" if ended.status == "failed" else "done", port=ended.port)
        self._follow(moves, titled(self.graph.nodes[place.node], ended.error) if ended.error else None)
        while (pinned := next((one for one in self._pins if one in self.alive), None)) is not None:
            await self._end(*self._pins.pop(pinned), artifacts)

    def _follow(self, moves: Moves, why: NodeFailed | None = None) -> None:
        for place in (*moves.cancelled, *moves.skipped):
            self.not_run[place] = "cancelled" if place in moves.cancelled else "skipped"
            self.alive.pop(place, None)
        self.closed |= dict.fromkeys(moves.closed) | dict.fromkeys(moves.failed, why)
        self.alive |= dict.fromkeys(moves.ready)
