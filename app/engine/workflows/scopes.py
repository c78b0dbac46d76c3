"""Maps and loops: their bodies, round after round or beside each other."""

import asyncio
from collections import ChainMap
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.reading.expressions import Expressions
from app.domain.workflows.bindings import holds, value_of
from app.domain.workflows.document import CARRY, INDEX, ITEM, ROUND, LoopNode, MapNode
from app.domain.workflows.schedule import Round
from app.engine.workflows.given import Given, NodeFailed

if TYPE_CHECKING:
    from app.engine.workflows.trying import Trying


async def each(trying: "Trying", node: MapNode, inputs: Mapping[str, JsonValue]) -> Given:
    """What each item came to, in their order. Raises `NodeFailed` where one failed and may not be left out."""
    items = inputs["items"]
    found: dict[int, JsonValue] = {}
    waiting = iter(enumerate(items if isinstance(items, list) else []))
    count = min(node.at_once, len(items) if isinstance(items, list) else 0)
    workers = [asyncio.create_task(_work(trying, node, waiting, found)) for _ in range(count)]
    if workers:
        await _first_failure(workers)
    return Given([found[index] for index in sorted(found)])


async def _first_failure(workers: list[asyncio.Task[None]]) -> None:
    """Returns when all have ended; raises what one of them did, and cancels the others."""
    try:
        await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.wait(workers)
    failures = [failure for worker in workers if not worker.cancelled() and (failure := worker.exception())]
    if failures:
        raise failures[0]


async def _work(
    trying: "Trying", node: MapNode, waiting: Iterator[tuple[int, JsonValue]], found: dict[int, JsonValue]
) -> None:
    for index, item in waiting:
        try:
            found[index] = await _one(trying, node, index, item)
        except NodeFailed:
            if node.each_error == "fail":
                raise
            if node.each_error == "null":
                found[index] = None


async def _one(trying: "Trying", node: MapNode, index: int, item: JsonValue) -> JsonValue:
    number = Round(trying.place, index)
    failed = await trying.walk.through(number, {ITEM: item, INDEX: index})
    names = trying.walk.names_in(number)
    trying.walk.forget(number)
    if failed is not None:
        raise NodeFailed(f"Item {index + 1}: {failed}", failure=failed.error.failure)
    return await trying.evaluated(partial(value_of, node.gives, names, trying.computing))


async def repeat(trying: "Trying", node: LoopNode, inputs: Mapping[str, JsonValue]) -> Given:
    """What was carried last. Raises `NodeFailed` where a round failed."""
    first, most = inputs[CARRY], node.most or 1
    carry: dict[str, JsonValue] = first if isinstance(first, dict) else {}
    done = False
    rounds = 0
    while not done and rounds < most:
        carry, done = await _round(trying, node, rounds, carry)
        rounds += 1
    return Given({**carry, "rounds": rounds, "reached_most": not done})


async def _round(
    trying: "Trying", node: LoopNode, count: int, carry: dict[str, JsonValue]
) -> tuple[dict[str, JsonValue], bool]:
    """What is carried on from the round, and whether it was the last."""
    number = Round(trying.place, count)
    failed = await trying.walk.through(number, {CARRY: carry, ROUND: count})
    names = trying.walk.names_in(number)
    trying.walk.forget(number)
    if failed is not None:
        raise NodeFailed(f"Round {count + 1}: {failed}", failure=failed.error.failure)
    return await trying.evaluated(partial(_carried_on, node, names, trying.computing))


def _carried_on(
    node: LoopNode, names: ChainMap[str, JsonValue], expressions: Expressions
) -> tuple[dict[str, JsonValue], bool]:
    carry = {name: value_of(one.next, names, expressions) for name, one in node.carry.items()}
    return carry, holds(node.until, names.new_child({CARRY: carry}), expressions)
