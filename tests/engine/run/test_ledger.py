"""What runs have cost together, while some of them end."""

from pathlib import Path

import pytest

from app.domain.provenance import Parent
from app.engine.run.clock import SystemClock
from app.engine.run.ledger import Ledger, Spent
from app.store.folder.folder import DataFolder
from tests.traces import returned, started, trace_of


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
