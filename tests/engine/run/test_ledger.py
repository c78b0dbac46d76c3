"""What runs have cost together, while some of them end, and what counts against one that has come some way already."""

import asyncio
from pathlib import Path

import pytest

from app.domain.events import Forked
from app.domain.provenance import Parent
from app.domain.trace import run_row, totals
from app.engine.run.ledger import Ledger, Spending, Spent
from app.engine.run.stopwatch import SystemClock
from app.store.folder.folder import DataFolder
from tests.engine.conftest import SetClock
from tests.traces import BEGAN, called, returned, said, started, the_sum, trace_of


async def test_what_was_read_before_a_run_ended_does_not_replace_what_it_has_spent(tmp_path: Path):
    data = DataFolder.open(tmp_path)
    ledger = Ledger(data.rows, SystemClock())
    above = ledger.open("above", started())
    below = ledger.open("below", started(parent=Parent(run_id="above", call_id="c1"), depth=1))
    read_early = {"below": Spent(0.5, 30)}
    below.spending.follow(trace_of(returned(cost=0.5), returned(cost=0.5), run_id="below"))
    ledger.close(below)
    ledger.remember(above, read_early)
    assert ledger.run_cost(above) == pytest.approx(1.0)
    await data.close()


async def test_a_run_whose_end_is_on_its_way_to_the_disk_counts_once_among_the_money_of_the_day(tmp_path: Path):
    data = DataFolder.open(tmp_path)
    ledger = Ledger(data.rows, SetClock(BEGAN))
    entries = trace_of(started(), returned(cost=0.5), run_id="ends")
    await data.rows.save(run_row(entries[:1], alive=True))
    ends = ledger.open("ends", started())
    ends.spending.follow(entries)
    assert ledger.day_cost() == pytest.approx(0.5)
    saving = asyncio.create_task(data.rows.save(run_row(entries, alive=False)))
    await asyncio.sleep(0)
    ledger.open("begins", started())
    assert not saving.done() and ledger.day_cost() == pytest.approx(0.5)
    await saving
    ledger.close(ends)
    assert ledger.day_cost() == pytest.approx(0.5)
    await data.close()


async def test_a_trace_that_was_read_before_its_run_went_on_counts_nothing_of_it_twice(tmp_path: Path):
    data = DataFolder.open(tmp_path)
    ledger = Ledger(data.rows, SystemClock())
    read_early, goes_on = the_sum()[:3], ledger.open("above", started())
    goes_on.spending.follow(the_sum())
    before = goes_on.spending.steps, goes_on.spending.tokens, goes_on.cost
    assert ledger.recall("above", started(), read_early, {}) is goes_on
    goes_on.spending.follow(the_sum())
    assert (goes_on.spending.steps, goes_on.spending.tokens, goes_on.cost) == before
    await data.close()


def test_a_run_that_goes_on_has_used_up_what_it_did_before():
    spending = Spending()
    spending.follow(the_sum())
    sums = totals(the_sum())
    assert (spending.steps, spending.tokens, spending.cost) == (3, sums.usage.total_tokens, sums.cost)
    assert spending.largest_result == len("5 + 10 = 15")


def test_a_fork_has_used_up_nothing_of_its_copied_beginning():
    forked = Forked(run_id="r0", seq=0, prefix_digest="0" * 64)
    copied = [entry.event for entry in the_sum()[:-1]]
    entries = trace_of(*copied, forked, called("m9"), said("so"), returned("m9", tokens=7))
    spending = Spending()
    spending.follow(entries[:-3])
    assert (spending.steps, spending.tokens, spending.in_a_row, spending.largest_result) == (0, 0, 0, 0)
    spending.follow(entries)
    assert (spending.steps, spending.tokens) == (1, 21)
