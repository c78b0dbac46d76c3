"""Walks through a workflow: each node begins when its own inputs are settled, beside all others that may.

Nothing waits for the slowest of a step. A node that was begun before the app ended goes on where it was; what had ended
is read from the trace.
"""

import asyncio
from collections import ChainMap
from itertools import takewhile
from typing import NoReturn

from pydantic import JsonValue

from app.domain.events import LimitReached, MessageAdded, NodeEnded
from app.domain.messages import Message, TextPart
from app.domain.prompts import path_of
from app.domain.workflows.document import INPUT, FoundValue, InputNode, Node, OutputNode, Template, Workflow
from app.domain.workflows.graph import Graph
from app.domain.workflows.schedule import WHOLE, Moves, NodeStatus, Place, Round, Schedule
from app.engine.run.run import Run
from app.engine.workflows.given import NodeFailed, as_text
from app.engine.workflows.past import Past
from app.engine.workflows.trying import Trying

ALL = Round(WHOLE, 0)
MOST_AGENTS = 16
"""Of a run that go on at once: as many as it may have started and not joined."""


async def walk(run: Run) -> LimitReached | None:
    """Go through all nodes; the answer is in the trace then. The limit that ended it; raises `NodeFailed`."""
    if run.started.workflow is None:
        raise ValueError("Only the run of a workflow has nodes")
    return await Walk(run, run.started.workflow).go()


class Walk:
    def __init__(self, run: Run, workflow: Workflow) -> None:
        self.run = run
        self.graph = Graph(workflow)
        self.schedule = Schedule(workflow)
        self.past = Past(self.schedule, self.graph)
        if run.computing is None:
            raise ValueError("Nothing here reads the expressions of a workflow")
        self.computing = run.computing
        self.agents = asyncio.Semaphore(MOST_AGENTS)
        self.speakers = frozenset(filter(None, map(_answered_by, workflow.nodes)))
        """The agents whose answers are the run's, as they are."""
        self.size = 0
        """Bytes of all that nodes gave, as JSON."""
        self.warm = False
        """Whether an expression was read before: the first reads a library."""
        self._names: dict[Round, ChainMap[str, JsonValue]] = {}
        """By round: what its nodes may read."""
        self._group = asyncio.TaskGroup()
        self._going_on: dict[Place, tuple[Trying, asyncio.Task[None]]] = {}
        self._closing: dict[Round, asyncio.Future[NodeFailed | None]] = {}
        self._limit: LimitReached | None = None

    async def go(self) -> LimitReached | None:
        await self.past.tell(self.run.recorder.entries, self.run.artifacts)
        for place, status in self.past.not_run.items():
            self._not_run(place, status)
        values = self.past.values.setdefault(ALL, {})
        self._names[ALL] = ChainMap(values, {})
        for id_ in values.keys() & {node.id for node in self.graph.nodes.values() if _is_input(node)}:
            self._names[ALL].maps[1][INPUT] = values[id_]
        closing = self._closing[ALL] = asyncio.get_running_loop().create_future()
        if ALL in self.past.closed:
            closing.set_result(self.past.closed[ALL])
        try:
            async with self._group:
                self._launch(ALL)
        except ExceptionGroup as errors:  # one word of what went wrong is enough
            raise errors.exceptions[0] from errors
        if self._limit is not None:
            return self._limit
        if (failed := closing.result()) is not None:
            raise failed
        self._answer()
        return None

    # Rounds of maps and loops.

    async def through(self, number: Round, given: dict[str, JsonValue]) -> NodeFailed | None:
        """Go through a round of a map or loop, whose nodes may read what is given besides; what failed in it."""
        if self.schedule.state(number.scope) != "running":  # its cancellation has not come here yet
            raise asyncio.CancelledError
        begun = number in self.past.values
        values = self.past.values.setdefault(number, {})
        self._names[number] = ChainMap(values, given, *self.names(number.scope).maps)
        if number in self.past.closed:
            return self.past.closed.pop(number)
        closing = self._closing[number] = asyncio.get_running_loop().create_future()
        if begun:
            self._launch(number)
        else:
            self._follow(self.schedule.open(number.scope, number.number))
        failed: NodeFailed | None = await closing
        del self._closing[number]
        if failed is not None:
            await self._wound_down(number)
        return failed

    def names(self, place: Place) -> ChainMap[str, JsonValue]:
        """What the node may read."""
        return self._names[self.schedule.round_of(place)]

    def names_in(self, number: Round) -> ChainMap[str, JsonValue]:
        """What may be read at the end of the round."""
        return self._names[number]

    def forget(self, number: Round) -> None:
        """Nobody reads any more what the round's nodes gave."""
        self._names.pop(number, None)
        self.past.values.pop(number, None)

    async def _wound_down(self, number: Round) -> None:
        """Returns when what was cancelled in the round has ended."""
        rounds = (*number.scope.rounds, number.number)
        inside = {
            task
            for place, (trying, task) in self._going_on.items()
            if place.rounds[: len(rounds)] == rounds and number.scope.node in self.graph.chain(trying.node.scope)
        }
        if inside:
            await asyncio.wait(inside)

    # Nodes.

    def begun(self) -> None:
        """One more node begins; where that is one too many, or there are no means left, all that goes on is cancelled.

        Raises `CancelledError` then.
        """
        most = self.run.started.limits.nodes
        if 0 < most <= self.past.starts:
            self._end_with(LimitReached(limit="nodes", allowed=most, reached=self.past.starts))
        elif (limit := self.run.budget.forbids_task(0.0)) is not None:
            self._end_with(limit)
        self.past.starts += 1

    def _end_with(self, limit: LimitReached) -> NoReturn:
        if self._limit is None:
            self._limit, self.run.ending = limit, True
            for _, task in list(self._going_on.values()):
                task.cancel()
        raise asyncio.CancelledError

    def _launch(self, number: Round) -> None:
        """Begin what is ready in the round, and go on with what was begun."""
        for place in [place for place in self.past.alive if self.schedule.round_of(place) == number]:
            del self.past.alive[place]
            self._begin(place)

    def _begin(self, place: Place) -> None:
        if self.schedule.state(place) == "ready":
            self.schedule.start(place)
        trying = Trying(self, place)
        living = self._live(trying)
        try:
            task = self._group.create_task(living, name=f"node {trying.call_id}")
        except RuntimeError:  # all that goes on is being cancelled
            living.close()
            return
        self._going_on[place] = (trying, task)
        task.add_done_callback(lambda _: self._going_on.pop(place, None))

    async def _live(self, trying: Trying) -> None:
        ended = await trying.ended()
        place = trying.place
        self.past.values.setdefault(self.schedule.round_of(place), {})[place.node] = ended.value
        if _is_input(trying.node):
            self._names[ALL].maps[1][INPUT] = ended.value
        self._follow(self.schedule.end(place, status=ended.status, port=ended.port), ended.failed)

    def _follow(self, moves: Moves, why: NodeFailed | None = None) -> None:
        for place in moves.cancelled:
            if place in self._going_on:
                trying, task = self._going_on[place]
                trying.drop()
                task.cancel()
                if not trying.entered:  # nor will it ever be
                    self._not_run(place, "cancelled")
            else:  # it was left, and nobody has gone on with it yet
                self._not_run(place, "cancelled")
        for place in moves.skipped:
            self._not_run(place, "skipped")
        for number in (*moves.closed, *moves.failed):
            if (closing := self._closing.get(number)) is not None and not closing.done():
                closing.set_result(why if number in moves.failed else None)
        for place in moves.ready:
            self._begin(place)

    def _not_run(self, place: Place, status: NodeStatus) -> None:
        call_id = self.schedule.call_id(place)
        known = self.past.runs.by_call.get(call_id)
        if known is None or not known.ended:
            self.run.recorder.record(NodeEnded(call_id=call_id, node=place.node, rounds=place.rounds, status=status))

    def _answer(self) -> None:
        """Say what the first output gave, unless that was said before the app ended."""
        events = (entry.event for entry in reversed(self.run.recorder.entries))
        said = takewhile(lambda event: not isinstance(event, NodeEnded), events)
        answered = any(isinstance(event, MessageAdded) and event.origin == "model" for event in said)
        if answered or not (id_ := self.schedule.answer()):
            return
        text = as_text(self.past.values[ALL][id_])
        message = Message(role="assistant", parts=(TextPart(text=text),))
        self.run.recorder.record(MessageAdded(message=message, origin="model"))


def _answered_by(node: Node) -> str:
    """The node whose value an output gives as it is; empty for any other."""
    if not isinstance(node, OutputNode) or node.output_schema is not None:
        return ""
    match node.value:
        case FoundValue(path=written):
            path = path_of(written)
        case Template(text=text):
            path = path_of(text.strip().removeprefix("{{").removesuffix("}}")) if text.strip() == text else None
        case _:
            path = None
    return path.name if path is not None and not path.steps else ""


def _is_input(node: Node) -> bool:
    return isinstance(node, InputNode)
