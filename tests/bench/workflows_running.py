"""W2: what a node takes above its own work, a map of many items, how soon the successor of a fast node begins."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from app.domain.events import Entry, NodeEnded, NodeStarted
from app.domain.workflows.document import FixedValue, FoundValue, MapNode, ToolNode, TransformNode, Workflow
from app.engine.run.run import Run
from tests.domain.workflows.worlds import chain, workflow
from tests.engine.households import Family
from tests.engine.workflows.test_scopes import within
from tests.engine.workflows.workshop import Hands, Workshop, end, ended
from tests.figures import Figure
from tests.waiting import until

NODES, ITEMS = 200, 1_000
MOST_NODE_MS, MOST_MAP_SECONDS, MOST_SUCCESSOR_MS = 5.0, 3.0, 50.0
FORMULA = "LEN([input.text]) * 2"


async def run(nodes: int = NODES, items: int = ITEMS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop.opened(Path(folder) / "data", Family(), Hands())
        await shop.ran(chain(_pure("a")))  # what is imported once
        node_ms, map_seconds = await _a_node(shop, nodes), await _a_map(shop, items)
        successor_ms = await _successor(shop)
        await shop.closed()
    return [
        _bar(f"W2 a pure node of {nodes} in a row, above its formula", node_ms, "ms", MOST_NODE_MS),
        _bar(f"W2 a map of {items} pure items", map_seconds, "s", MOST_MAP_SECONDS),
        _bar("W2 the successor of a fast node beside a slow one", successor_ms, "ms", MOST_SUCCESSOR_MS),
    ]


def _bar(name: str, took: float, unit: str, most: float) -> Figure:
    return Figure(name, f"{took:.2f} {unit}", f"<= {most:g} {unit}", took <= most)


async def _a_node(shop: Workshop, nodes: int) -> float:
    """Milliseconds above the evaluation itself."""
    flow = chain(*(_pure(f"n{number}") for number in range(nodes)))
    live, seconds = await _timed(shop, flow)
    began = time.perf_counter()
    computing = shop.runs.starting.computing
    if computing is None or end(live).status != "completed":
        raise RuntimeError(f"The workflow ended as {end(live)}.")
    for _ in range(nodes):
        computing.calculate(FORMULA, {"input.text": "hi"})
    return max(0.0, seconds - (time.perf_counter() - began)) * 1000 / nodes


async def _a_map(shop: Workshop, items: int) -> float:
    numbers = FixedValue(value=[*range(items)])
    each = MapNode(id="each", items=numbers, gives=FoundValue(path="twice"), most=items)
    body = TransformNode(id="twice", scope="each", language="formula", code="[item] * 2")
    live, seconds = await _timed(shop, within(chain(each), body), nodes=items + 10)
    if end(live).status != "completed":
        raise RuntimeError(f"The map ended as {end(live)}.")
    return seconds


async def _successor(shop: Workshop) -> float:
    """Milliseconds from the end of the fast node to the beginning of what waits for it only."""
    hold = ToolNode(id="slow", tool="hold", arguments={"text": FixedValue(value="x")})
    wires = ("input > slow", "input > fast", "fast > after", "slow > output", "after > output")
    live = await shop.begun(workflow(hold, _pure("fast"), _pure("after"), wires=wires))
    await until(lambda: _time_of(live.entries, NodeStarted, "after"))
    shop.hands.gate.set()
    await ended(live)
    return (_time_of(live.entries, NodeStarted, "after") - _time_of(live.entries, NodeEnded, "fast")) * 1000


def _time_of(entries: Sequence[Entry], kind: type[NodeStarted | NodeEnded], node: str) -> float:
    found = (entry for entry in entries if isinstance(entry.event, kind) and entry.event.node == node)
    return next((entry.at.timestamp() for entry in found), 0.0)


async def _timed(shop: Workshop, flow: Workflow, **limits: float) -> tuple[Run, float]:
    live = await shop.begun(flow, **limits)
    await asyncio.wait_for(live.ended(), 120)
    return live, (live.entries[-1].at - live.entries[1].at).total_seconds()


def _pure(id_: str) -> TransformNode:
    return TransformNode(id=id_, language="formula", code=FORMULA)
