"""Traces of workflows at random: what a schedule is told and says, as a run writes it down."""

from random import Random

from app.domain.errors import ErrorInfo
from app.domain.events import ChildFinished, ChildStarted, Entry, Event, PauseRequested, PauseResolved
from app.domain.trace import inner_call
from app.domain.workflows.document import ApprovalNode, LoopNode, MapNode, ToolNode
from app.domain.workflows.schedule import Moves, Place, Schedule
from tests.domain.workflows.random_workflows import Walk, random_workflow
from tests.traces import asked, call, finished, node_ended, node_started, ran, said, started, trace_of


class RandomRun:
    """A walk, told once more to a schedule and written down; `states` says how the nodes stood after each entry."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.workflow = random_workflow(random)
        self.walk = Walk(self.workflow, random)
        self.wrong = self.walk.go()
        self.nodes = self.workflow.by_id()
        self.schedule = Schedule(self.workflow)
        self.events: list[Event] = [started(workflow=self.workflow, model="", format=2), asked("go")]
        self.states: dict[int, dict[str, str]] = {}
        """By how many events there were: by call id, how it stood by then with those that began or ended."""
        self.stands: dict[str, str] = {}
        for what, args, more, _ in self.walk.told:
            self._tell(what, args, more)
            self.states[len(self.events)] = dict(self.stands)
        self.events += [said("Done."), finished()]

    @property
    def entries(self) -> list[Entry]:
        return trace_of(*self.events)

    def _tell(self, what: str, args: tuple, more: dict) -> None:
        match what:
            case "start":
                self._begin(args[0])
            case "end":
                self._end(args[0], more["status"], more["port"])
        moves = getattr(self.schedule, what)(*args, **more)
        if moves is not None:
            self._take(moves)

    def _begin(self, place: Place) -> None:
        node, call_id = self.nodes[place.node], self.schedule.call_id(place)
        of = 3 if isinstance(node, MapNode | LoopNode) else None
        attempt = 1
        if self.random.random() < 0.1 and of is None:
            attempt = 2
            failed = ErrorInfo(failure="network", text="It broke down.")
            again = trace_of(finished())[0].at
            self.events.append(node_started(call_id, inputs={"x": 1}))
            self.events.append(node_ended(call_id, status="failed", port=None, error=failed, retry_at=again))
        self.events.append(node_started(call_id, of=of, attempt=attempt, inputs={"x": call_id}))
        self.stands[call_id] = "running"
        if isinstance(node, ToolNode):
            self.events.append(ran(self._call(call_id), "")[0])
        elif isinstance(node, ApprovalNode):
            self.events.append(PauseRequested(pause_id=f"p {call_id}", reason="approval", call_id=call_id))
        elif of is None:
            self.events.append(ChildStarted(call_id=inner_call(call_id, attempt), child_run_id=f"run-{call_id}"))

    def _end(self, place: Place, status: str, port: str | None) -> None:
        node, call_id = self.nodes[place.node], self.schedule.call_id(place)
        gave: dict[str, object] = {"output": self.random.choice([None, 1, "text", {"a": [1]}])}
        if isinstance(node, ToolNode):
            self.events.append(ran(self._call(call_id), '{"b": 2}', status="error" if status == "failed" else "ok")[1])
            gave = {"as_returned": True}
        elif isinstance(node, ApprovalNode):
            self.events.append(PauseResolved(pause_id=f"p {call_id}", decision="approve"))
        elif not isinstance(node, MapNode | LoopNode):
            child = f"run-{call_id}"
            self.events.append(ChildFinished(call_id=call_id, child_run_id=child, status="completed"))
        error = ErrorInfo(failure="internal", text="It failed.") if status == "failed" else None
        self.events.append(node_ended(call_id, status=status, port=port, error=error, **gave))
        self.stands[call_id] = status

    def _take(self, moves: Moves) -> None:
        for places, status in ((moves.skipped, "skipped"), (moves.cancelled, "cancelled")):
            for place in places:
                call_id = self.schedule.call_id(place)
                self.events.append(node_ended(call_id, status=status, port=None))
                self.stands[call_id] = status

    def _call(self, call_id: str):
        return call(call_id, "now", x=call_id)
