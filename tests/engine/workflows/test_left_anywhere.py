"""A run that is left at any entry goes on to the same end, and one of any shape comes to its end."""

import asyncio
from collections import Counter
from contextlib import suppress
from random import Random

import pytest

from app.domain.errors import Conflict
from app.domain.events import NodeEnded, PauseRequested
from app.domain.trace import open_pauses
from app.domain.workflows.document import NoteNode
from app.engine.run.run import Run
from tests.engine.workflows.flows import of_each_kind, random_flow
from tests.engine.workflows.workshop import Workshop, answer, end, ended_nodes
from tests.waiting import until


async def deciding(shop: Workshop, run_id: str) -> None:
    """Says yes to all that is asked, until the run has ended."""
    while (live := shop.runs.live(run_id)) is not None:
        for pause in open_pauses(live.entries):
            if live.control.expects(pause.pause_id):
                decision = "approve" if pause.reason == "approval" else "answer"
                with suppress(Conflict):
                    await shop.pauses.decide(run_id, pause.pause_id, decision)
        await asyncio.sleep(0.001)


async def to_its_end(shop: Workshop, live: Run) -> Run:
    await asyncio.wait_for(deciding(shop, live.run_id), 30)
    await live.ended()
    return live


def twice(live: Run) -> list[str]:
    return [call_id for call_id, times in Counter(ended_nodes(live)).items() if times > 1]


async def test_a_run_that_is_left_at_any_entry_goes_on_to_the_same_end(shop):
    await shop.agent("Writer")
    whole = await to_its_end(shop, await shop.begun(of_each_kind(), "bees"))
    assert (end(whole).status, len(shop.hands.did)) == ("completed", 6)
    length, tried = len(whole.entries), 0
    for place in range(2, length, 2):
        shop.hands.did.clear()
        live = await shop.begun(of_each_kind(), "bees")
        helper = asyncio.create_task(deciding(shop, live.run_id))
        await until(lambda live=live, place=place: len(live.entries) >= place, pause=0)
        shop = await shop.restarted()
        await helper
        if end_is_there(live):
            continue
        tried += 1
        gone_on = await to_its_end(shop, await shop.chat.resume(live.run_id))
        assert answer(gone_on) == answer(whole), place
        assert twice(gone_on) == [], place
        asked = {entry.event.call_id for entry in gone_on.entries if isinstance(entry.event, PauseRequested)}
        again = [text for text, times in Counter(shop.hands.did).items() if times > 1]
        assert len(again) <= len(asked - {"ask"}), place
    assert tried > length / 4
    await shop.closed()


def end_is_there(live: Run) -> bool:
    return live.entries[-1].event.type == "run_finished"


@pytest.mark.parametrize("seed", range(0, 60))
async def test_a_workflow_of_any_shape_comes_to_its_end(shop, seed):
    made = random_flow(Random(seed))
    live = await to_its_end(shop, await shop.begun(made, "hi"))
    assert end(live).error is None or end(live).error.failure == "node"
    assert twice(live) == []
    nodes = {node.id for node in made.nodes if not node.scope and not isinstance(node, NoteNode)}
    assert nodes <= {entry.event.node for entry in live.entries if isinstance(entry.event, NodeEnded)}


@pytest.mark.parametrize("seed", range(100, 130))
async def test_a_workflow_of_any_shape_that_is_left_comes_to_its_end(shop, seed):
    random = Random(seed)
    live = await shop.begun(random_flow(random, most=10), "hi")
    helper = asyncio.create_task(deciding(shop, live.run_id))
    place = random.randint(2, 30)
    await until(lambda: len(live.entries) >= place or end_is_there(live), pause=0)
    shop = await shop.restarted()
    await helper
    if not end_is_there(live):
        live = await to_its_end(shop, await shop.chat.resume(live.run_id))
    assert end(live).error is None or end(live).error.failure == "node"
    assert twice(live) == []
    await shop.closed()
