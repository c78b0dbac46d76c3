"""Daily figures that are stored in a form nobody wrote: they are made again from the rows, and hide no others."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from app.domain.usage.query import UsageQuery
from app.store.journal.database import JournalDB
from app.workbench import Workbench
from tests.seeds import seed_rows

RUNS, DAMAGED = 30, 3


async def sums(folder: Path) -> tuple[int, int]:
    workbench = Workbench.open(folder)
    try:
        await workbench.usage.ready()
        totals = await workbench.usage.totals(UsageQuery(days=90))
        return totals.runs, totals.cost
    finally:
        await workbench.close()


async def damaged(folder: Path, damage: dict[str, JsonValue]) -> None:
    """Each of the first days has a run."""
    database = JournalDB(folder / "app.tdb")
    usage = database.table("usage")
    usage.update(damage, doc_ids=[document.doc_id for document in usage][:DAMAGED])
    await database.journal.durable()
    database.close()


@pytest.mark.parametrize(
    "damage",
    [
        {"day": "never"},
        {"day": None, "cells": None},
        {"cells": [[1, 2], "cell", None]},
        {"runs": "x", "mark": []},
        {"begins": "now"},
    ],
)
async def test_figures_that_are_damaged_are_made_again(tmp_path: Path, damage: dict[str, JsonValue]) -> None:
    await seed_rows(tmp_path, RUNS, days=40)
    right = await sums(tmp_path)
    assert right[0] == RUNS
    await damaged(tmp_path, damage)
    assert await sums(tmp_path) == right


@pytest.mark.parametrize("figures", ["none", {"runs": "many"}, {"times": {"x": 1}}, {"times": {"1": "y"}}, {"odd": 1}])
async def test_figures_that_nobody_can_read_hide_no_others(tmp_path: Path, figures: JsonValue) -> None:
    await seed_rows(tmp_path, RUNS, days=40)
    assert (await sums(tmp_path))[0] == RUNS
    await damaged(tmp_path, {"cells": [["a", 1, "m", "p", "chat", False, "", figures]]})
    assert (await sums(tmp_path))[0] == RUNS - DAMAGED
