"""W1: workflows at random are run, a third of them left at any entry and gone on with: stuck, broken, ended twice."""

import asyncio
import tempfile
from collections.abc import Iterable
from pathlib import Path
from random import Random

from app.domain.events import NodeEnded
from app.domain.workflows.document import NoteNode, Workflow
from app.engine.run.run import Run
from tests.engine.households import Family
from tests.engine.workflows.flows import random_flow
from tests.engine.workflows.test_left_anywhere import deciding, end_is_there, to_its_end, twice
from tests.engine.workflows.workshop import Hands, Workshop, end
from tests.figures import Figure
from tests.waiting import until

WORKFLOWS = 2_000
NODES = 12
TOGETHER = 100
"""In one data folder: each that is left is gone on with by a process that reads all of it."""


async def run(workflows: int = WORKFLOWS) -> list[Figure]:
    wrong: list[str] = []
    left = 0
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, workflows, TOGETHER):
            shop = Workshop.opened(Path(folder) / f"from {first}", Family(), Hands())
            of_these, left_of_these = await _tried(shop, range(first, min(first + TOGETHER, workflows)))
            wrong, left = wrong + of_these, left + left_of_these
    told = f"{len(wrong)} of {workflows:,}, {left} of them left in the middle"
    return [Figure("W1 runs that are stuck, broken or end a node twice", "; ".join([told, *wrong[:3]]), "0", not wrong)]


async def _tried(shop: Workshop, seeds: Iterable[int]) -> tuple[list[str], int]:
    """What is wrong, and how many were left."""
    wrong: list[str] = []
    left = 0
    for seed in seeds:
        made = random_flow(Random(seed), most=NODES)
        live = await shop.begun(made, "hi")
        try:
            if seed % 3 == 0:
                shop, live, was_left = await _left(shop, live, Random(seed).randint(2, 60))
                left += was_left
            else:
                await to_its_end(shop, live)
            wrong += [f"workflow {seed}: {words}" for words in _wrong(made, live)]
        except TimeoutError:
            wrong.append(f"workflow {seed}: stuck")
            shop = await shop.restarted()
    await shop.closed()
    return wrong, left


async def _left(shop: Workshop, live: Run, place: int) -> tuple[Workshop, Run, bool]:
    """The run at its end, which was left when its trace was so long."""
    helper = asyncio.create_task(deciding(shop, live.run_id))
    await until(lambda: len(live.entries) >= place or end_is_there(live), seconds=20, pause=0)
    shop = await shop.restarted()
    await helper
    if end_is_there(live):
        return shop, live, False
    return shop, await to_its_end(shop, await shop.chat.resume(live.run_id)), True


def _wrong(made: Workflow, live: Run) -> list[str]:
    error = end(live).error
    nodes = {node.id for node in made.nodes if not node.scope and not isinstance(node, NoteNode)}
    open_nodes = nodes - {entry.event.node for entry in live.entries if isinstance(entry.event, NodeEnded)}
    broken = [error.text[:200]] if error is not None and error.failure != "node" else []
    return [*broken, *(f"{call_id} ended twice" for call_id in twice(live)), *(f"{id_} is open" for id_ in open_nodes)]
