"""What the chosen node gave, in the round that its box names."""

import asyncio
import re
from types import SimpleNamespace

import pytest
from nicegui import Client, core
from nicegui.page import page

from app.domain.trace import NodeRuns, nodes
from app.ui.build.run_values import MOST_ROUNDS, RunValues
from tests.traces import SUMMING, node_ended, node_started, started, trace_of

DOUBLE = SUMMING.by_id()["double"]


def runs(items: int) -> NodeRuns:
    told = [
        event
        for place in range(items)
        for event in (node_started(f"each[{place}].double"), node_ended(f"each[{place}].double", f"value {place + 1}"))
    ]
    return nodes(trace_of(started(workflow=SUMMING), node_started("each", of=items), *told))


def named(values: RunValues) -> list[str]:
    """The round that the box names."""
    return re.findall(r"<option[^>]* selected[^>]*>([^<]*)", values._box.content)


def gave(values: RunValues) -> list[str]:
    return re.findall(r"value \d+", values._shown.content)


async def test_the_round_that_was_chosen_stays_named_and_shown_however_many_come(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
    with Client(page("")) as client:
        values = RunValues()
        values.show(DOUBLE, runs(50))
        assert (named(values), gave(values)) == (["item 50"], ["value 50"])
        values._picked(SimpleNamespace(args="item 11"))
        for items in (50, 51, MOST_ROUNDS + 60):
            values.show(DOUBLE, runs(items))
            assert (named(values), gave(values)) == (["item 11"], ["value 11"])
        values.show(None)
        values.show(DOUBLE)
        assert (named(values), gave(values)) == ([f"item {MOST_ROUNDS + 60}"], [f"value {MOST_ROUNDS + 60}"])
    client.delete()
