"""The life of a node: what it reads, its tries, and how it ended."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from hashlib import sha256
from time import perf_counter
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import JsonValue
from pydantic_core import to_json

from app.domain.events import NodeEnded, NodeStarted
from app.domain.messages import FilePart
from app.domain.reading.expressions import BadExpression
from app.domain.trace import open_pauses
from app.domain.trace.nodes import inner_call
from app.domain.workflows.document import (
    ERROR,
    InputNode,
    LoopNode,
    MapNode,
    Node,
    Working,
    port_for,
)
from app.domain.workflows.schedule import NodeStatus, Place
from app.engine.loop.asking_people import withdraw
from app.engine.loop.calling import RETRY_SECONDS
from app.engine.workflows.acting import act
from app.engine.workflows.beginning import input_of
from app.engine.workflows.given import Bound, Given, NodeFailed, as_text, bound, titled

if TYPE_CHECKING:
    from app.engine.workflows.walking import Walk

T = TypeVar("T")

MOST_SHOWN = 20_000
"""Bytes of JSON that a node gives, or is given, above which the trace has the beginning and a file."""
HEAD = 4_000
"""Characters of the beginning."""
SMALL = 50_000
"""Bytes of all values up to which expressions are read on the event loop."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a node ended."""

    status: Literal["done", "failed"]
    port: str | None
    value: JsonValue = None
    failed: NodeFailed | None = None
    """Why, naming the node first, where its failure leads nowhere."""


class Trying:
    def __init__(self, walk: "Walk", place: Place) -> None:
        self.walk, self.place = walk, place
        self.run, self.past, self.computing = walk.run, walk.past, walk.computing
        self.node = walk.graph.nodes[place.node]
        self.title = self.node.title or self.node.id
        self.call_id = walk.schedule.call_id(place)
        self.entered = False
        """Whether it has taken its first step."""
        self._dropped = False
        known = walk.past.node(place)
        self._begun = known is not None and known.state == "running" and known.retry_at is None
        self.attempt = max(1, known.attempt + (not self._begun)) if known is not None else 1

    @property
    def inner(self) -> str:
        """The call id of what it calls, asks or starts in this try."""
        return inner_call(self.call_id, self.attempt)

    @property
    def cut_short(self) -> bool:
        """Whether a cancellation is the run's own, rather than the end of the process."""
        return self._dropped or self.run.cut_short

    def drop(self) -> None:
        """It is not wanted any more, and is cancelled next."""
        self._dropped = True
        self.run.dropped.add(self.inner)

    async def ended(self) -> Ended:
        """How the node ended, which is in the trace by then."""
        self.entered = True
        known = self.past.node(self.place)
        if known is not None and known.pinned:
            return Ended("done", known.port, known.output)
        try:
            while True:
                began = perf_counter()
                try:
                    return await self._gave(await self._tried(), began)
                except NodeFailed as failed:
                    if not self._again(failed):
                        return self._failed(failed, began)
                    await self._wait(failed, began)
        except asyncio.CancelledError:
            if self.cut_short:
                self._cancelled()
            raise

    async def evaluated(self, evaluate: Callable[[], T]) -> T:
        """What the expressions come to; beside the event loop where that may take long. Raises `NodeFailed`."""
        try:
            if self.walk.size <= SMALL and self.walk.warm:
                return evaluate()
            self.walk.warm = True
            return await asyncio.to_thread(evaluate)
        except BadExpression as error:
            raise NodeFailed(str(error)) from error

    async def _tried(self) -> Given:
        made = await self._bound()
        if not self._begun:
            await self._start(made)
        return made.given or await act(self, self.node, made.inputs)

    async def _bound(self) -> Bound:
        if isinstance(self.node, InputNode):
            return Bound(given=Given(await self.evaluated(partial(input_of, self.node, self.run))))
        return await self.evaluated(partial(bound, self.node, self.walk.names(self.place), self.computing))

    async def _start(self, made: Bound) -> None:
        self.walk.begun()
        content = to_json(made.inputs, inf_nan_mode="null")
        shown, whole = made.inputs, None
        if len(content) > MOST_SHOWN:
            whole = await self._kept(content, "inputs")
            shown = {name: as_text(value)[:HEAD] for name, value in made.inputs.items()}
        self._begun = True
        self.run.recorder.record(
            NodeStarted(
                call_id=self.call_id,
                node=self.node.id,
                rounds=self.place.rounds,
                attempt=self.attempt,
                inputs=shown,
                inputs_digest=sha256(content).hexdigest(),
                whole=whole,
                of=_rounds_of(self.node, made.inputs),
            )
        )

    async def _gave(self, given: Given, began: float) -> Ended:
        content = to_json(given.value, inf_nan_mode="null")
        self.walk.size += len(content)
        shown, whole = given.value, None
        if len(content) > MOST_SHOWN and not given.as_returned:
            whole, shown = await self._kept(content, "output"), content[:HEAD].decode(errors="ignore")
        ended = self._end("done", began).model_copy(
            update={
                "port": given.port,
                "output": None if given.as_returned else shown,
                "as_returned": given.as_returned,
                "whole": whole,
            }
        )
        self.run.recorder.record(ended)
        return Ended("done", given.port, given.value)

    def _failed(self, failed: NodeFailed, began: float) -> Ended:
        """Its failure goes on at a port, stands for a value, or leads nowhere."""
        self._begin_anyway()
        ended = self._end("failed", began).model_copy(update={"error": failed.error})
        node = self.node
        if not isinstance(node, Working) or node.on_error == "fail":
            self.run.recorder.record(ended)
            return Ended("failed", None, failed=titled(node, failed.error))
        value: JsonValue = node.error_value
        port = ERROR if node.on_error == "route" else port_for(node, value)
        if node.on_error == "route":
            value = {"error": failed.error.text}
        self.run.recorder.record(ended.model_copy(update={"port": port, "output": value}))
        return Ended("failed", port, value)

    def _again(self, failed: NodeFailed) -> bool:
        return isinstance(self.node, Working) and failed.may_pass and self.attempt <= self.node.retries

    async def _wait(self, failed: NodeFailed, began: float) -> None:
        """Until the next try, which begins then."""
        seconds = RETRY_SECONDS * 2 ** (self.attempt - 1)
        retry_at = self.run.clock.now() + timedelta(seconds=seconds)
        ended = self._end("failed", began).model_copy(update={"error": failed.error, "retry_at": retry_at})
        self.run.recorder.record(ended)
        self.attempt, self._begun = self.attempt + 1, False
        await self.run.clock.sleep(seconds)

    def withdraw(self) -> None:
        """Nobody has to decide anything for it any more."""
        for pause in open_pauses(self.run.recorder.entries):
            if pause.call_id == self.inner:
                withdraw(self.run, pause)

    def _cancelled(self) -> None:
        if self._dropped:
            self.withdraw()
        self.run.recorder.record(self._end("cancelled", None))

    def _begin_anyway(self) -> None:
        """It began, though what it reads could not be found."""
        if not self._begun:
            self._begun = True
            self.run.recorder.record(
                NodeStarted(call_id=self.call_id, node=self.node.id, rounds=self.place.rounds, attempt=self.attempt)
            )

    def _end(self, status: NodeStatus, began: float | None) -> NodeEnded:
        return NodeEnded(
            call_id=self.call_id,
            node=self.node.id,
            rounds=self.place.rounds,
            attempt=self.attempt,
            status=status,
            ms=0.0 if began is None else (perf_counter() - began) * 1000,
        )

    async def _kept(self, content: bytes, what: str) -> FilePart:
        digest = await self.run.artifacts.put(content)
        name = f"{self.node.id}-{what}.json"
        return FilePart(artifact=digest, media_type="application/json", filename=name, size=len(content))


def _rounds_of(node: Node, inputs: Mapping[str, JsonValue]) -> int | None:
    match node:
        case MapNode():
            items = inputs["items"]
            return len(items) if isinstance(items, list) else 0
        case LoopNode(most=most):
            return most
        case _:
            return None
