"""The nodes of a run beside the chat."""

import asyncio

import pytest
from nicegui import Client, core
from nicegui.page import page

from app.ui.graph.run_graph import RunGraph
from app.ui.graph.run_states import PIECE
from tests.traces import SUMMING, node_ended, node_started, started, trace_of


async def test_the_run_that_was_asked_for_last_is_shown_whole(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
    rounds = [change(f"each[{place}].double") for place in range(PIECE) for change in (node_started, node_ended)]
    entries = trace_of(started(workflow=SUMMING), node_started("each", of=PIECE), *rounds)
    with Client(page("")) as client:
        graph = RunGraph(SUMMING)
        first, last = [asyncio.create_task(graph.follow(run_id, entries)) for run_id in ("first", "last")]
        await asyncio.gather(first, last)
        assert (graph._states.run_id, graph._states.taken) == ("last", len(entries))
    client.delete()
